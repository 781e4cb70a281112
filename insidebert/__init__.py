"""Inside BERT: what the lessons import.

Importing the package costs nothing: `torch` and `transformers` are imported by the modules that need them.
"""

__version__ = "0.1.0"
