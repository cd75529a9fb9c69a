"""Rationales that hold conditions as JSON, as language models write them, or as Python's own dicts and lists: rules.

A condition is an object ``{"feature", "op", "value"}``, a rationale one of these, a list of them, or an object whose
only list of them stands under a key such as "reasons". A text holds one rationale and nothing else that begins like
JSON. What cannot be read is an error with its row, or covers no row; it is never read as a wider rule.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.base import members
from faithscope.explanations.conditions.condition import conjoin, to_condition
from faithscope.explanations.rule_text import ANY_OF, BOUNDS, NEVER, SPELLINGS, Triple, to_value
from faithscope.explanations.rules import Rules
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.checks import check_word, is_real
from faithscope.inputs.columns import Rows, distinct_names
from faithscope.inputs.dates import Moment
from faithscope.words import hint, several


class Unreadable(BadInput):
    """One rationale cannot be read; its message says why."""


# -- JSON in a text ---------------------------------------------------------------------------------------------------

# Of an object, of a list of them, or of an empty list in a fence; as JSON, or as it is written by mistake: {age: 3}.
_START = re.compile(r"""\{\s*(?:["'\u201c]|\w+\s*:)|\[\s*(?:\{|\]\s*(?:```|\Z))""")


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; raises if a key stands twice, of which Python would keep the last without a word."""
    held = dict(pairs)
    if len(held) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {max(keys, key=keys.count)!r} stands twice in one object")
    return held


_DECODER = json.JSONDecoder(object_pairs_hook=once)


def json_value(text: str) -> Any:
    """The only object or list of objects in a text; raises `Unreadable` if there is none, or anything else like one.

    Examples
    --------
    >>> json_value('Because: {"feature": "age", "op": ">", "value": 60}.')
    {'feature': 'age', 'op': '>', 'value': 60}
    """
    start = _START.search(text)
    if start is None:
        raise Unreadable(f"it holds no conditions as JSON ({text[:60]!r})")
    try:
        value, end = _DECODER.raw_decode(text, start.start())
    except RecursionError:
        raise Unreadable("its JSON nests too deeply") from None
    except ValueError as why:
        raise Unreadable(f"its JSON is broken ({why})") from None
    if _START.search(text, end):
        raise Unreadable("it holds several pieces of JSON, which may not be one rule")
    return value


# -- conditions as objects of JSON ------------------------------------------------------------------------------------

_LISTS = {"reasons", "conditions", "rules", "rationale", "explanation", "because", "and", "all"}
_BESIDE = {"answer", "label", "prediction", "decision", "confidence"}  # may stand beside the list of conditions


def _is_condition(item: Any) -> bool:
    """Whether this object names a feature and an operator."""
    return isinstance(item, Mapping) and all(isinstance(item.get(key), str) for key in ("feature", "op"))


def _items(value: Any) -> Any:
    """The list of conditions that a rationale is, or holds under its only key of those; else what it is."""
    held = [key for key in value if key not in _BESIDE] if isinstance(value, Mapping) else []
    if len(held) == 1 and held[0] in _LISTS:
        value = value[held[0]]
    return [value] if _is_condition(value) else value


def is_structured(value: Any) -> bool:
    """Whether this is a condition, a list with conditions, or an object that holds either."""
    items = _items(value)
    return isinstance(items, list | tuple) and any(map(_is_condition, items))


def triples_of(value: Any) -> list[Triple]:
    """The conditions of one rationale, as (feature, operator, value); raises `Unreadable` if it holds anything else."""
    items = _items(value)
    listed = members(items)
    for item in [items] if listed is None else listed:
        if not _is_condition(item):
            raise Unreadable(f"{repr(item)[:60]} is no condition, and no list of conditions under one key")
    return list(map(_triple, listed or ()))


def _triple(item: Mapping[str, Any]) -> Triple:
    """One condition, in the form that rules take it; its operator as it is written if it is not known."""
    odd = next((key for key in item if key not in ("feature", "op", "value")), None)
    if odd is not None:
        raise Unreadable(f'a condition has {odd!r} beside its "feature", "op" and "value"')
    plain = re.sub(r"[\s_-]+", " ", item["op"].strip().lower())
    bare = re.sub(r"^(?:is|are|was|has)\b ?", "", plain) or "=="
    operator = SPELLINGS.get(plain) or SPELLINGS.get(bare) or item["op"]
    if operator in ("missing", "present") and item.get("value") is None:
        return item["feature"], "==" if operator == "missing" else "!=", None
    if "value" not in item:
        raise Unreadable(f"a condition with {item['op']!r} has no value")
    if isinstance(item["value"], list | tuple):
        return item["feature"], ANY_OF.get(operator, operator), tuple(item["value"])
    return item["feature"], operator, item["value"]


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
    check_word(unreadable, "unreadable", ("error", "uncovered"))
    rows = Rows(features) if is_frame(features) else None
    known = None if features is None else distinct_names(features if rows is None else rows.names)
    families = {} if rows is None else {column.name: column.family.partition(" ")[0] for column in rows.columns}

    def read(given: Any) -> tuple[list[Triple], list[str]]:
        """The conditions of one rationale, and what was changed in them; or `BadInput`."""
        notes: list[str] = []
        triples: list[Triple] = []
        for feature, operator, value in triples_of(json_value(given) if isinstance(given, str) else given):
            if known is not None and feature not in known:
                raise Unreadable(f"it is on {feature[:60]!r}, which is not among the features. {hint(feature, known)}")
            family = families.get(feature) or ("date" if operator in (*BOUNDS, "between") else "")
            if isinstance(value, tuple):
                value = tuple(_typed(item, family, notes) for item in value)
            triples.append((feature, operator, _typed(value, family, notes)))
        names = [feature for feature, *_ in triples]
        conjoin(to_condition(names.index(triple[0]), *triple) for triple in triples)
        return triples, notes

    cached = cache(read)  # texts may come many times
    conditions: list[list[Triple]] = []
    problems: dict[int, str] = {}
    changed = Counter[str]()
    for row, given in enumerate(rationales):
        try:
            triples, notes = (cached if isinstance(given, str) else read)(given)
        except BadInput as problem:
            triples, notes, problems[row] = [NEVER], [], str(problem).rstrip(".")
        conditions.append(triples)
        changed.update(notes)
    remarks = []
    if problems:
        first, count = next(iter(problems)), several(len(problems), "rationale", "rationales")
        seen = f"{count} of {len(conditions):,} cannot be read; the first is row {first}: {problems[first]}"
        if unreadable == "error" or len(problems) == len(conditions):
            raise BadInput(f"{seen}. {_ADVICE}")
        remarks.append(f"{seen}; such rows cover no row, and are one explanation")
    remarks += [f"{sentence} ({several(times, 'time', 'times')})" for sentence, times in changed.most_common(5)]
    if empty := conditions.count([]):
        told = several(empty, "rationale names", "rationales name")
        remarks.append(f"{told} no condition, so every row is covered by it")
    return Rules.from_conditions(conditions, known)._with(remarks=tuple(remarks))


def _typed(value: Any, family: str, notes: list[str]) -> Any:
    """A value as its column has it, if it was written as the text of one, or as a number in place of a text."""
    read, how = value, "texts, such as {!r}, were read as numbers"
    if family in ("number", "date") and isinstance(value, str):
        try:
            read = to_value(value.strip())
        except ValueError:
            raise Unreadable(f"{value[:60]!r} is no date that there is, and no number with so few digits") from None
    elif family == "text" and is_real(value) and value == value:
        read, how = str(int(value) if value % 1 == 0 else value), "numbers, such as {!r}, were read as texts"
    if read is None or type(read) is type(value):
        return value
    notes += [] if isinstance(read, Moment) else ["values written as " + how.format(value)]
    return read
