"""Conditions on one feature, each in one canonical form, so that equal ones are equal however they were written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, reduce
from math import inf
from operator import and_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType

Value = float | int | str  # whole numbers beyond 2**53 stay integers, so that none is rounded
Triple = tuple[Any, str, Any]
Mask = NDArray[np.bool_]

_EXACT = 2**53
_MISSING = {"NAType", "NaTType"}  # pandas', without importing it
_TEXT, _FLOATS, _INTEGERS = (str, bytes), (float, np.floating), (int, np.integer, np.bool_)
_NUMBERS = (*_FLOATS, *_INTEGERS, Decimal)
_PLAIN = {str, int, float, bool, type(None)}
_WITH_NAN = (*_FLOATS, np.datetime64, np.timedelta64, Decimal)


@dataclass(frozen=True, slots=True)
class Condition:
    """What a rule asks of one feature.

    A missing value satisfies it only where `missing` says so. Make one with `condition`, which knows the
    canonical forms: a single number is ``among=(v,)``, and where `among` is given bounds and `without` are not.

    Attributes
    ----------
    position, feature : int, str
        Which feature, by its place among the features of the rules and by name.
    low, high : number
        Bounds; -inf and inf where there is none.
    low_open, high_open : bool
        Whether the bound itself is left out.
    among : tuple, optional
        The only values allowed, sorted.
    without : tuple
        Values ruled out, sorted.
    missing : bool
        Whether a missing value satisfies the condition.

    Examples
    --------
    >>> str(condition(0, "age", ">", 3) & condition(0, "age", "<=", 7.0))
    '3 < age <= 7'
    """

    position: int
    feature: str
    low: float = -inf
    high: float = inf
    low_open: bool = False
    high_open: bool = False
    among: tuple[Value, ...] | None = None
    without: tuple[Value, ...] = ()
    missing: bool = False

    @property
    def never(self) -> bool:
        """Whether nothing satisfies it."""
        return self.among == () and not self.missing

    @property
    def bounded(self) -> bool:
        """Whether it bounds a number from below or from above."""
        return self.low > -inf or self.high < inf or self.low_open or self.high_open

    @property
    def family(self) -> str | None:
        """What it compares with: "number", "text", or None where it asks only for missing or for present."""
        if self.bounded:
            return "number"
        values = self.among or self.without
        return None if not values else "text" if isinstance(values[0], str) else "number"

    def __and__(self, other: "Condition") -> "Condition":
        low, low_open = max((self.low, self.low_open), (other.low, other.low_open))
        high, closed = min((self.high, not self.high_open), (other.high, not other.high_open))
        among = _common(self.among, other.among)
        without = _ordered({*self.without, *other.without})
        missing = self.missing and other.missing
        return _canonical(
            Condition(self.position, self.feature, low, high, low_open, not closed, among, without, missing)
        )

    def triples(self) -> list[Triple]:
        """The condition as (feature, operator, value), of which there may be several: all of them must hold."""
        if self.among is not None:
            values = (*self.among, None) if self.missing else self.among
            return [(self.feature, "==", values[0]) if len(values) == 1 else (self.feature, "in", values)]
        written: list[Triple] = []
        if self.low > -inf or self.low_open:
            written.append((self.feature, ">" if self.low_open else ">=", self.low))
        if self.high < inf or self.high_open:
            written.append((self.feature, "<" if self.high_open else "<=", self.high))
        if self.without:
            one = len(self.without) == 1
            written.append((self.feature, "!=" if one else "not in", self.without[0] if one else self.without))
        return written or [(self.feature, "!=", None)]

    def __str__(self) -> str:
        if self.never:
            return "nothing"
        written = self.triples()
        if len(written) >= 2 and written[1][1] in _BOUNDS:
            (feature, above, low), (_, below, high), *rest = written
            between = f"{_show(low)} {above.replace('>', '<')} {feature} {below} {_show(high)}"
            return " and ".join([between, *map(_read_aloud, rest)])
        return " and ".join(map(_read_aloud, written))


NOTHING = Condition(-1, "", among=())  # the whole of the one conjunction that is never true


def conjoin(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """The canonical conjunction: one condition a feature, in the order of the features."""
    by_feature: dict[int, list[Condition]] = {}
    for one in conditions:
        by_feature.setdefault(one.position, []).append(one)
    merged = [_intersection(by_feature[position]) for position in sorted(by_feature)]
    return (NOTHING,) if any(one.never for one in merged) else tuple(merged)


def _intersection(conditions: list[Condition]) -> Condition:
    if len(conditions) == 1:
        return conditions[0]
    typed = {one.family: one for one in conditions if one.family}
    if len(typed) > 1:
        raise WrongType(
            f"Conditions on {conditions[0].feature!r} compare it with a number ({typed['number']}) and with text "
            f"({typed['text']}): a feature holds one or the other."
        )
    return reduce(and_, conditions)


def _canonical(one: Condition) -> Condition:
    """The same condition in the one form that equal conditions share."""
    if one.among is not None:
        return _only(one, [value for value in one.among if _admits(one, value)])
    if one.low > one.high or (one.low == one.high and (one.low_open or one.high_open)):
        return _only(one, [])
    if one.low == one.high:
        return _only(one, [] if one.low in one.without else [one.low])
    without = one.without
    if without and not isinstance(without[0], str):
        without = tuple(value for value in without if one.low < value < one.high)  # type: ignore[operator]
    low_open, high_open = one.low_open or one.low in one.without, one.high_open or one.high in one.without
    return Condition(one.position, one.feature, one.low, one.high, low_open, high_open, None, without)


def _only(one: Condition, values: list[Value]) -> Condition:
    return Condition(one.position, one.feature, among=tuple(values), missing=one.missing)


def _admits(one: Condition, value: Value) -> bool:
    if value in one.without or isinstance(value, str):
        return value not in one.without
    above = value > one.low if one.low_open else value >= one.low
    return above and (value < one.high if one.high_open else value <= one.high)


def _common(a: tuple[Value, ...] | None, b: tuple[Value, ...] | None) -> tuple[Value, ...] | None:
    if a is None or b is None:
        return b if a is None else a
    allowed = set(b)
    return tuple(value for value in a if value in allowed)


def _ordered(values: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(sorted(values))  # all text or all numbers


def condition(position: int, feature: str, operator: str, value: Any) -> Condition:
    """One condition as a caller writes it, in canonical form.

    Parameters
    ----------
    position, feature : int, str
    operator : str
        One of ``<= < >= > == != in``, ``not in`` and ``between``, whose value is (low, high), both included.
    value : number, bool, text, None or NaN, or a collection of them
        Missing with ``==`` asks for missing, with ``!=`` for present.
    """
    read = _OPERATORS.get(operator) if isinstance(operator, str) else None
    if read is None:
        raise BadInput(f"Operator {operator!r} on feature {feature!r} is unknown. Known are: {', '.join(_OPERATORS)}.")
    return read(position, feature, operator, value)


def _read_bound(position: int, feature: str, operator: str, value: Any) -> Condition:
    bound, is_open = _bound(feature, operator, value), "=" not in operator
    if "<" in operator:
        found = Condition(position, feature, high=bound, high_open=is_open)
    else:
        found = Condition(position, feature, low=bound, low_open=is_open)
    return found if -inf < bound < inf else _canonical(found)


def _read_between(position: int, feature: str, operator: str, value: Any) -> Condition:
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
        raise BadInput(f"between on feature {feature!r} needs (low, high); got {value!r}.")
    low, high = (_bound(feature, operator, end) for end in value)
    return _canonical(Condition(position, feature, low, high))


def _bound(feature: str, operator: str, value: Any) -> float:
    if is_missing(value):
        raise BadInput(f"{feature} {operator} {value}: a missing value has no order. Ask for it with == or !=.")
    number = _value(feature, operator, value)
    if isinstance(number, str):
        raise WrongType(f"{feature} {operator} {value!r}: text has no order here. Use ==, !=, in or not in.")
    return number


def _read_equal(position: int, feature: str, operator: str, value: Any) -> Condition:
    return _read_set(position, feature, "in" if operator == "==" else "not in", (value,))


def _read_set(position: int, feature: str, operator: str, value: Any) -> Condition:
    if isinstance(value, _TEXT) or not hasattr(value, "__iter__"):
        raise WrongType(f"{feature} {operator} {value!r}: pass a list of values.")
    given = list(value)
    present = {_value(feature, operator, item) for item in given if not is_missing(item)}
    if len({isinstance(item, str) for item in present}) > 1:
        raise WrongType(f"{feature} {operator} {value!r} mixes numbers and text: a feature holds one or the other.")
    values = _ordered(present)
    if operator == "in":
        return Condition(position, feature, among=values, missing=any(map(is_missing, given)))
    return _canonical(Condition(position, feature, without=values))


def _value(feature: str, operator: str, given: Any) -> Value:
    if isinstance(given, str):
        return str.__str__(given)
    if isinstance(given, _FLOATS):
        return float(given) + 0.0  # -0.0 is 0.0
    if isinstance(given, _INTEGERS):
        whole = int(given)
        return float(whole) if -_EXACT <= whole <= _EXACT else whole
    raise WrongType(
        f"{feature} {operator} {given!r}: a {type(given).__name__} is neither number, boolean, text nor missing. "
        "Convert it, and the column, e.g. with float() or str()."
    )


def written_row(given: Any) -> tuple[Any, ...]:
    """A row of conditions as a caller writes it, as a tuple that can be looked up."""
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise WrongType(f"Rules must be a list of conditions a row; got {given!r}. Pass [] for one that covers all.")
    row = tuple(given)
    try:
        hash(row)
    except TypeError:
        row = tuple(map(_frozen, row))
    return row


def _frozen(item: Any) -> Any:
    """The same, hashable: lists, sets and arrays become tuples."""
    if isinstance(item, _TEXT) or not hasattr(item, "__iter__"):
        return item
    return tuple([part if type(part) in _PLAIN else _frozen(part) for part in item])


def is_triple(one: object) -> bool:
    """Whether this may be (feature, operator, value)."""
    return isinstance(one, tuple) and len(one) == 3


def is_missing(item: object) -> bool:
    """Whether this is None, NaN, NaT or a library's NA."""
    return item is None or type(item).__name__ in _MISSING or (isinstance(item, _WITH_NAN) and bool(item != item))


_BOUNDS = ("<=", "<", ">=", ">")
_OPERATORS: dict[str, Callable[[int, str, str, Any], Condition]] = {
    **dict.fromkeys(_BOUNDS, _read_bound),
    **dict.fromkeys(("==", "!="), _read_equal),
    **dict.fromkeys(("in", "not in"), _read_set),
    "between": _read_between,
}


def _read_aloud(triple: Triple) -> str:
    feature, operator, value = triple
    if value is None:
        return f"{feature} is {'missing' if operator == '==' else 'present'}"
    if isinstance(value, tuple):
        return f"{feature} {operator} {{{', '.join(map(_show, value))}}}"
    return f"{feature} {operator} {_show(value)}"


def _show(value: Value | None) -> str:
    """A value to read: whole numbers without ".0", others to seven digits, which is what a tree's threshold has."""
    if value is None:
        return "missing"
    if isinstance(value, str | int):
        return str(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.7g}" if abs(value) < 1e6 else repr(value)


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
