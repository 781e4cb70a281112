"""Sphinx' configuration of the book: the lessons as notebooks that `build.py` has executed, read by MyST-NB.

Jupyter Book 2 fetches its theme from the network when it builds. Sphinx with the same MyST syntax and the book theme
comes whole from PyPI, so that the book can be built offline.
"""

project = "Inside BERT"
copyright = "The Inside BERT authors"
extensions = ["myst_nb"]
html_theme = "sphinx_book_theme"
html_title = "Inside BERT"
html_show_sourcelink = False
html_theme_options = {"home_page_in_toc": True, "navbar_persistent": []}  # one search field is enough
html_static_path = ["static"]
html_css_files = ["book.css"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"
