"""Rationales that hold conditions as JSON, as language models write them, or as Python's own dicts and lists: rules.

From the text to its JSON, from JSON to conditions, from conditions to the columns of a table, and from these to
`Rules`. What cannot be read is an error with its row, or covers no row; it is never read as a wider rule.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import several
from faithscope.explanations.conditions.condition import NOTHING, conjoin, to_condition
from faithscope.explanations.conditions.conjunctions import Conjunction, number_conjunctions
from faithscope.explanations.rule_text import ANY_OF, BOUNDS, NUMBER, OR_MISSING, SPELLINGS, Triple, to_value
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Names
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.checks import check_word, is_real
from faithscope.inputs.columns import Column, Rows, distinct_names
from faithscope.inputs.dates import WRITTEN
from faithscope.inputs.folding import fold
from faithscope.inputs.hints import hint

CHOICES = ("error", "uncovered")


class Unreadable(Exception):
    """One rationale cannot be read; its message says why."""


def remarks_on(problems: Mapping[int, str], total: int, unreadable: str, advice: str) -> tuple[str, ...]:
    """The remarks on rows that could not be read, by why; raises if that is an error, or if no row could be read."""
    if not problems:
        return ()
    first = next(iter(problems))
    count = several(len(problems), "rationale", "rationales")
    seen = f"{count} of {total:,} cannot be read; the first is row {first}: {problems[first]}"
    if unreadable == "error":
        raise BadInput(f"{seen}. {advice}")
    if len(problems) == total:
        raise BadInput(f"{seen}. None is left to measure: {advice[0].lower()}{advice[1:]}")
    told = "such rows cover no row: sufficiency cannot check them, and consistency takes them for one explanation"
    return (f"{seen}; {told}",)


def listed(names: Sequence[str], most: int = 3) -> str:
    """The first few of these names, in quotes."""
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most:,} more" if len(names) > most else "")


# -- JSON in a text ---------------------------------------------------------------------------------------------------


_FENCE = re.compile(r"```[^\S\n]*(?:[\w+-]+[^\S\n]*)?\n?")  # how a fence begins
# Of an object, or of a list of objects or lists; as JSON, or as it is written by mistake: {'age': 3}, {age: 3}.
_START = re.compile(r"""\{\s*(?:["'\u201c]|\w+\s*:)|\[\s*[\[{](?:\s*["'\u201c])?""")
_BETWEEN = re.compile(r"(?:\s|[,;&*•-]|\band\b|\d+[.)])*", re.IGNORECASE)  # what joins the items of one list
_SPACE = re.compile(r"[\s,]*")
_MOST = 100  # brackets of a text that begin no JSON, after which it is given up


def json_values(text: str) -> list[Any]:
    """The outermost objects and lists of a text, in their order; raises `Unreadable` if none can be read.

    Of a text with fences that hold JSON, only these count.

    Examples
    --------
    >>> json_values('Because: {"feature": "age", "op": ">", "value": 60}.')
    [{'feature': 'age', 'op': '>', 'value': 60}]
    """
    values = [value for _, _, value in _placed(text)]
    whole = [value for value in values if not isinstance(value, Unreadable)]
    if values and not whole:
        raise values[0]
    return whole


def _adjoining_values(text: str, wanted: Any) -> list[Any]:
    """The values of a text for which ``wanted(value)``.

    Raises if one that may be wanted is broken, or if other words than those of a list part them.
    """
    parts = _placed(text)
    for _, _, value in parts:
        if isinstance(value, Unreadable):
            raise value
    chosen = [part for part in parts if wanted(part[2])]
    for (_, end, _), (start, _, _) in pairwise(chosen):
        if not _BETWEEN.fullmatch(text, end, start):
            raise Unreadable(f"it holds {len(chosen)} pieces of JSON with words between, which may not be one rule")
    return [value for _, _, value in chosen]


def _placed(text: str) -> list[tuple[int, int, Any]]:
    """Where each value begins and ends, and the value, or why what begins like one is none."""
    start, end = len(text) - len(text.lstrip("\ufeff \t\r\n")), len(text.rstrip())
    if text[start : start + 1] in ("{", "["):
        whole = _decoded(text, start)
        if not isinstance(whole, Unreadable) and whole[1] == end:
            return [(start, end, whole[0])]
    fences, place = [], 0
    while (opening := _FENCE.search(text, place)) and (closing := text.find("```", opening.end())) >= 0:
        fences.append((opening.end(), closing))
        place = closing + 3
    holding = [fence for fence in fences if text[slice(*fence)].lstrip()[:1] in ("{", "[")]
    if not holding:
        return list(_scanned(text, 0))
    unclosed = opening.start() if opening else len(text)
    return [*(part for fence in holding for part in _in_fence(text, *fence)), *_scanned(text, unclosed)]


def _in_fence(text: str, place: int, end: int) -> Iterator[tuple[int, int, Any]]:
    """The values of one fence, which must hold nothing else."""
    while (place := _SPACE.match(text, place).end()) < end:  # type: ignore[union-attr]
        value = _decoded(text, place)
        if isinstance(value, Unreadable):
            raise value
        yield place, value[1], value[0]
        place = value[1]


def _scanned(text: str, place: int) -> Iterator[tuple[int, int, Any]]:
    """The values from here on, with words around them."""
    failures = 0
    while (match := _START.search(text, place)) is not None:
        value = _decoded(text, match.start())
        if not isinstance(value, Unreadable):
            yield match.start(), value[1], value[0]
            place = value[1]
            continue
        failures, place = failures + 1, match.start() + 1
        if failures > _MOST:
            raise Unreadable(f"it holds more than {_MOST} brackets that begin no JSON")
        if match[0][0] == "{" or match[0][-1] not in "[{":  # others may be a link or a footnote, [[1]
            yield match.start(), place, value


def _decoded(text: str, start: int) -> tuple[Any, int] | Unreadable:
    """The value that begins here and where it ends, or why there is none."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        return Unreadable("its JSON nests too deeply")
    except ValueError as why:
        return Unreadable(f"its JSON is broken ({why})")
    return value, end


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; raises if a key stands twice, of which Python would keep the last without a word."""
    held = dict(pairs)
    if len(held) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {max(keys, key=keys.count)!r} stands twice in one object")
    return held


_DECODER = json.JSONDecoder(object_pairs_hook=once)


# -- operators --------------------------------------------------------------------------------------------------------


_BLANKS = re.compile(r"[\s_-]+")
_IS = re.compile(r"(?:is|are|was|has)(?: |$)")


def to_operator(written: object) -> str:
    """The operator that rules know, or ``missing`` or ``present``, which take no value; raises if it is unknown.

    Examples
    --------
    >>> to_operator("≥"), to_operator("is_less_than"), to_operator("Equals"), to_operator("is not null")
    ('>=', '<', '==', 'present')
    """
    if not isinstance(written, str):
        raise Unreadable(f"its operator is {written!r}, not a text")
    plain = _BLANKS.sub(" ", written.strip().lower())
    if plain.endswith(OR_MISSING):
        return to_operator(plain.removesuffix(OR_MISSING)) + OR_MISSING
    if plain in ("is", "are", "was"):
        return "=="
    operator = SPELLINGS.get(plain) or SPELLINGS.get(_IS.sub("", plain, count=1))
    if operator is None:
        raise Unreadable(f"operator {written!r} is unknown (known are <, <=, >, >=, ==, !=, in, not in, between)")
    return operator


# -- conditions as objects of JSON ------------------------------------------------------------------------------------


_FEATURE = ("feature", "feature_name", "column", "field", "attribute", "variable", "name")
_OPERATOR = ("op", "operator", "comparator")
_VALUE = ("value", "values", "threshold")
_ENDS = (("low", "high"), ("lower", "upper"), ("min", "max"))
_LISTS = ("reasons", "conditions", "rules", "rationale", "explanation", "because", "and", "all")  # which may be empty
_NOT_A_CONJUNCTION = {"or", "any", "any_of", "anyof", "either", "not", "none", "none_of", "nor", "xor", "one_of"}
_NEGATIONS = {"not", "negate", "negated", "negation", "inverted", "exclude"}
_TURNING = _NOT_A_CONJUNCTION | _NEGATIONS  # beside conditions, as keys of true
_DEEPEST = 4  # objects inside objects that are looked into


def is_structured(value: Any, depth: int = 0) -> bool:
    """Whether this is a condition, a list of conditions, or an object that holds either."""
    if isinstance(value, Mapping):
        inner = depth < _DEEPEST and any(is_structured(part, depth + 1) for part in value.values())
        return _is_condition(value) or inner or bool(_empty_keys(value))
    return isinstance(value, list | tuple) and any(_is_condition(item) or _is_triple(item) for item in value)


def may_be_condition(value: Any) -> bool:
    """Whether this object has the keys of a condition, of which some may be missing or hold something else."""
    if not isinstance(value, Mapping) or _key(value, _FEATURE) is None:
        return False
    return _key(value, _OPERATOR) is not None or _key(value, _VALUE) is not None


def triples_of(value: Any, habits: Counter[str], depth: int = 0) -> list[Triple]:
    """The conditions of one rationale, as (feature, operator, value); raises `Unreadable` if it holds none.

    Parameters
    ----------
    value : dict, list or tuple
    habits : Counter
        Counts what is left aside.
    """
    if isinstance(value, Mapping) and _is_condition(value):
        return [_triple(value, habits)]
    if isinstance(value, Mapping):
        return _held(value, habits, depth)
    if not isinstance(value, list | tuple):
        raise Unreadable(f"it is {_shown(value)}, no condition")
    return [_item(place, item, habits) for place, item in enumerate(value)]


def _item(place: int, item: Any, habits: Counter[str]) -> Triple:
    if _is_condition(item):
        return _triple(item, habits)
    if _is_triple(item):
        return item[0], *_operator_and_value(item[1], item[2])
    raise Unreadable(f'item {place} is no condition ({_shown(item)}): it needs "feature", "op" and "value"')


def _held(value: Mapping[Any, Any], habits: Counter[str], depth: int) -> list[Triple]:
    """The conditions of the only part of an object that holds any."""
    parts = [key for key, part in value.items() if is_structured(part, depth + 1)] or _empty_keys(value)
    if len(parts) != 1 or depth >= _DEEPEST:
        what = f"conditions under {parts[0]!r} and {parts[1]!r}" if parts else "no condition"
        raise Unreadable(f'its JSON holds {what}: it needs {{"feature", "op", "value"}}, or one list of them')
    others = [part for key, part in value.items() if key != parts[0] and isinstance(part, str)]
    word = next((text for text in (parts[0], *others) if _plain(text) in _NOT_A_CONJUNCTION), None)
    if word is not None:
        raise Unreadable(f"its conditions are joined by {word!r}, but a rule is a conjunction")
    turned = next((key for key, part in value.items() if part is True and _plain(key) in _TURNING), None)
    if turned is not None:
        raise Unreadable(f"its conditions are turned by {turned!r}, but a rule is a conjunction")
    return triples_of(value[parts[0]], habits, depth + 1)


def _triple(item: Mapping[Any, Any], habits: Counter[str]) -> Triple:
    feature, operator = _key(item, _FEATURE), _key(item, _OPERATOR)
    low, high = next(((a, b) for a, b in _ENDS if a in item and b in item), (None, None))
    value = _key(item, _VALUE) if low is None or _key(item, _VALUE) else None
    negated = next((key for key in item if _plain(key) in _NEGATIONS and item[key]), None)
    if negated is not None:
        raise Unreadable(f"a condition is negated by {negated!r}: write the opposite operator")
    used = {feature, operator, value, *((low, high) if value is None else ())}
    for key in item:
        if key not in used:
            habits[f"what conditions say under {str(key)[:40]!r} was left aside"] += 1
    given = item[value] if value is not None else [item[low], item[high]] if low is not None else _ABSENT
    return item[feature], *_operator_and_value(item[operator], given)


_ABSENT = object()


def _operator_and_value(written: Any, given: Any) -> tuple[str, Any]:
    """The operator and the value in the form that rules take them."""
    operator = to_operator(written)
    plain, suffix = operator.removesuffix(OR_MISSING), OR_MISSING * operator.endswith(OR_MISSING)
    if plain in ("missing", "present"):
        return ("==" if plain == "missing" else "!=") + suffix, None
    if given is _ABSENT:
        raise Unreadable(f"a condition with {written!r} has no value")
    if plain == "between":
        return plain + suffix, _range(given)
    if isinstance(given, Mapping):
        raise Unreadable(f"the value of a condition is an object ({_shown(given)})")
    if isinstance(given, list | tuple):
        plain = ANY_OF.get(plain, plain)
        if plain not in ("in", "not in"):
            raise Unreadable(f"{written!r} needs one value, not a list ({_shown(given)})")
        return plain + suffix, tuple(given)
    if plain in ("in", "not in"):
        if isinstance(given, str) and ("," in given or given[:1] in "[{("):
            raise Unreadable(f"{written!r} needs a list of values; it has the text {given[:40]!r}")
        return plain + suffix, (given,)
    return plain + suffix, given


def _range(given: Any) -> tuple[Any, Any]:
    if isinstance(given, Mapping):
        ends = next(((given[a], given[b]) for a, b in _ENDS if a in given and b in given), None)
        if ends is not None:
            return ends
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise Unreadable(f"between needs [low, high]; it has {_shown(given)}")
    return given[0], given[1]


def _is_condition(item: Any) -> bool:
    """Whether this object names a feature and an operator."""
    if not isinstance(item, Mapping):
        return False
    feature, operator = _key(item, _FEATURE), _key(item, _OPERATOR)
    named = feature is not None and isinstance(item[feature], str | int) and not isinstance(item[feature], bool)
    return named and operator is not None and isinstance(item[operator], str)


def _is_triple(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 3 and all(isinstance(part, str) for part in item[:2])


def _empty_keys(value: Mapping[Any, Any]) -> list[Any]:
    """Keys under which conditions are expected, and which hold an empty list."""
    return [key for key, part in value.items() if _plain(key) in _LISTS and isinstance(part, list) and not part]


def _key(item: Mapping[Any, Any], names: Names) -> Any:
    """The first of these keys that an object has, in whatever case; None if it has none."""
    if names[0] in item:
        return names[0]
    plain = {_plain(key): key for key in item}
    return next((plain[name] for name in names if name in plain), None)


@lru_cache(1000)
def _plain(key: Any) -> str:
    return key.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(key, str) else ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


# -- columns of a table -----------------------------------------------------------------------------------------------


_NUMBER = re.compile(NUMBER, re.IGNORECASE)
_DATE = re.compile(WRITTEN)


@dataclass(frozen=True)
class Columns:
    """The features that conditions may be on.

    Attributes
    ----------
    names : tuple of str, or None
        None if any name is one.
    folded : dict from folded name to name
        Of names whose folded form is that of no other.
    held : dict from name to Column
        The columns of the table, if there is one.
    """

    names: Names | None
    folded: dict[str, str]
    held: dict[str, Column]

    @classmethod
    def of(cls, features: Any) -> "Columns":
        """From names, from the table of the rows, or from nothing."""
        if features is None:
            return cls(None, {}, {})
        rows = Rows(features) if is_frame(features) else None
        names = distinct_names(features if rows is None else rows.names)
        held = {} if rows is None else {column.name: column for column in rows.columns}
        count = Counter(map(_folded, names))
        folded = {_folded(name): name for name in names if count[_folded(name)] == 1}
        return cls(names, folded, held)

    def placed(self, triple: Triple, habits: Counter[str]) -> Triple:
        """The condition with the name of its column and a value of its family; raises if there is no such column."""
        feature, operator, value = triple
        name = self._name(feature, habits)
        ordered = operator.removesuffix(OR_MISSING) in (*BOUNDS, "between")
        column = self.held.get(name)
        family = "" if column is None else column.family.partition(" ")[0]
        family = "number or date" if ordered and family not in ("number", "text", "date") else family
        read = partial(_typed, family=family, column=column, habits=habits)
        return name, operator, tuple(map(read, value)) if isinstance(value, tuple) else read(value)

    def _name(self, feature: Any, habits: Counter[str]) -> str:
        if self.names is None:
            if isinstance(feature, int):
                raise Unreadable(f"it gives its feature by position ({feature}): pass features=, the names in order")
            return str(feature)
        if isinstance(feature, int):
            if not 0 <= feature < len(self.names):
                raise Unreadable(f"it is on column {feature}, but there are {len(self.names)} features")
            return self.names[feature]
        if feature in self.names:
            return feature  # type: ignore[no-any-return]
        near = self.folded.get(_folded(feature))
        if near is None:
            raise Unreadable(
                f"it is on {feature[:60]!r}, which is not among the features. {hint(feature, self.names)}".rstrip(".")
            )
        habits[f"feature {feature[:40]!r} was read as {near!r}"] += 1
        return near


def _folded(name: str) -> str:
    return fold(name.replace("_", " ").replace("-", " "))


def _typed(value: Any, family: str, column: Column | None, habits: Counter[str]) -> Any:
    """A value as its column has it, if it was written as the text of one, or as a number in place of a text."""
    written = value.strip() if isinstance(value, str) else ""
    how = ""
    if family in ("number", "number or date") and _NUMBER.fullmatch(written):
        how = "numbers"
    elif family == "number" and written.lower() in ("true", "false"):
        how = "truth values"
    if how:
        habits[f"values written as texts, such as {value!r}, were read as {how}"] += 1
    if how or (family in ("date", "number or date") and _DATE.fullmatch(written)):
        try:
            return to_value(written)
        except ValueError as why:
            raise Unreadable(f"{written[:60]!r} is {why}") from None
    if column is not None and family == "text" and is_real(value) and value == value:
        habits[f"values written as numbers, such as {value!r}, were read as texts, as their column holds"] += 1
        whole = [f"{value:.0f}", f"{value:.1f}"] if isinstance(value, float) and value.is_integer() else [f"{value}.0"]
        return next((text for text in (str(value), *whole) if (column.values == text).any()), str(value))
    return value


# -- rules ------------------------------------------------------------------------------------------------------------


_ADVICE = (
    'Write {"feature": "age", "op": "<=", "value": 37}, or a list of such objects; '
    'fs.Reasons(texts).to_rules(unreadable="uncovered") counts such rows as unverifiable, fs.Reasons(texts) compares '
    "texts as they are, and rules in words are read by fs.Rules.parse."
)


def structured_rules(rationales: Iterable[Any], features: Any, unreadable: str) -> Rules:
    """One rule per rationale.

    Parameters
    ----------
    rationales : iterable of str, dict or list
    features : sequence of names, a table of rows, or None
    unreadable : {"error", "uncovered"}
    """
    check_word(unreadable, "unreadable", CHOICES)
    columns = Columns.of(features)
    places = {name: place for place, name in enumerate(columns.names or ())}  # else in order of appearance
    conjunctions: list[Conjunction] = []
    problems: dict[int, str] = {}
    habits, empty = Counter[str](), 0

    def read(given: Any) -> tuple[Conjunction, Counter[str], str | None]:
        """The rule of one rationale, habits seen in it, and why it cannot be read: None if it can, "" if it is bare."""
        seen = Counter[str]()
        try:
            triples = [columns.placed(triple, seen) for triple in _triples(given, seen)]
            for name, *_ in triples:
                places.setdefault(name, len(places))
            parts = conjoin(to_condition(places[name], name, *test) for name, *test in triples)
        except Unreadable as problem:
            return (NOTHING,), seen, str(problem)
        except BadInput as problem:
            return (NOTHING,), seen, str(problem).rstrip(".")
        return parts, seen, None if triples else ""

    known = cache(read)  # texts may come many times
    for row, given in enumerate(rationales):
        parts, seen, why = (known if isinstance(given, str) else read)(given)
        conjunctions.append(parts)
        habits.update(seen)
        if why:
            problems[row] = why
        empty += why == ""
    remarks = [*remarks_on(problems, len(conjunctions), unreadable, _ADVICE)]
    remarks += [f"{sentence} ({several(count, 'time', 'times')})" for sentence, count in habits.most_common(5)]
    if empty:
        told = several(empty, "rationale names", "rationales name")
        remarks.append(f"{told} no condition, so every row is covered by it")
    distinct, codes = number_conjunctions(conjunctions)
    names = tuple(places)
    rules = Rules(codes, distinct, names, positional=columns.names is not None or not names)
    return rules._with(remarks=tuple(remarks))


def _triples(given: Any, habits: Counter[str]) -> list[Triple]:
    if not isinstance(given, str):  # arrays, as Arrow's and polars' tables give lists
        return triples_of(given.tolist() if isinstance(given, np.ndarray) and given.ndim else given, habits)
    values = _adjoining_values(given, lambda value: value == [] or is_structured(value) or may_be_condition(value))
    if not values:
        raise Unreadable(f"it holds no conditions as JSON ({given[:60]!r})")
    return [triple for value in values for triple in triples_of(value, habits)]
