"""What faithscope raises: one clear sentence about what was wrong, what was seen and what to do."""

_LONGEST = 400  # characters of a message; what it quotes may be of any length
_LAST = 150  # of these from its end, which says what to do


class FaithscopeError(ValueError):
    """Base of every error faithscope raises on purpose: one line, whatever it quotes."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_one_line(message))


def _one_line(message: str) -> str:
    if len(message) > _LONGEST:
        message = f"{message[: _LONGEST - _LAST - 3]} … {message[-_LAST:]}"
    return message if len(message.splitlines()) <= 1 else " ".join(message.split())


class BadInput(FaithscopeError):
    """A value the caller handed over cannot be used as it is."""


class WrongType(BadInput, TypeError):
    """A value the caller handed over is of a type that cannot be used."""


class UnknownName(BadInput, KeyError):
    """A name was asked for that nothing here has."""

    __str__ = Exception.__str__  # a KeyError would show its message in quotes


class MissingExtra(FaithscopeError, ImportError):
    """An optional library is needed that is not installed."""


class Incompatible(FaithscopeError):
    """Two things that do not belong together were combined."""


class NotScoped(FaithscopeError):
    """Sufficiency was asked of explanations that do not say where they apply."""


class NotProven(FaithscopeError):
    """A guarantee was asked for that is not proven for this relation or weighting."""


class TooLarge(FaithscopeError, MemoryError):
    """What was asked for needs more memory than there is."""
