"""What faithscope raises: one clear sentence about what was wrong, what was seen and what to do."""


class FaithscopeError(ValueError):
    """Base of every error faithscope raises on purpose."""


class BadInput(FaithscopeError):
    """A value the caller handed over cannot be used as it is."""


class WrongType(BadInput, TypeError):
    """A value the caller handed over is of a type that cannot be used."""


class MissingExtra(FaithscopeError, ImportError):
    """An optional library is needed that is not installed."""


class Incompatible(FaithscopeError):
    """Two things that do not belong together were combined."""


class NotScoped(FaithscopeError):
    """Sufficiency was asked of explanations that do not say where they apply."""


class NotProven(FaithscopeError):
    """A guarantee was asked for that is not proven for this relation or weighting."""
