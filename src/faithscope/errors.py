"""The errors that faithscope raises: each says in one line what was wrong, what was seen and what to do."""

import re

from faithscope.visible import visible

_LONGEST = 400  # characters of a message, since what it quotes may have any length
_LAST = 150  # characters kept of its end, which says what to do
_BREAKS = re.compile(r"\s*[\r\n]\s*")  # a message of another library may have several lines


class FaithscopeError(ValueError):
    """Base of every error that faithscope raises on purpose: a ValueError whose message is one line.

    Examples
    --------
    >>> import faithscope as fs
    >>> try:
    ...     fs.consistency(["leaf 3", "leaf 7"], [0])
    ... except fs.errors.FaithscopeError as error:
    ...     print(error)
    Explanations have 2 rows but predictions have 1: pass one of each per row.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(_one_line(message))


def _one_line(message: str) -> str:
    return _cut(visible(_BREAKS.sub(" ", _cut(message)).strip()))  # cut first: quotes may be huge


def _cut(message: str) -> str:
    if len(message) <= _LONGEST:
        return message
    return f"{message[: _LONGEST - _LAST - 3]} … {message[-_LAST:]}"


class BadInput(FaithscopeError):
    """An argument has a value that cannot be used."""


class WrongType(BadInput, TypeError):
    """An argument has a type that cannot be used."""


class UnknownName(BadInput, KeyError):
    """No such name: of an explainer, a column, a data set."""

    __str__ = Exception.__str__  # a KeyError would show its message in quotes


class MissingExtra(FaithscopeError, ImportError):
    """An optional library is needed and not installed; the message names the extra to install."""


class Incompatible(FaithscopeError):
    """Two objects that cannot be combined, such as explanations of different kinds."""


class NotScoped(FaithscopeError):
    """Sufficiency was asked of explanations that do not say where they apply."""


class NotProven(FaithscopeError):
    """The guarantee asked for is not proven for this relation or weighting."""


class TooLarge(FaithscopeError, MemoryError):
    """The computation needs more memory than is left."""
