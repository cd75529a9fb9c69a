"""Conditions on one feature, each in one canonical form, so that equal ones are equal however they were written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from operator import and_
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.dates import Moment
from faithscope.inputs.missing import is_missing

Bound = float | Moment
Value = float | int | str | Moment  # whole numbers beyond 2**53 stay integers, so that none is rounded
Triple = tuple[Any, str, Any]

_EXACT = 2**53
_TEXT, _FLOATS, _INTEGERS = (str, bytes), (float, np.floating), (int, np.integer, np.bool_)
_PLAIN = {str, int, float, bool, type(None)}
OR_MISSING = " or missing"  # after an operator: a missing value satisfies the condition too


@dataclass(frozen=True, slots=True)
class Condition:
    """What a rule asks of one feature.

    A missing value satisfies it only where `missing` says so, whatever the operator: ``!=`` too is false there, as it
    is in SQL, and ``age <= 37 or missing`` says otherwise. Make one with `condition`, which knows the
    canonical forms: a single number is ``among=(v,)``, and where `among` is given bounds and `without` are not.

    Attributes
    ----------
    position, feature : int, str
        Which feature, by its place among the features of the rules and by name.
    low, high : number or Moment
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
    low: Bound = -inf
    high: Bound = inf
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
    def always(self) -> bool:
        """Whether every value satisfies it, missing ones too."""
        return self.missing and self.among is None and not self.without and not self.bounded

    @property
    def bounded(self) -> bool:
        """Whether it bounds a number from below or from above."""
        return self.low > -inf or self.high < inf or self.low_open or self.high_open

    @property
    def family(self) -> str | None:
        """What it compares with; None where it asks only for missing or for present."""
        values = self.among or self.without or [bound for bound in (self.low, self.high) if isinstance(bound, Moment)]
        return family_of(values[0]) if values else "number" if self.bounded else None

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
        suffix = OR_MISSING * self.missing
        return [(feature, operator + suffix, value) for feature, operator, value in self._present()]

    def _present(self) -> list[Triple]:
        """What it asks of a value that is not missing."""
        written: list[Triple] = []
        if self.low > -inf or self.low_open:
            written.append((self.feature, ">" if self.low_open else ">=", self.low))
        if self.high < inf or self.high_open:
            written.append((self.feature, "<" if self.high_open else "<=", self.high))
        if self.without:
            single = len(self.without) == 1
            written.append((self.feature, "!=" if single else "not in", self.without[0] if single else self.without))
        return written or [(self.feature, "!=", None)]

    def __str__(self) -> str:
        if self.never:
            return "nothing"
        written = self.triples() if self.among is not None else self._present()
        parts = [_read_aloud(triple) for triple in written]
        if len(written) >= 2 and written[1][1] in _BOUNDS:
            (feature, above, low), (_, below, high) = written[:2]
            parts[:2] = [f"{_show(low)} {above.replace('>', '<')} {feature} {below} {_show(high)}"]
        text = " and ".join(parts)
        if self.among is not None or not self.missing:
            return text
        return f"({text}){OR_MISSING}" if len(parts) > 1 else text + OR_MISSING


NOTHING = Condition(-1, "", among=())  # the whole of the one conjunction that is never true


def conjoin(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """The canonical conjunction: one condition a feature, in the order of the features."""
    by_feature: dict[int, list[Condition]] = {}
    for condition in conditions:
        by_feature.setdefault(condition.position, []).append(condition)
    merged = [_intersection(by_feature[position]) for position in sorted(by_feature)]
    return (
        (NOTHING,)
        if any(condition.never for condition in merged)
        else tuple(condition for condition in merged if not condition.always)
    )


def _intersection(conditions: list[Condition]) -> Condition:
    if len(conditions) == 1:
        return conditions[0]
    typed = {one.family: one for one in conditions if one.family}
    if len(typed) > 1:
        (first, one), (second, other), *_ = sorted(typed.items())
        raise WrongType(
            f"Conditions on {conditions[0].feature!r} compare it with {_article(first)} ({one}) and with "
            f"{_article(second)} ({other}): a feature holds one or the other."
        )
    return reduce(and_, conditions)


def _canonical(given: Condition) -> Condition:
    """The same condition in the one form that equal conditions share."""
    if given.among is not None:
        return _only(given, [value for value in given.among if _admits(given, value)])
    if given.low > given.high or (given.low == given.high and (given.low_open or given.high_open)):
        return _only(given, [])
    if given.low == given.high:
        return _only(given, [] if given.low in given.without else [given.low])
    without = given.without
    if without and not isinstance(without[0], str):
        without = tuple(value for value in without if given.low < value < given.high)  # type: ignore[operator]
    low_open, high_open = given.low_open or given.low in given.without, given.high_open or given.high in given.without
    return Condition(
        given.position, given.feature, given.low, given.high, low_open, high_open, None, without, given.missing
    )


def _only(given: Condition, values: list[Value]) -> Condition:
    return Condition(given.position, given.feature, among=tuple(values), missing=given.missing)


def _admits(given: Condition, value: Value) -> bool:
    if value in given.without or isinstance(value, str):
        return value not in given.without
    above = value > given.low if given.low_open else value >= given.low
    return above and (value < given.high if given.high_open else value <= given.high)


def _common(a: tuple[Value, ...] | None, b: tuple[Value, ...] | None) -> tuple[Value, ...] | None:
    if a is None or b is None:
        return b if a is None else a
    allowed = set(b)
    return tuple(value for value in a if value in allowed)


def family_of(value: Value) -> str:
    """What kind of value this is: number, text, date, or date with a time zone; only its like compares with it."""
    if isinstance(value, Moment):
        return "date with a time zone" if value.zoned else "date"
    return "text" if isinstance(value, str) else "number"


def _article(family: str) -> str:
    return family if family == "text" else f"a {family}"


def _ordered(values: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(sorted(values))  # all of one family


def condition(position: int, feature: str, operator: str, value: Any) -> Condition:
    """One condition as a caller writes it, in canonical form.

    Parameters
    ----------
    position, feature : int, str
    operator : str
        One of ``<= < >= > == != in``, ``not in`` and ``between``, whose value is (low, high), both included; with
        " or missing" after it where a missing value satisfies the condition too.
    value : number, bool, text, date, None or NaN, or a collection of them
        Missing with ``==`` asks for missing, with ``!=`` for present.
    """
    if isinstance(operator, str) and operator.endswith(OR_MISSING):
        present = condition(position, feature, operator.removesuffix(OR_MISSING), value)
        return replace(present, missing=True)
    read = _OPERATORS.get(operator) if isinstance(operator, str) else None
    if read is None:
        raise BadInput(f"Operator {operator!r} on feature {feature!r} is unknown. Known are: {', '.join(_OPERATORS)}.")
    return read(position, feature, operator, value)


def _read_bound(position: int, feature: str, operator: str, value: Any) -> Condition:
    bound, is_open = _bound(feature, operator, value), "=" not in operator
    if "<" in operator:
        bounded = Condition(position, feature, high=bound, high_open=is_open)
    else:
        bounded = Condition(position, feature, low=bound, low_open=is_open)
    return bounded if -inf < bound < inf else _canonical(bounded)


def _read_between(position: int, feature: str, operator: str, value: Any) -> Condition:
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
        raise BadInput(f"between on feature {feature!r} needs (low, high); got {value!r}.")
    low, high = (_bound(feature, operator, end) for end in value)
    return _canonical(Condition(position, feature, low, high))


def _bound(feature: str, operator: str, value: Any) -> Bound:
    if is_missing(value):
        raise BadInput(f"{feature} {operator} {value}: a missing value has no order. Ask for it with == or !=.")
    number = _value(feature, operator, value)
    if isinstance(number, str):
        raise WrongType(
            f"{feature} {operator} {value!r}: text has no order here. Use ==, !=, in or not in; a date must be a "
            "datetime, not its text."
        )
    return number


def _read_equal(position: int, feature: str, operator: str, value: Any) -> Condition:
    return _read_set(position, feature, "in" if operator == "==" else "not in", (value,))


def _read_set(position: int, feature: str, operator: str, value: Any) -> Condition:
    if isinstance(value, _TEXT) or not hasattr(value, "__iter__"):
        raise WrongType(f"{feature} {operator} {value!r}: pass a list of values.")
    given = list(value)
    present = {_value(feature, operator, item) for item in given if not is_missing(item)}
    families = sorted({family_of(item) for item in present})
    if len(families) > 1:
        both = "numbers and text" if families == ["number", "text"] else " and ".join(map(_article, families))
        raise WrongType(f"{feature} {operator} {value!r} mixes {both}: a feature holds one or the other.")
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
    moment = given if isinstance(given, Moment) else Moment.of(given)
    if moment is not None:
        return moment
    raise WrongType(
        f"{feature} {operator} {given!r}: a {type(given).__name__} is neither number, boolean, text, date nor missing. "
        "Convert it, and the column, e.g. with float() or str()."
    )


def written_row(given: Any) -> tuple[Any, ...]:
    """A row of conditions as a caller writes it, as a tuple that can be looked up."""
    if isinstance(given, str) or not hasattr(given, "__iter__") or getattr(given, "shape", None) == ():
        raise WrongType(f"Rules must be a list of conditions a row; got {given!r}. Pass [] for one that covers all.")
    row = tuple(given)
    try:
        hash(row)
    except TypeError:
        row = tuple(map(_frozen, row))
    return _hashable(row)


def _hashable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        hash(row)
    except TypeError as problem:
        raise WrongType(f"A rule holds what cannot be compared ({problem}): use numbers, texts and lists.") from None
    return row


def _frozen(item: Any) -> Any:
    """The same, hashable: lists, sets and arrays become tuples."""
    if isinstance(item, np.ndarray) and item.shape == ():
        return None if np.ma.is_masked(item) else item.item()
    if isinstance(item, _TEXT) or not hasattr(item, "__iter__"):
        return item
    return tuple([part if type(part) in _PLAIN else _frozen(part) for part in item])


def is_triple(item: object) -> bool:
    """Whether this may be (feature, operator, value)."""
    return isinstance(item, tuple) and len(item) == 3


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
    if isinstance(value, str | int | Moment):
        return str(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.7g}" if abs(value) < 1e6 else repr(value)
