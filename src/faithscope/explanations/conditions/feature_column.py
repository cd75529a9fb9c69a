"""One column of rows, and the rows on which a condition on it holds."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, reduce
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import WrongType
from faithscope.explanations.conditions.condition import Condition
from faithscope.inputs.dates import Moment, to_ticks
from faithscope.inputs.missing import missing_values

Mask = NDArray[np.bool_]

_NUMBERS = (float, np.floating, int, np.integer, np.bool_, Decimal)
_COMPARE = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


@dataclass(frozen=True, eq=False)
class FeatureColumn:
    """One column of rows, converted once for all the conditions on it.

    Parameters
    ----------
    name : str
    values : (n,) array
        As `to_vector` makes it: numbers, booleans, dates, or Python objects.
    zoned : bool
        Whether the column has a time zone; its dates are then in UTC. Python's own dates say so themselves.
    order : (m,) array, optional
        The rows that masks are about, in their order; by default all rows as they come.
    """

    name: str
    values: NDArray[Any]
    zoned: bool = False
    order: NDArray[np.int64] | None = None

    def holds(self, condition: Condition) -> Mask:
        """Whether the condition holds on each row."""
        if condition.family is not None:
            self._refuse_strays(condition, condition.family)
        return self._arranged._mask(condition, condition.family)

    @cached_property
    def _arranged(self) -> "FeatureColumn":
        """The rows in order, which are not checked again."""
        return self if self.order is None else FeatureColumn(self.name, self.values[self.order], self.zoned)

    def _mask(self, condition: Condition, family: str | None) -> Mask:
        if family is None:
            mask = np.zeros(len(self.values), bool) if condition.among == () else ~self.missing
        else:
            how = {"text": self._holds_text, "number": self._holds_number}.get(family, self._holds_date)
            mask = how(condition)
        return mask | self.missing if condition.missing else mask

    def _holds_text(self, condition: Condition) -> Mask:
        places, codes = self.words
        known = [places[value] for value in condition.among or condition.without if value in places]
        table = np.full(len(places) + 1, condition.among is None)
        table[known] = condition.among is not None
        table[-1] = False  # a missing value has code -1
        return table[codes]

    def _holds_number(self, condition: Condition) -> Mask:
        if condition.among is not None:
            return reduce(np.logical_or, (self._compare("==", value) for value in condition.among))
        tests = [self._compare("!=", value) for value in condition.without]
        if condition.low > -inf or condition.low_open:
            tests.append(self._compare(">" if condition.low_open else ">=", condition.low))
        if condition.high < inf or condition.high_open:
            tests.append(self._compare("<" if condition.high_open else "<=", condition.high))
        mask: Mask = reduce(np.logical_and, tests)
        return (
            mask if condition.bounded else mask & ~self.missing
        )  # NaN is within no bounds, but differs from everything

    def _compare(self, operator: str, value: Any) -> Mask:
        """Compare exactly: whole numbers with integers as integers, integers beyond 2**53 with anything in Python."""
        kind = self.numbers.dtype.kind
        if kind in "iu" and -inf < value < inf and value == int(value):
            value = int(value)
        numbers = self.exact if kind not in "iu" and isinstance(value, int) else self.numbers
        with np.errstate(invalid="ignore"):  # NaN as a Python object
            mask: Mask = _COMPARE[operator](numbers, value)
        return mask

    def _holds_date(self, condition: Condition) -> Mask:
        bounds = [
            (">" if condition.low_open else ">=", condition.low),
            ("<" if condition.high_open else "<=", condition.high),
        ]
        tests = [("!=", value) for value in condition.without] + [
            test for test in bounds if isinstance(test[1], Moment)
        ]
        if condition.among is not None:
            mask = reduce(np.logical_or, (self._compare_date("==", value) for value in condition.among))
        else:
            mask = reduce(np.logical_and, (self._compare_date(operator, value) for operator, value in tests))
        return mask & ~self.missing  # a missing date has some number

    def _compare_date(self, operator: str, value: Any) -> Mask:
        ticks, unit = self.ticks
        test = value.in_unit(operator, unit)
        if isinstance(test, bool):
            return np.full(len(ticks), test)
        mask: Mask = _COMPARE[test[0]](ticks, test[1])
        return mask

    @cached_property
    def ticks(self) -> tuple[NDArray[Any], int]:
        """Dates as whole numbers of a unit, and the unit in nanoseconds."""
        return to_ticks(self.values)

    @cached_property
    def missing(self) -> Mask:
        """The rows whose value is missing."""
        return missing_values(self.values)

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """The values as numbers, NaN for a missing one: floats or integers, or Python's numbers if neither is exact.

        A decimal is its nearest double, which is what a model sees.
        """
        if self.values.dtype.kind in "biuf":
            kind = np.result_type(self.values, np.uint8 if self.values.dtype.kind in "biu" else float)
            return self.values.astype(kind, copy=False)
        exact = self.exact
        if any(isinstance(item, Decimal) for item in exact):
            exact = np.array([float(item) if isinstance(item, Decimal) else item for item in exact], object)
        try:
            floats = exact.astype(np.float64)
        except OverflowError:  # an integer that no float can hold
            return exact
        return floats if ((floats == exact) | self.missing).all() else exact

    @cached_property
    def exact(self) -> NDArray[Any]:
        """The values as Python objects, NaN for a missing one."""
        return np.where(self.missing, np.nan, self.values.astype(object))

    @cached_property
    def words(self) -> tuple[dict[str, int], NDArray[np.int64]]:
        """The number of each word, and the number of each row's word; -1 for a missing one."""
        places: dict[str, int] = {}
        codes = np.full(len(self.values), -1)
        present = np.flatnonzero(~self.missing)
        codes[present] = [places.setdefault(word, len(places)) for word in self.values[present]]
        return places, codes

    def _refuse_strays(self, condition: Condition, family: str) -> None:
        if family not in self._strays:
            self._strays[family] = self._stray(family)
        row = self._strays[family]
        if row is not None:
            seen = self.values[row]
            what = f"{type(seen).__name__}{' with a time zone' * self.zoned}"
            raise WrongType(
                f"Column {self.name!r} holds {seen!r} ({what}) at row {row}, which {str(condition)!r} would "
                f"compare with {'a ' * (family != 'text')}{family}. Convert the column or the condition."
            )

    @cached_property
    def _strays(self) -> dict[str, int | None]:
        """By family, the first row whose value is neither of that family nor missing; None if there is none."""
        return {}

    def _stray(self, family: str) -> int | None:
        belongs, kinds = _FAMILIES[family]
        if self.values.dtype.kind in kinds and ("zone" in family) == self.zoned:
            return None
        rows = np.flatnonzero(~self.missing)
        if self.values.dtype.kind == "O":
            return next((int(row) for row in rows if not belongs(self.values[row])), None)
        return int(rows[0]) if len(rows) else None


def _is_date(value: Any, *, zoned: bool) -> bool:
    return isinstance(value, datetime.date) and (getattr(value, "tzinfo", None) is not None) == zoned


_FAMILIES: dict[str, tuple[Callable[[Any], bool], str]] = {  # the test of a value, and the kinds of arrays
    "number": (lambda value: isinstance(value, _NUMBERS), "biuf"),
    "text": (lambda value: isinstance(value, str), ""),
    "date": (lambda value: _is_date(value, zoned=False), "M"),
    "date with a time zone": (lambda value: _is_date(value, zoned=True), "M"),
}
