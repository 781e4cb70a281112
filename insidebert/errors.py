"""What a command says when a person can put it right."""


class CommandError(Exception):
    """Printed as one sentence by `insidebert`, exit status 2, no traceback."""
