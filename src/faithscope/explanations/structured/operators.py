"""Operators as people and language models write them, and those that rules know."""

import re

from faithscope.explanations.conditions.condition import OR_MISSING
from faithscope.explanations.structured.unreadable import Unreadable

_WRITTEN = {
    "<": "lt|less|less than|lesser than|fewer than|smaller than|lower than|below|under",
    "<=": "≤|⩽|≦|=<|le|lte|leq|at most|less than or equal|less than or equal to|less or equal|no more than|"
    "not more than|not greater than|up to",
    ">": "gt|greater|greater than|more than|larger than|higher than|bigger than|above|over|exceeds",
    ">=": "≥|⩾|≧|=>|ge|gte|geq|at least|greater than or equal|greater than or equal to|greater or equal|no less than|"
    "not less than",
    "==": "=|===|eq|equal|equals|equal to",
    "!=": "≠|!==|<>|ne|neq|not|not equal|not equal to|not equals|does not equal",
    "in": "∈|isin|one of|any of|among",
    "not in": "∉|nin|notin|not one of|none of|not among",
    "between": "range|in range|within|inclusive between",
    "missing": "null|none|na|nan|absent|empty",
    "present": "not null|not missing|notnull|not none|not na|exists",
}
_KNOWN = {word: operator for operator, words in _WRITTEN.items() for word in (operator, *words.split("|"))}
_SPACES = re.compile(r"[\s_-]+")
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
    plain = _SPACES.sub(" ", written.strip().lower())
    if plain.endswith(OR_MISSING):
        return to_operator(plain.removesuffix(OR_MISSING)) + OR_MISSING
    if plain in ("is", "are", "was"):
        return "=="
    operator = _KNOWN.get(plain) or _KNOWN.get(_IS.sub("", plain, count=1))
    if operator is None:
        raise Unreadable(f"operator {written!r} is unknown (known are <, <=, >, >=, ==, !=, in, not in, between)")
    return operator
