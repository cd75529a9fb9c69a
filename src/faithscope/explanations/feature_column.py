"""One column of rows, and on which of them a condition holds."""

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, reduce
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import WrongType
from faithscope.explanations.conditions import Condition
from faithscope.explanations.inputs import is_missing

Mask = NDArray[np.bool_]

_NUMBERS = (float, np.floating, int, np.integer, np.bool_, Decimal)


@dataclass(frozen=True, eq=False)
class FeatureColumn:
    """One column of rows, converted once for all the conditions on it.

    Parameters
    ----------
    name : str
    values : (n,) array
        As `to_vector` makes it: numbers, booleans, dates, or Python objects.
    """

    name: str
    values: NDArray[Any]

    def holds(self, one: Condition) -> Mask:
        """Whether the condition holds on each row."""
        family = one.family
        if family is None:
            mask = np.zeros(len(self.values), bool) if one.among == () else ~self.missing
        else:
            self._refuse_strays(one, family)
            mask = self._holds_text(one) if family == "text" else self._holds_number(one)
        return mask | self.missing if one.missing else mask

    def _holds_text(self, one: Condition) -> Mask:
        places, codes = self.words
        known = [places[value] for value in one.among or one.without if value in places]
        table = np.full(len(places) + 1, one.among is None)
        table[known] = one.among is not None
        table[-1] = False  # a missing value has code -1
        return table[codes]

    def _holds_number(self, one: Condition) -> Mask:
        if one.among is not None:
            return reduce(np.logical_or, (self._compare(np.equal, value) for value in one.among))
        tests = [self._compare(np.not_equal, value) for value in one.without]
        if one.low > -inf or one.low_open:
            tests.append(self._compare(np.greater if one.low_open else np.greater_equal, one.low))
        if one.high < inf or one.high_open:
            tests.append(self._compare(np.less if one.high_open else np.less_equal, one.high))
        mask: Mask = reduce(np.logical_and, tests)
        return mask if one.bounded else mask & ~self.missing  # NaN is within no bounds, but differs from everything

    def _compare(self, compare: np.ufunc, value: Any) -> Mask:
        """Compare exactly: whole numbers with integers as integers, integers beyond 2**53 with floats in Python."""
        kind = self.numbers.dtype.kind
        if kind in "iu" and -inf < value < inf and value == int(value):
            value = int(value)
        numbers = self.numbers.astype(object) if kind == "f" and isinstance(value, int) else self.numbers
        with np.errstate(invalid="ignore"):  # NaN as a Python object
            mask: Mask = compare(numbers, value)
        return mask

    @cached_property
    def missing(self) -> Mask:
        """Where the value is missing."""
        if self.values.dtype.kind == "O":
            return np.fromiter(map(is_missing, self.values), bool, len(self.values))
        return np.zeros(len(self.values), bool) if self.values.dtype.kind in "biu" else self.values != self.values

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """The values as numbers, NaN where missing: floats or integers, Python's own where neither is exact."""
        if self.values.dtype.kind in "biuf":
            return self.values.astype(
                np.result_type(self.values, np.uint8 if self.values.dtype.kind in "biu" else float)
            )
        exact = np.where(self.missing, np.nan, self.values.astype(object))
        try:
            floats = exact.astype(np.float64)
        except OverflowError:  # an integer that no float can hold
            return exact
        return floats if ((floats == exact) | self.missing).all() else exact

    @cached_property
    def words(self) -> tuple[dict[str, int], NDArray[np.int64]]:
        """The number of each word, and that of each row; -1 where it is missing."""
        places: dict[str, int] = {}
        codes = np.full(len(self.values), -1)
        present = np.flatnonzero(~self.missing)
        codes[present] = [places.setdefault(word, len(places)) for word in self.values[present]]
        return places, codes

    def _refuse_strays(self, one: Condition, family: str) -> None:
        row = self.strays[family]
        if row is not None:
            seen = self.values[row]
            raise WrongType(
                f"Column {self.name!r} holds {seen!r} ({type(seen).__name__}) at row {row}, which {str(one)!r} would "
                f"compare with {'a ' * (family == 'number')}{family}. Convert the column or the condition."
            )

    @cached_property
    def strays(self) -> dict[str, int | None]:
        """For each family the first row whose value is neither of it nor missing; None where there is none."""
        return {"number": self._stray(_NUMBERS), "text": self._stray((str,))}

    def _stray(self, wanted: tuple[type, ...]) -> int | None:
        if self.values.dtype.kind in "biuf" and wanted == _NUMBERS:
            return None
        rows = np.flatnonzero(~self.missing)
        if self.values.dtype.kind == "O":
            return next((int(row) for row in rows if not isinstance(self.values[row], wanted)), None)
        return int(rows[0]) if len(rows) else None
