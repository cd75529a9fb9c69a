"""Conditions as dicts, {"feature", "op", "value"}, or their JSON, one rationale per row, as rules."""

from collections.abc import Mapping
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.structured.json_texts import json_values
from faithscope.explanations.structured.rules import structured_rules
from faithscope.explanations.structured.statements import is_structured
from faithscope.explanations.structured.unreadable import Unreadable
from faithscope.readers.shared.rows import one_per_row
from faithscope.readers.shared.wanted import Wanted


def recognizes(thing: Any) -> bool:
    """Whether the first row that holds anything is such a dict, a list of them, or the JSON of either and no more."""
    first = next((row for row in one_per_row(thing) if not isinstance(row, str | Mapping | list) or row), None)
    if isinstance(first, str):
        return first.lstrip()[:1] in ("{", "[") and any(map(_is_conditions, _values(first)))
    return _is_conditions(first)


def read(thing: Any, wanted: Wanted) -> Explanations:
    """Rules over the features that the caller names, or those that conditions name."""
    wanted.refuse_class("these are rules")
    if wanted.top is not None:
        raise BadInput("top= chooses tokens of a text, and these are conditions: leave it out.")
    return structured_rules(one_per_row(thing), wanted.features, "error")


def _is_conditions(value: Any) -> bool:
    """Whether conditions are dicts; lists of three are read otherwise."""
    holds = isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(item, Mapping) for item in value))
    return holds and bool(value) and is_structured(value)


def _values(text: str) -> list[Any]:
    try:
        return json_values(text)
    except Unreadable:
        return []
