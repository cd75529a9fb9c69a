"""Choices by word, such as method="gradient"."""

from collections.abc import Sequence

from faithscope.errors import BadInput


def check_choice(choice: object, what: str, choices: Sequence[str | None]) -> None:
    """Raise if the choice is not among the choices.

    Examples
    --------
    >>> check_choice("deep", "method", ("random", "genetic"))
    Traceback (most recent call last):
        ...
    faithscope.errors.BadInput: method must be one of 'random', 'genetic'; got 'deep'.
    """
    if choice not in choices:
        raise BadInput(f"{what} must be one of {', '.join(map(repr, choices))}; got {choice!r}.")
