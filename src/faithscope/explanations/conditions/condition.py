"""Conditions on one feature, in a canonical form: they are equal if they mean the same, however they were written."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np

from faithscope.errors import BadInput, Incompatible, WrongType
from faithscope.explanations.base import members
from faithscope.explanations.rule_text import (
    ANY_OF,
    BOUNDS,
    OR_MISSING,
    Triple,
    joined,
    shown_name,
    shown_operator,
    written,
)
from faithscope.inputs.array_types import Bools
from faithscope.inputs.arrays import EXACT, to_objects
from faithscope.inputs.columns import Column
from faithscope.inputs.dates import Moment
from faithscope.inputs.missing import is_missing

Bound = float | Moment
Value = float | int | str | Moment  # whole numbers beyond 2**53 stay integers, so that none is rounded

_FLOATS = (float, np.floating)
_INTEGERS = (int, np.integer, np.bool_)
_PLAIN = {str, int, float, bool, type(None)}


@dataclass(frozen=True, slots=True)
class Condition:
    """What a rule asks of one feature.

    A missing value satisfies it only if `missing` is True, whatever the operator: ``!=`` too is false for it, as in
    SQL, unless the condition says ``or missing``. Make conditions with `to_condition`, which knows the
    canonical forms: a single number is ``among=(v,)``, and a condition with `among` has neither bounds nor `without`.

    Attributes
    ----------
    position, feature : int, str
        Which feature, by its place among the features of the rules and by name.
    low, high : number or Moment
        Bounds; -inf and inf for none.
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
    >>> str(Condition(0, "age", low=3, low_open=True) & Condition(0, "age", high=7.0))
    '3 < age <= 7'
    >>> str(to_condition(0, "age", "<=", 37.123456789)), str(to_condition(0, "odd; --", "==", "37"))
    ('age < 37.12346', '"odd; --" == "37"')
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
        return self.missing and self.among is None and not self.without and not self.bounds()

    @property
    def family(self) -> str | None:
        """The family of the values it compares with; None if it asks only for missing or for present."""
        values = self.among or self.without or [bound for _, bound in self.bounds()]
        return family_of(values[0]) if values else None

    def __and__(self, other: "Condition") -> "Condition":
        return _all_of([self, other])

    def triples(self) -> list[Triple]:
        """The condition as (feature, operator, value), of which there may be several: all of them must hold."""
        if self.among is not None:
            values = (*self.among, None) if self.missing else self.among
            return [(self.feature, *_any_of("==", values))]
        tests: list[tuple[str, Any]] = [*self.bounds()]
        if self.without:
            tests.append(_any_of("!=", self.without))
        suffix = OR_MISSING * self.missing
        return [(self.feature, operator + suffix, value) for operator, value in tests or [("!=", None)]]

    def bounds(self) -> list[tuple[str, Bound]]:
        """Its bounds, each with its operator."""
        ends = ((">", self.low, self.low_open, -inf), ("<", self.high, self.high_open, inf))
        return [(sign if is_open else f"{sign}=", end) for sign, end, is_open, none in ends if is_open or end != none]

    def __str__(self) -> str:
        """The condition as `rule_text.parse_rule` reads it; bounds of more than eight digits are rounded to seven.

        None is rounded if a value is ruled out beside it, or if both would look alike.
        For numbers of seven digits or fewer the text means what the condition means: ``x <= 3.99999976`` is ``x < 4``.
        """
        if self.never:
            return "nothing"
        name, bounds = shown_name(self.feature), self.bounds()
        if self.among is not None:
            values = (*self.among, None) if self.missing else self.among
            return f"{name} is missing" if values == (None,) else f"{name} {joined(*_any_of('==', values), bare=True)}"
        texts = [written(end, bare=True, rounded=not self.without) for _, end in bounds]
        if len(set(texts)) < len(texts):
            texts = [written(end, bare=True) for _, end in bounds]
        signs = [shown_operator(*bound, text) for bound, text in zip(bounds, texts, strict=True)]
        parts = [f"{name} {sign} {text}" for sign, text in zip(signs, texts, strict=True)]
        if len(bounds) == 2:
            parts = [f"{texts[0]} {signs[0].replace('>', '<')} {name} {signs[1]} {texts[1]}"]
        if self.without:
            parts.append(f"{name} {joined(*_any_of('!=', self.without), bare=True)}")
        text = " and ".join(parts) or f"{name} is present"
        return text if not self.missing else f"({text}){OR_MISSING}" if len(parts) > 1 else text + OR_MISSING


def _any_of(operator: str, values: tuple[Any, ...]) -> tuple[str, Any]:
    """The test by ``==`` or ``!=`` of one value, or that of several."""
    return (operator, values[0]) if len(values) == 1 else (ANY_OF[operator], values)


NOTHING = Condition(-1, "", among=())  # the only part of the conjunction that is never true


def conjoin(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """The canonical conjunction: one condition per feature, in the order of the features."""
    place = attrgetter("position")
    merged = [_all_of(list(parts)) for _, parts in groupby(sorted(conditions, key=place), place)]
    if any(condition.never for condition in merged):
        return (NOTHING,)
    return tuple(condition for condition in merged if not condition.always)


def _all_of(conditions: list[Condition]) -> Condition:
    """All these conditions on one feature; at once, since one by one all values ruled out would be sorted each time."""
    if len(conditions) == 1:
        return conditions[0]
    by_family = {condition.family: condition for condition in conditions if condition.family}
    if len(by_family) > 1:
        (family, condition), (other_family, other), *_ = sorted(by_family.items())
        raise WrongType(
            f"Conditions on {conditions[0].feature!r} compare it with {with_article(family)} ({condition}) and with "
            f"{with_article(other_family)} ({other}): a feature holds one or the other."
        )
    low, low_open = max((part.low, part.low_open) for part in conditions)
    high, closed = min((part.high, not part.high_open) for part in conditions)
    lists = [set(part.among) for part in conditions if part.among is not None]
    among = tuple(sorted(set.intersection(*lists))) if lists else None
    without = tuple(sorted({value for part in conditions for value in part.without}))
    missing = all(part.missing for part in conditions)
    position, feature = conditions[0].position, conditions[0].feature
    return canonical(Condition(position, feature, low, high, low_open, not closed, among, without, missing))


def canonical(given: Condition) -> Condition:
    """The same condition in the form that all conditions with its meaning share."""
    low, high, only = given.low, given.high, given.among
    if only is None and low < high and not given.without:  # as most are
        return given
    ruled_out = set(given.without)
    if only is None and not low < high:
        only = (low,) if low == high else ()
    if only is not None:
        among = tuple(value for value in only if value not in ruled_out and _within(given, value))
        return Condition(given.position, given.feature, among=among, missing=given.missing)
    ends = given.low_open or low in ruled_out, given.high_open or high in ruled_out
    without = tuple(value for value in given.without if isinstance(value, str) or low < value < high)
    return Condition(given.position, given.feature, low, high, *ends, None, without, given.missing)


def _within(given: Condition, value: Value) -> bool:
    """Whether a value lies within the bounds; a text has none."""
    if isinstance(value, str):
        return True
    return (given.low, given.low_open) <= (value, False) and (value, given.high_open) <= (given.high, False)


def family_of(value: Value) -> str:
    """The family of a value: number, text, date, or date with a time zone; values of two families never compare."""
    if isinstance(value, Moment):
        return "date with a time zone" if value.zoned else "date"
    return "text" if isinstance(value, str) else "number"


def with_article(family: str) -> str:
    """A family in a sentence: "a number", "text"."""
    return family if family == "text" else f"a {family}"


# -- conditions as callers write them, (feature, operator, value) -----------------------------------------------------


def to_condition(position: int, feature: str, operator: str, value: Any) -> Condition:
    """The canonical form of a condition that a caller wrote.

    Parameters
    ----------
    position, feature : int, str
    operator : str
        One of ``<= < >= > == != in``, ``not in`` and ``between``, whose value is (low, high), both included; with
        " or missing" after it if a missing value satisfies the condition too.
    value : number, bool, text, date, None or NaN, or a collection of them
        Missing with ``==`` asks for missing, with ``!=`` for present.

    Examples
    --------
    >>> str(to_condition(0, "age", ">", 3) & to_condition(0, "age", "<=", 7.0))
    '3 < age <= 7'
    """
    plain = operator.removesuffix(OR_MISSING) if isinstance(operator, str) else ""
    missing, asked = plain != operator, dict[str, Any]()
    if plain in BOUNDS:
        end = "high" if "<" in plain else "low"
        asked = {end: _bound(feature, plain, value), f"{end}_open": "=" not in plain}
    elif plain == "between":
        ends = members(value)
        if ends is None or len(ends) != 2:
            raise BadInput(f"between on feature {feature!r} needs (low, high); got {value!r}.")
        asked = {name: _bound(feature, plain, end) for name, end in zip(("low", "high"), ends, strict=True)}
    elif plain in ANY_OF or plain in ANY_OF.values():
        given = [value] if plain in ANY_OF else members(value)
        if given is None:
            raise WrongType(f"{feature} {plain} takes several values: pass a list of them.")
        values = {_value(feature, plain, item) for item in given if not is_missing(item)}
        if len(set(map(family_of, values))) > 1:
            raise WrongType(f"{feature} {plain} {given!r} mixes values of several kinds: a feature holds one.")
        out = plain in ("!=", "not in")
        asked = {"without" if out else "among": tuple(sorted(values))}
        missing |= not out and any(map(is_missing, given))
    else:
        known = ", ".join((*BOUNDS, *ANY_OF, *ANY_OF.values(), "between"))
        raise BadInput(f"Operator {operator!r} on feature {feature!r} is unknown. Known are: {known}.")
    return canonical(Condition(position, feature, missing=missing, **asked))


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


def _value(feature: str, operator: str, given: Any) -> Value:
    if isinstance(given, str):
        return str.__str__(given)
    if isinstance(given, _FLOATS):
        return float(given) + 0.0  # -0.0 is 0.0
    if isinstance(given, _INTEGERS):
        whole = int(given)
        return float(whole) if -EXACT <= whole <= EXACT else whole
    moment = given if isinstance(given, Moment) else Moment.of(given)
    if moment is not None:
        return moment
    raise WrongType(
        f"{feature} {operator} {given!r}: a {type(given).__name__} is neither number, boolean, text, date nor missing. "
        "Convert it, and the column, e.g. with float() or str()."
    )


def written_row(given: Any) -> tuple[Any, ...]:
    """The conditions of one row as a caller wrote them, as a hashable tuple."""
    row = members(given)
    if row is None:
        raise WrongType(
            f"Rules must be one list of conditions per row; got {given!r}. Pass [] for a rule that covers all."
        )
    for parts in (row, map(_frozen, row)):
        with suppress(TypeError):
            hash(found := tuple(parts))
            return found
    raise WrongType(f"A rule holds a value that cannot be compared ({given!r}): use numbers, texts and lists.")


def _frozen(item: Any) -> Any:
    """The item made hashable: lists, sets and arrays become tuples."""
    if isinstance(item, np.ndarray) and item.shape == ():
        return None if np.ma.is_masked(item) else item.item()
    parts = None if type(item) in _PLAIN else members(item)
    return item if parts is None else tuple(map(_frozen, parts))


def is_triple(item: object) -> bool:
    """Whether this may be (feature, operator, value)."""
    return isinstance(item, tuple) and len(item) == 3


# -- the rows on which a condition holds, and categories that rows hold as numbers ------------------------------------

Categories = Mapping[str, Mapping[int, str]]

_COMPARE = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def holds(condition: Condition, column: Column, arranged: Column) -> Bools:
    """Whether a condition holds on each row.

    Parameters
    ----------
    condition : Condition
    column : Column
        All rows; one that holds a value of another family than the condition is refused.
    arranged : Column
        The rows that are asked about, in their order: the column itself, or some of it.
    """
    family = condition.family
    if family is not None and (row := column.stray(family)) is not None:
        seen = column.values[row]
        kind = f"{type(seen).__name__}{' with a time zone' * column.zoned}"
        raise WrongType(
            f"Column {condition.feature!r} holds {seen!r} ({kind}) at row {row}, which {str(condition)!r} would "
            f"compare with {with_article(family)}. Convert the column or the condition."
        )
    if family is None:
        mask = np.full(len(arranged.values), condition.among is None)
    elif family == "text":
        codes, places = arranged.coded
        listed = [places[value] for value in condition.among or condition.without if value in places]
        table = np.full(len(places) + 1, condition.among is None)
        table[listed] = condition.among is not None
        mask = table[codes]
    elif condition.among is not None:
        mask = reduce(np.logical_or, (_compare(arranged, "==", value) for value in condition.among))
    else:
        tests = [*(("!=", value) for value in condition.without), *condition.bounds()]
        mask = reduce(np.logical_and, (_compare(arranged, *test) for test in tests))
    if family != "number" or not (condition.bounds() or condition.among):
        mask &= ~arranged.missing  # a missing date or text has some number, and NaN differs from everything
    return mask | arranged.missing if condition.missing else mask


def _compare(column: Column, operator: str, value: Any) -> Bools:
    """Compare exactly: whole numbers with integers as integers, integers beyond 2**53 with anything in Python."""
    if isinstance(value, Moment):
        numbers, unit = column.ticks
        test = value.in_unit(operator, unit)
        if isinstance(test, bool):
            return np.full(len(numbers), test)
        operator, value = test
    else:
        kind = column.numbers.dtype.kind
        if kind in "iu" and -inf < value < inf and value == int(value):
            value = int(value)
        numbers = column.exact if kind not in "iu" and isinstance(value, int) else column.numbers
    with np.errstate(invalid="ignore"):  # NaN as a Python object
        mask: Bools = _COMPARE[operator](numbers, value)
    return mask


def decoded(column: Column, texts: Mapping[int, str]) -> Column:
    """A column of codes with the texts that they stand for; any other column as it is.

    A code that stands for nothing known becomes a text that equals no category.

    Examples
    --------
    >>> codes = {0: "clerk", 1: "cook"}
    >>> decoded(Column("job", np.array([1.0, 0.0, np.nan])), codes).values.tolist()
    ['cook', 'clerk', None]
    >>> decoded(Column("job", np.array(["cook"], object)), codes).values.tolist()
    ['cook']
    """
    if not texts or column.family not in ("number", "") or column.values.dtype == bool:
        return column
    codes, places = column.coded
    words = [texts.get(code, f"\0{code}") for code in places]
    return Column(column.name, to_objects([*words, None])[codes])


def joined_categories(first: Categories, second: Categories) -> Categories:
    """The codes of both; raises if one code stands for two texts."""
    both = {feature: {**first.get(feature, {}), **second.get(feature, {})} for feature in {**first, **second}}
    for feature, texts in first.items():
        for code, text in texts.items():
            if both[feature][code] != text:
                raise Incompatible(
                    f"{feature} = {code} is {text!r} in some rules and {both[feature][code]!r} in others: explain both "
                    "with the same codes."
                )
    return both
