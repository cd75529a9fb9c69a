"""PyXAI's reasons: what ``explainer.to_features(reason, details=True)`` gives, one per row, as rules."""

from collections.abc import Mapping
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.condition import Triple
from faithscope.readers.shared.conditions import to_rules
from faithscope.readers.shared.rows import one_per_row
from faithscope.readers.shared.wanted import Wanted

_OPERATORS = {"LE": "<=", "LT": "<", "GE": ">=", "GT": ">", "EQ": "==", "NEQ": "!="}
_SIGNED, _THRESHOLD = "operator_sign_considered", "threshold"


def recognizes(thing: Any) -> bool:
    """Whether this is the reason of one row, or a list of one per row; texts of reasons are for `Rules.parse`."""
    first = next((row for row in one_per_row(thing) if not isinstance(row, Mapping | list | tuple) or row), None)
    return bool(_literals(thing)) or bool(_literals(first))


def read(thing: Any, wanted: Wanted) -> Explanations:
    """Rules over the columns that the model sees, with thresholds in full."""
    if wanted.top is not None:
        raise BadInput("top= chooses tokens of a text, and these are PyXAI's reasons: leave it out.")
    rows = [thing] if _literals(thing) else one_per_row(thing)
    return to_rules([_conditions(row, item) for row, item in enumerate(rows)], None, wanted)


def _literals(reason: Any) -> list[Any] | None:
    """The dicts of a reason, by feature or one after the other; None if this is no reason."""
    listed = list(reason.values()) if isinstance(reason, Mapping) else [reason]
    if not all(isinstance(part, list | tuple) for part in listed):
        return None
    literals = [literal for part in listed for literal in part]
    known = all(isinstance(literal, Mapping) and {"name", _SIGNED, _THRESHOLD} <= set(literal) for literal in literals)
    return literals if known else None


def _conditions(row: int, reason: Any) -> list[Triple]:
    literals = _literals(reason)
    if literals is None:
        raise BadInput(
            f"Row {row} is no reason of PyXAI's with its details ({type(reason).__name__}): pass "
            "explainer.to_features(reason, details=True) for every row."
        )
    return [(str(literal["name"]), _operator(literal[_SIGNED]), literal[_THRESHOLD]) for literal in literals]


def _operator(given: Any) -> str:
    code = str(getattr(given, "value", given))
    return _OPERATORS.get(code, code)
