"""What a caller gives as `agreement=`: an object, a function of two arrays, None, or on the command line a word."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from faithscope.agreements.base import Agreement, AgreementSums, GroupedRows, Same
from faithscope.agreements.numbers import Close, Spread, Tolerance
from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.checks import check_function
from faithscope.inputs.models import noting

_PAIRS = 2**20  # compared at once
_LOOKED_AT = 8  # values whose pairs are compared both ways round
_ROUNDED = 1e-9  # by which the two ways round may differ


@dataclass(frozen=True)
class OwnAgreement(Agreement):
    """A caller's own agreement: a function of two arrays of predictions that gives numbers from 0 to 1.

    It is called on pairs of values, so it takes time in proportion to the square of the different predictions that
    share an explanation. It must be symmetric, and 1 for equal predictions.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> round(fs.consistency(["a", "a"], [1.0, 4.0], agreement=lambda a, b: np.exp(-abs(a - b) / 3)).value, 2)
    0.37
    """

    function: Callable[..., Any]
    convex: ClassVar[bool] = False

    def over(self, values: Floats) -> AgreementSums:
        return _FunctionSums(self.function, values)


class _FunctionSums(AgreementSums):
    def __init__(self, function: Callable[..., Any], values: Floats) -> None:
        self.function, self.values = function, values
        itself = self._between(values, values)
        if not (itself == 1).all():
            odd = int((itself != 1).argmax())
            raise BadInput(
                f"agreement={function!r} must be 1 for equal predictions; got {itself[odd]:g} for {values[odd]:g}."
            )
        few = values[np.linspace(0, len(values) - 1, _LOOKED_AT).astype(np.int64)] if len(values) else values
        there, back = self._between(few[:, None], few), self._between(few, few[:, None])
        for i, j in np.argwhere(np.abs(there - back) > _ROUNDED):
            raise BadInput(
                f"agreement={function!r} must be symmetric; got {there[i, j]:g} for ({few[i]:g}, {few[j]:g}) and "
                f"{back[i, j]:g} for ({few[j]:g}, {few[i]:g})."
            )

    def at(self, rows: GroupedRows, group: Ints, value: Ints, power: int = 1) -> Floats:
        order = np.argsort(group, kind="stable")
        groups, starts = np.unique(group[order], return_index=True)
        total = np.zeros(len(group))
        for number, asked in zip(groups, np.split(order, starts[1:]), strict=False):
            first, last = np.searchsorted(rows.group, [number, number + 1])
            step = max(1, _PAIRS // max(1, last - first))
            for chosen in np.split(asked, range(step, len(asked), step)):
                agreement = self._between(self.values[value[chosen], None], self.values[None, rows.value[first:last]])
                total[chosen] = agreement**power @ rows.weight[first:last]
        return total

    def _between(self, a: Array, b: Array) -> Floats:
        a, b = (side.copy() for side in np.broadcast_arrays(a, b))
        with noting(f"Raised by agreement={self.function!r}, called with two arrays of shape {a.shape}."):
            answer = self.function(a, b)
        wanted = f"agreement={self.function!r} must give one number from 0 to 1 per pair of predictions; got"
        numbers = None
        with suppress(TypeError, ValueError):  # ragged, or objects that are no numbers
            array = np.asarray(answer)
            numbers = array.astype(np.float64) if array.dtype.kind in "biufO" else None
        if numbers is None:
            raise BadInput(f"{wanted} {type(answer).__name__} ({answer!r}), which are no real numbers.")
        if numbers.shape != a.shape or not np.all((numbers >= 0) & (numbers <= 1)):
            seen = f", from {numbers.min():g} to {numbers.max():g}" if numbers.size else ""
            raise BadInput(f"{wanted} shape {numbers.shape} for {a.shape}{seen}.")
        return numbers


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
    hint = f"{given.__name__}(...)" if isinstance(given, type) else repr(given)
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
