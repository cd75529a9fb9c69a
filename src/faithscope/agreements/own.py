"""A caller's own agreement: a function of two arrays of predictions."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements.base import Agreement, AgreementSums, GroupedRows
from faithscope.errors import BadInput
from faithscope.runtime.memory import need

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

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
        self._refuse_asymmetric()

    def at(self, rows: GroupedRows, group: Ints, value: Ints, power: int = 1) -> Floats:
        order = np.argsort(group, kind="stable")
        groups, starts = np.unique(group[order], return_index=True)
        total = np.zeros(len(group))
        if not len(group):
            return total
        for number, asked in zip(groups, np.split(order, starts[1:]), strict=True):
            first, last = np.searchsorted(rows.group, [number, number + 1])
            step = max(1, _PAIRS // max(1, last - first))
            for begin in range(0, len(asked), step):
                chosen = asked[begin : begin + step]
                need(48 * len(chosen) * (last - first), f"{self.function!r} of pairs of rows", "sample rows")
                agreement = self._between(self.values[value[chosen], None], self.values[None, rows.value[first:last]])
                total[chosen] = agreement**power @ rows.weight[first:last]
        return total

    def _refuse_asymmetric(self) -> None:
        places = np.unique(np.linspace(0, max(0, len(self.values) - 1), _LOOKED_AT).astype(np.int64))
        few = self.values[places[: len(self.values)]]
        there, back = self._between(few[:, None], few[None, :]), self._between(few[None, :], few[:, None])
        odd = np.argwhere(np.abs(there - back) > _ROUNDED)
        if len(odd):
            i, j = odd[0]
            raise BadInput(
                f"agreement={self.function!r} must be symmetric; got {there[i, j]:g} for ({few[i]:g}, {few[j]:g}) and "
                f"{back[i, j]:g} for ({few[j]:g}, {few[i]:g})."
            )

    def _between(self, a: NDArray[Any], b: NDArray[Any]) -> Floats:
        a, b = (side.copy() for side in np.broadcast_arrays(a, b))
        answer = self._numbers(self._asked(a, b))
        if answer.shape != a.shape or not np.all((answer >= 0) & (answer <= 1)):
            seen = f", from {answer.min():g} to {answer.max():g}" if answer.size else ""
            raise BadInput(
                f"agreement={self.function!r} must give one number from 0 to 1 per pair of predictions; got shape "
                f"{answer.shape} for {a.shape}{seen}."
            )
        return answer

    def _asked(self, a: NDArray[Any], b: NDArray[Any]) -> Any:
        try:
            return self.function(a, b)
        except Exception as error:
            with suppress(Exception):  # an error may refuse to be changed
                error.add_note(f"Raised by agreement={self.function!r}, called with two arrays of shape {a.shape}.")
            raise

    def _numbers(self, answer: Any) -> Floats:
        try:
            array = np.asarray(answer)
            if array.dtype.kind in "biufO":
                return array.astype(np.float64)
        except (TypeError, ValueError):  # ragged, or objects that are no numbers
            pass
        raise BadInput(
            f"agreement={self.function!r} must give one number from 0 to 1 per pair of predictions; got "
            f"{type(answer).__name__} ({answer!r}), which are no real numbers."
        )
