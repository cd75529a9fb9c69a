"""What a caller gives as `agreement=`: an object, a function, None, or on the command line a word."""

from typing import Any

from faithscope.agreements.base import Agreement, Same
from faithscope.agreements.numbers import Close, Tolerance
from faithscope.agreements.own import OwnAgreement
from faithscope.agreements.spread import Spread
from faithscope.errors import BadInput, WrongType
from faithscope.inputs.checks import check_function


def to_agreement(given: Any) -> Agreement:
    """An agreement from an object, a function of two arrays, or None for equality."""
    if given is None:
        return Same()
    if isinstance(given, Agreement):
        return given
    if callable(given) and not isinstance(given, type):
        return OwnAgreement(check_function(given, "agreement", "a", "b"))
    if isinstance(given, str):
        return from_word(given)
    hint = f"{given.__name__}(...)" if isinstance(given, type) and issubclass(given, Agreement) else repr(given)
    raise WrongType(
        f"agreement={hint} cannot be applied: pass fs.Spread(), fs.Close(eps), fs.Tolerance(eps), or a function of two "
        "arrays."
    )


def from_word(word: str) -> Agreement:
    """The agreement that a word names: ``same``, ``spread``, ``close:0.5``, ``tolerance:0.5``.

    Examples
    --------
    >>> from_word("close:0.5")
    Close(eps=0.5)
    """
    name, _, number = word.strip().lower().partition(":")
    if name in ("same", "spread") and not number:
        return Same() if name == "same" else Spread()
    kinds = {"close": Close, "tolerance": Tolerance}
    if name not in kinds:
        raise BadInput(f"No agreement is called {word!r}. Known: same, spread, close:0.5, tolerance:0.5.")
    try:
        eps = float(number)
    except ValueError:
        raise BadInput(f"{name} needs a number, as in {name}:0.5; got {word!r}.") from None
    return kinds[name](eps)
