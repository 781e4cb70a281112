"""Is somebody there? A notebook runs in a browser, or in a pipeline that nobody watches."""

from __future__ import annotations

import sys


def interactive() -> bool:
    """Whether a front end is attached whose user can answer.

    JupyterLab, Notebook and VS Code say with each execution that they can be asked for input; nbclient, and
    with it nbconvert, nbgrader and papermill, say that they cannot. Outside a notebook kernel it is False.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return bool(getattr(getattr(shell, "kernel", None), "_allow_stdin", False))
