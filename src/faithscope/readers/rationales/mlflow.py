"""MLflow's assessments: Feedback objects and their dicts, traces, and the tables of search_traces and evaluate."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from faithscope.explanations.base import several
from faithscope.readers.rationales.entries import AskedFields, Entry, field, first_field, has, opened, with_absent

_VALUE, _RATIONALE = "/value", "/rationale"


def recognizes(row: Any) -> bool:
    """Whether this is an assessment, or a trace or a line of a table that has some."""
    return _is_assessment(row) or _is_trace(row) or bool(_names(row))


def entries(rows: Sequence[Any], asked: AskedFields) -> tuple[list[Entry], tuple[str, ...]]:
    """One entry per valid feedback, and how many were overridden; expectations are the truth, no predictions."""
    given = [(number, row, part) for number, row in enumerate(rows) for part in _assessments(row)]
    feedback = [each for each in given if field(each[2], "expectation") is None and field(each[2], "issue") is None]
    valid = [each for each in feedback if field(each[2], "valid") is not False]
    listed = [_entry(*each, asked) for each in valid]
    listed += [entry for number, row in enumerate(rows) for entry in _flat(number, row, asked)]
    cases = {number: _about(row, asked) for number, row in enumerate(rows) if not _is_assessment(row)}
    overridden = len(feedback) - len(valid)
    told = f"{several(overridden, 'feedback was', 'feedbacks were')} overridden by a later one, and left out"
    return with_absent(listed, cases), (told,) if overridden else ()


def _entry(number: int, row: Any, part: Any, asked: AskedFields) -> Entry:
    chosen = asked.answer or "value"
    path = chosen if has(part, "value") else f"feedback.{chosen}"
    name = first_field(part, ("assessment_name", "name"))
    about = _about(part if row is part else row, asked)
    return Entry(number, field(part, path), field(part, "rationale"), **about, name=None if name is None else str(name))


def _assessments(row: Any) -> Iterable[Any]:
    if _is_assessment(row):
        return [row]
    held = opened(first_field(row, ("assessments", "info.assessments")))
    held = held.tolist() if hasattr(held, "tolist") else held
    return held if isinstance(held, list | tuple) else ()


def _flat(number: int, row: Any, asked: AskedFields) -> list[Entry]:
    """What mlflow.genai.evaluate's table holds by name, in columns such as correct/value and correct/rationale."""
    if field(row, "assessments") is not None:
        return []
    return [
        Entry(number, field(row, name + _VALUE), field(row, name + _RATIONALE), **_about(row, asked), name=name)
        for name in _names(row)
    ]


def _about(row: Any, asked: AskedFields) -> dict[str, Any]:
    request = first_field(row, ("request", "inputs", "data.request", "request_preview", "info.request_preview"))
    return asked.about(row, opened(request), first_field(row, ("trace_id", "info.trace_id", "request_id")))


def _is_assessment(row: Any) -> bool:
    named = has(row, "assessment_name") or has(row, "name", "rationale", "source")
    return named and (has(row, "feedback") or has(row, "expectation") or has(row, "value"))


def _is_trace(row: Any) -> bool:
    return has(row, "assessments") or (has(row, "info", "data") and has(field(row, "info"), "assessments"))


def _names(row: Any) -> list[str]:
    columns = [str(column) for column in row] if isinstance(row, Mapping) else []
    named = [column.removesuffix(_RATIONALE) for column in columns if column.endswith(_RATIONALE)]
    return [name for name in named if name + _VALUE in columns]
