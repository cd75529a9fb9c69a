"""Rationales that hold conditions as JSON, as language models write them, or as Python's own dicts and lists: rules.

From the text to its JSON, from JSON to conditions, from conditions to the columns of a table, and from these to
`Rules`. What cannot be read is an error with its row, or covers no row; it is never read as a wider rule.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
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


_FENCE = re.compile(r"```\w*")
_EMPTY = re.compile(r"```\w*\s*\[\s*\]\s*```")  # a list of no conditions
# Of an object, or of a list of objects or lists; as JSON, or as it is written by mistake: {'age': 3}, {age: 3}.
_START = re.compile(r"""\{\s*(?:["'\u201c]|\w+\s*:)|\[\s*[\[{](?:\s*["'\u201c])?""")
_BETWEEN = re.compile(r"(?:\s|[,;&*•-]|\band\b|\d+[.)])*", re.IGNORECASE)  # what joins the items of one list
_MOST = 100  # brackets of a text that begin no JSON, after which it is given up


def json_values(text: str) -> list[Any]:
    """The outermost objects and lists of a text, in their order; raises `Unreadable` if none can be read.

    Examples
    --------
    >>> json_values('Because: {"feature": "age", "op": ">", "value": 60}.')
    [{'feature': 'age', 'op': '>', 'value': 60}]
    """
    values = [value for _, value in _pieces(text)]
    whole = [value for value in values if not isinstance(value, Unreadable)]
    if values and not whole:
        raise values[0]
    return whole


def _pieces(text: str) -> list[tuple[str, Any]]:
    """What stands before each object or list of a text, and its value, or why what begins like one is none."""
    text = text.strip("\ufeff \t\r\n")
    whole = _decoded(text, 0)
    if text[:1] in ("{", "[") and not isinstance(whole, Unreadable) and whole[1] == len(text):
        return [("", whole[0])]
    empty = _EMPTY.search(text)
    text = _FENCE.sub(" ", text).strip()
    pieces: list[tuple[str, Any]] = []
    place = end = failures = 0
    while (match := _START.search(text, place)) is not None:
        start, value = match.start(), _decoded(text, match.start())
        place = start + 1
        if not isinstance(value, Unreadable):
            pieces.append((text[end:start], value[0]))
            place = end = value[1]
        elif failures == _MOST:
            raise Unreadable(f"it holds more than {_MOST} brackets that begin no JSON")
        else:
            failures += 1
            if match[0][0] == "{" or match[0][-1] not in "[{":  # others may be a link or a footnote, [[1]
                pieces.append((text[end:start], value))
    return pieces or ([("", [])] if empty else [])


def _decoded(text: str, start: int) -> tuple[Any, int] | Unreadable:
    """The value that begins here and where it ends, or why there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        return Unreadable("its JSON nests too deeply")
    except ValueError as why:
        return Unreadable(f"its JSON is broken ({why})")


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; raises if a key stands twice, of which Python would keep the last without a word."""
    held = dict(pairs)
    if len(held) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {max(keys, key=keys.count)!r} stands twice in one object")
    return held


_DECODER = json.JSONDecoder(object_pairs_hook=once)


# -- operators --------------------------------------------------------------------------------------------------------


_IS = re.compile(r"(?:is|are|was|has)(?: |$)")


def to_operator(written: str) -> str:
    """The operator that rules know, or ``missing`` or ``present``, which take no value; raises if it is unknown.

    Examples
    --------
    >>> to_operator("≥"), to_operator("is_less_than"), to_operator("Equals"), to_operator("is not null")
    ('>=', '<', '==', 'present')
    """
    plain = re.sub(r"[\s_-]+", " ", written.strip().lower())
    bare = plain.removesuffix(OR_MISSING)
    operator = SPELLINGS.get(bare) or SPELLINGS.get(_IS.sub("", bare, count=1) or "==")
    if operator is None:
        raise Unreadable(f"operator {written!r} is unknown (known are <, <=, >, >=, ==, !=, in, not in, between)")
    return operator + plain[len(bare) :]


# -- conditions as objects of JSON ------------------------------------------------------------------------------------


_PARTS = {  # of a condition, each with the keys under which it may stand
    "feature": "feature feature_name column field attribute variable name",
    "op": "op operator comparator",
    "value": "value values threshold",
    "low": "low lower min",
    "high": "high upper max",
    "negated": "not negate negated negation inverted exclude",
}
_LISTS = re.compile("reasons|conditions|rules|rationale|explanation|because|and|all")  # which may be empty
_NOT_A_CONJUNCTION = re.compile("or|any|any_of|anyof|either|not|none|none_of|nor|xor|one_of")
_DEEPEST = 4  # objects inside objects that are looked into
_ABSENT = object()


def is_structured(value: Any, depth: int = 0) -> bool:
    """Whether this is a condition, a list of conditions, or an object that holds either."""
    if isinstance(value, Mapping):
        return _is_condition(value) or (depth < _DEEPEST and bool(_held_keys(value, depth)))
    return isinstance(value, list | tuple) and any(_is_condition(item) or _is_triple(item) for item in value)


def _held_keys(value: Mapping[Any, Any], depth: int) -> list[Any]:
    """The keys of an object that hold conditions; else those under which they are expected, with an empty list."""
    held = [key for key, part in value.items() if is_structured(part, depth + 1)]
    return held or [key for key, part in value.items() if part == [] and _LISTS.fullmatch(_plain(key))]


def _may_be_condition(value: Any) -> bool:
    """Whether this object has the keys of a condition, of which some may be missing or hold something else."""
    keys = _keys(value) if isinstance(value, Mapping) else {}
    return "feature" in keys and ("op" in keys or "value" in keys)


def triples_of(value: Any, habits: Counter[str], depth: int = 0) -> list[Triple]:
    """The conditions of one rationale, as (feature, operator, value); raises `Unreadable` if it holds none.

    Parameters
    ----------
    value : dict, list or tuple
    habits : Counter
        Counts what is left aside.
    """
    if isinstance(value, list | tuple):
        return [_item(place, item, habits) for place, item in enumerate(value)]
    if not isinstance(value, Mapping):
        raise Unreadable(f"it is {_shown(value)}, no condition")
    if _is_condition(value):
        return [_triple(value, habits)]
    parts = _held_keys(value, depth)
    if len(parts) != 1 or depth >= _DEEPEST:
        what = f"conditions under {parts[0]!r} and {parts[1]!r}" if parts else "no condition"
        raise Unreadable(f'its JSON holds {what}: it needs {{"feature", "op", "value"}}, or one list of them')
    marks = [key for key, part in value.items() if part is True]
    words = [*parts, *marks, *(part for part in value.values() if isinstance(part, str))]
    word = next((word for word in words if _NOT_A_CONJUNCTION.fullmatch(_plain(word))), None)
    word = word or next((mark for mark in marks if "negated" in _keys({mark: True})), None)
    if word is not None:
        raise Unreadable(f"its conditions are joined or turned by {word!r}, but a rule is a conjunction")
    return triples_of(value[parts[0]], habits, depth + 1)


def _item(place: int, item: Any, habits: Counter[str]) -> Triple:
    if _is_condition(item):
        return _triple(item, habits)
    if _is_triple(item):
        return item[0], *_operator_and_value(item[1], item[2])
    raise Unreadable(f'item {place} is no condition ({_shown(item)}): it needs "feature", "op" and "value"')


def _triple(item: Mapping[Any, Any], habits: Counter[str]) -> Triple:
    keys = _keys(item)
    if item.get(keys.get("negated")):
        raise Unreadable(f"a condition is negated by {keys['negated']!r}: write the opposite operator")
    ends = [item[keys[end]] for end in ("low", "high") if end in keys]
    used = {"feature", "op"} | ({"value"} if "value" in keys or len(ends) < 2 else {"low", "high"})
    for key in set(item) - {keys.get(part) for part in used}:
        habits[f"what conditions say under {str(key)[:40]!r} was left aside"] += 1
    given = item[keys["value"]] if "value" in keys else ends if len(ends) == 2 else _ABSENT
    return item[keys["feature"]], *_operator_and_value(item[keys["op"]], given)


def _operator_and_value(written: str, given: Any) -> tuple[str, Any]:
    """The operator and the value in the form that rules take them."""
    operator = to_operator(written)
    plain = operator.removesuffix(OR_MISSING)
    suffix, several = operator[len(plain) :], isinstance(given, list | tuple)
    if plain in ("missing", "present"):
        return ("==" if plain == "missing" else "!=") + suffix, None
    if given is _ABSENT:
        raise Unreadable(f"a condition with {written!r} has no value")
    if plain == "between" and not (several and len(given) == 2):
        raise Unreadable(f"between needs [low, high]; it has {_shown(given)}")
    if isinstance(given, Mapping):
        raise Unreadable(f"the value of a condition is an object ({_shown(given)})")
    if several:
        plain = ANY_OF.get(plain, plain)
        if plain in BOUNDS:
            raise Unreadable(f"{written!r} needs one value, not a list ({_shown(given)})")
        return plain + suffix, tuple(given)
    if plain in ANY_OF.values():
        if isinstance(given, str) and ("," in given or given[:1] in "[{("):
            raise Unreadable(f"{written!r} needs a list of values; it has the text {given[:40]!r}")
        return plain + suffix, (given,)
    return plain + suffix, given


def _is_condition(item: Any) -> bool:
    """Whether this object names a feature and an operator."""
    keys = _keys(item) if isinstance(item, Mapping) else {}
    if not {"feature", "op"} <= keys.keys():
        return False
    feature = item[keys["feature"]]
    return isinstance(feature, str | int) and not isinstance(feature, bool) and isinstance(item[keys["op"]], str)


def _is_triple(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 3 and all(isinstance(part, str) for part in item[:2])


def _keys(item: Mapping[Any, Any]) -> dict[str, Any]:
    """The key of each part of a condition that an object has, in whatever case."""
    plain = {_plain(key): key for key in item}
    known = {part: next((plain[key] for key in keys.split() if key in plain), _ABSENT) for part, keys in _PARTS.items()}
    return {part: key for part, key in known.items() if key is not _ABSENT}


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
        read = partial(_typed, family=family, habits=habits)
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


def _typed(value: Any, family: str, habits: Counter[str]) -> Any:
    """A value as its column has it, if it was written as the text of one, or as a number in place of a text."""
    written = value.strip() if isinstance(value, str) else ""
    how = ""
    if family in ("number", "number or date") and _NUMBER.fullmatch(written):
        how = "numbers"
    elif family == "number" and written.lower() in ("true", "false"):
        how = "truth values"
    elif family == "text" and is_real(value) and value == value:
        how, value = "texts, as their column holds", int(value) if value % 1 == 0 else value
    if how:
        habits[f"values written as {'texts' if written else 'numbers'}, such as {value!r}, were read as {how}"] += 1
    if family == "text":
        return str(value) if how else value
    if how or (family in ("date", "number or date") and _DATE.fullmatch(written)):
        try:
            return to_value(written)
        except ValueError as why:
            raise Unreadable(f"{written[:60]!r} is {why}") from None
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
    pieces = _pieces(given)
    for _, value in pieces:
        if isinstance(value, Unreadable):
            raise value
    wanted = [at for at, (_, it) in enumerate(pieces) if it == [] or is_structured(it) or _may_be_condition(it)]
    pieces = pieces[wanted[0] : wanted[-1] + 1] if wanted else []
    values = [value for _, value in pieces]
    if len(wanted) < len(values) or not all(_BETWEEN.fullmatch(before) for before, _ in pieces[1:]):
        raise Unreadable(f"it holds {len(values)} pieces of JSON with words between, which may not be one rule")
    if not values:
        raise Unreadable(f"it holds no conditions as JSON ({given[:60]!r})")
    return [triple for value in values for triple in triples_of(value, habits)]
