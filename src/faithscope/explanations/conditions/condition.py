"""Conditions on one feature, in a canonical form: they are equal if they mean the same, however they were written."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from faithscope.errors import WrongType
from faithscope.inputs.dates import WRITTEN, Moment
from faithscope.visible import visible

Bound = float | Moment
Value = float | int | str | Moment  # whole numbers beyond 2**53 stay integers, so that none is rounded
Triple = tuple[Any, str, Any]

BOUNDS = ("<=", "<", ">=", ">")
OR_MISSING = " or missing"  # after an operator: a missing value satisfies the condition too
NUMBER = r"[+-]?(?:inf(?![\w.\-])|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
TYPED = re.compile(rf"{WRITTEN}|{NUMBER}|true|True|false|False|missing")  # read as something other than a text
_SIGNS = re.compile(r'["\\<>=!≤≥≠{}\[\],;&∧]')
_NAME_SIGNS = re.compile(r'["\\<>=!≤≥≠{},;&∧]')  # units stand in brackets: weight [kg]
_JOINS = re.compile(r"(?:^|\s)(?:and|or)(?:\s|$)", re.IGNORECASE)
_WORDS = re.compile(r"(?:^|\s)(?:and|or|in|not|is|between)(?:\s|$)", re.IGNORECASE)
_LEAST_SINGLE, _LEAST_OF_LIGHTGBM = 2.0**-149, "1e-35"
_NO_NAMES = {"true", "false", "missing", "everything", "nothing"}


@dataclass(frozen=True, slots=True)
class Condition:
    """What a rule asks of one feature.

    A missing value satisfies it only if `missing` is True, whatever the operator: ``!=`` too is false for it, as in
    SQL, unless the condition says ``or missing``. Make conditions with `written.to_condition`, which knows the
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
        """The family of the values it compares with; None if it asks only for missing or for present."""
        values = self.among or self.without or [bound for bound in (self.low, self.high) if isinstance(bound, Moment)]
        return family_of(values[0]) if values else "number" if self.bounded else None

    def __and__(self, other: "Condition") -> "Condition":
        return _all_of([self, other])

    def triples(self) -> list[Triple]:
        """The condition as (feature, operator, value), of which there may be several: all of them must hold."""
        if self.among is not None:
            values = (*self.among, None) if self.missing else self.among
            return [(self.feature, "==", values[0]) if len(values) == 1 else (self.feature, "in", values)]
        suffix = OR_MISSING * self.missing
        return [(feature, operator + suffix, value) for feature, operator, value in self._present()]

    def bounds(self) -> list[tuple[str, Bound]]:
        """Its bounds, each with its operator."""
        below = [(">" if self.low_open else ">=", self.low)] if self.low > -inf or self.low_open else []
        return below + ([("<" if self.high_open else "<=", self.high)] if self.high < inf or self.high_open else [])

    def _present(self) -> list[Triple]:
        """What it asks of a value that is not missing."""
        written: list[Triple] = [(self.feature, *bound) for bound in self.bounds()]
        if self.without:
            single = len(self.without) == 1
            written.append((self.feature, "!=" if single else "not in", self.without[0] if single else self.without))
        return written or [(self.feature, "!=", None)]

    def __str__(self) -> str:
        """The condition as `rule_text.parse_rule` reads it; bounds are rounded to seven digits.

        For numbers of seven digits or fewer the text means what the condition means: ``x <= 3.9999999`` is ``x < 4``.
        """
        if self.never:
            return "nothing"
        written = self.triples() if self.among is not None else self._present()
        parts = self._read_aloud(written)
        text = " and ".join(parts)
        if self.among is not None or not self.missing:
            return text
        return f"({text}){OR_MISSING}" if len(parts) > 1 else text + OR_MISSING

    def _read_aloud(self, written: list[Triple]) -> list[str]:
        """What it asks of its feature, piece by piece; two bounds in one: 3 < age <= 7."""
        name, several = (
            shown_name(self.feature),
            [value if isinstance(value, tuple) else (value,) for *_, value in written],
        )
        exact = self.among is not None or bool(self.without)  # a bound that is rounded bounds nearly the same rows
        texts = iter(shown_values([value for values in several for value in values], exact=exact))
        shown = [[next(texts) for _ in values] for values in several]
        operators = [
            shown_operator(operator, value, values[0]) if operator in BOUNDS else operator
            for (_, operator, value), values in zip(written, shown, strict=True)
        ]
        parts = [
            _part(name, operator, value, values)
            for operator, (*_, value), values in zip(operators, written, shown, strict=True)
        ]
        if len(written) >= 2 and written[1][1] in BOUNDS:
            above, below = operators[0].replace(">", "<"), operators[1]
            parts[:2] = [f"{shown[0][0]} {above} {name} {below} {shown[1][0]}"]
        return parts


def _part(name: str, operator: str, value: Any, shown: list[str]) -> str:
    if value is None:
        return f"{name} is {'missing' if operator == '==' else 'present'}"
    return f"{name} {operator} {{{', '.join(shown)}}}" if isinstance(value, tuple) else f"{name} {operator} {shown[0]}"


NOTHING = Condition(-1, "", among=())  # the only part of the conjunction that is never true


def conjoin(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """The canonical conjunction: one condition per feature, in the order of the features."""
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
    by_family = {condition.family: condition for condition in conditions if condition.family}
    if len(by_family) > 1:
        (family, condition), (other_family, other), *_ = sorted(by_family.items())
        raise WrongType(
            f"Conditions on {conditions[0].feature!r} compare it with {with_article(family)} ({condition}) and with "
            f"{with_article(other_family)} ({other}): a feature holds one or the other."
        )
    return _all_of(conditions)


def _all_of(conditions: list[Condition]) -> Condition:
    """All these conditions on one feature; at once, since one by one all values ruled out would be sorted each time."""
    low, low_open = max((part.low, part.low_open) for part in conditions)
    high, closed = min((part.high, not part.high_open) for part in conditions)
    lists = [part.among for part in conditions if part.among is not None]
    allowed = [set(values) for values in lists[1:]]
    among = tuple(value for value in lists[0] if all(value in values for values in allowed)) if lists else None
    without = in_order({value for part in conditions for value in part.without})
    missing = all(part.missing for part in conditions)
    position, feature = conditions[0].position, conditions[0].feature
    return canonical(Condition(position, feature, low, high, low_open, not closed, among, without, missing))


def canonical(given: Condition) -> Condition:
    """The same condition in the form that all conditions with its meaning share."""
    ruled_out = set(given.without)
    if given.among is not None:
        return _only(given, [value for value in given.among if value not in ruled_out and _in_bounds(given, value)])
    if given.low > given.high or (given.low == given.high and (given.low_open or given.high_open)):
        return _only(given, [])
    if given.low == given.high:
        return _only(given, [] if given.low in ruled_out else [given.low])
    without = given.without
    if without and not isinstance(without[0], str):
        without = tuple(value for value in without if given.low < value < given.high)  # type: ignore[operator]
    low_open, high_open = given.low_open or given.low in ruled_out, given.high_open or given.high in ruled_out
    return Condition(
        given.position, given.feature, given.low, given.high, low_open, high_open, None, without, given.missing
    )


def _only(given: Condition, values: list[Value]) -> Condition:
    return Condition(given.position, given.feature, among=tuple(values), missing=given.missing)


def _in_bounds(given: Condition, value: Value) -> bool:
    if isinstance(value, str):
        return True
    above = value > given.low if given.low_open else value >= given.low
    return above and (value < given.high if given.high_open else value <= given.high)


def family_of(value: Value) -> str:
    """The family of a value: number, text, date, or date with a time zone; values of two families never compare."""
    if isinstance(value, Moment):
        return "date with a time zone" if value.zoned else "date"
    return "text" if isinstance(value, str) else "number"


def with_article(family: str) -> str:
    """A family in a sentence: "a number", "text"."""
    return family if family == "text" else f"a {family}"


def in_order(values: Iterable[Value]) -> tuple[Value, ...]:
    """Values of one family, sorted."""
    return tuple(sorted(values))


# -- names and values in the text of a condition: bare if they can be read back, else quoted as in JSON ---------------


def shown_name(name: str) -> str:
    """A feature's name in a rule.

    Examples
    --------
    >>> shown_name("petal width (cm)"), shown_name("salt and pepper"), shown_name("5")
    ('petal width (cm)', '"salt and pepper"', '5')
    """
    bare = _is_plain(name, _NAME_SIGNS) and not _WORDS.search(name) and name not in _NO_NAMES
    return name if bare and not name.startswith("[") and _balanced(name, "[]") else quoted(name)


def shown_values(values: Sequence[Any], *, exact: bool) -> list[str]:
    """The values of one condition.

    Parameters
    ----------
    values : sequence
    exact : bool
        Whether numbers have all their digits; if not, seven, as many as a tree's threshold has, unless two would
        look alike, and 0 for what trees do not tell from 0. Whole numbers stand without ".0".

    Examples
    --------
    >>> shown_values([0.1234567891, 5.0], exact=False), shown_values([0.1234567891, "37", "clerk"], exact=True)
    (['0.1234568', '5'], ['0.1234567891', '"37"', 'clerk'])
    """
    texts = [_shown(value, exact) for value in values]
    return texts if len(set(texts)) == len(set(values)) else [_shown(value, exact=True) for value in values]


def shown_operator(operator: str, bound: Any, shown: str) -> str:
    """The operator with which a rounded bound means the same for all numbers that have no more digits than it shows.

    XGBoost splits by ``x < 4``, and rows are read in single precision, so the exact bound is ``x <= 3.9999999``; that
    is shown as ``x < 4``, never as ``x <= 4``.

    Examples
    --------
    >>> shown_operator("<=", 3.99999988, "4"), shown_operator("<=", 4.00000012, "4"), shown_operator(">", 4.0, "4")
    ('<', '<=', '>')
    """
    if not isinstance(bound, float) or float(shown) == bound:
        return operator
    open_or_closed = {">": ">=", "<=": "<"} if float(shown) > bound else {">=": ">", "<": "<="}
    return open_or_closed.get(operator, operator)


def quoted(text: str) -> str:
    r"""A text in quotes that `json.loads` reads, all of whose characters can be seen.

    Examples
    --------
    >>> print(quoted("say \"no\"\x7f"))
    "say \"no\"\u007f"
    """
    written = json.dumps(text, ensure_ascii=False)
    return written if written.isprintable() else "".join(map(_escaped, written))


def _escaped(character: str) -> str:
    return character if visible(character) == character else json.dumps(character)[1:-1]


def _shown(value: Any, exact: bool) -> str:
    if value is None:
        return "missing"
    if isinstance(value, str):
        bare = _is_plain(value, _SIGNS) and not _JOINS.search(value) and not are_typed(value)
        return value if bare else quoted(value)
    if isinstance(value, int | Moment):
        return str(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return _rounded(value) if abs(value) < 1e6 and not exact else repr(value)


def _rounded(value: float) -> str:
    """Seven digits; 0 for numbers that single precision rounds to 0, and for the least that LightGBM tells from 0."""
    text = f"{value:.7g}"
    return "0" if abs(value) < _LEAST_SINGLE or text.lstrip("-") == _LEAST_OF_LIGHTGBM else text


def _is_plain(text: str, signs: "re.Pattern[str]") -> bool:
    """Whether a text has no sign of the grammar in it, and nothing hidden."""
    if not text.isprintable() or text != text.strip() or text[:1] in ("", "'", "("):
        return False
    return not signs.search(text) and _balanced(text, "()")


def are_typed(text: str) -> bool:
    """Whether every word of a text would be read as something other than a text: a number, or several."""
    return bool(text) and all(TYPED.fullmatch(word) for word in text.split())


def _balanced(text: str, pair: str) -> bool:
    opening, closing = pair[0], pair[1]
    depth = 0
    for character in text:
        depth += (character == opening) - (character == closing)
        if depth < 0:
            return False
    return depth == 0
