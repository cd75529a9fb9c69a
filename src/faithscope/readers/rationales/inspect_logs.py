"""Inspect's logs: EvalLog, EvalSample and Score objects, their JSON, and the tables of samples_df."""

from collections.abc import Mapping, Sequence
from typing import Any

from faithscope.errors import BadInput
from faithscope.readers.rationales.entries import AskedFields, Entry, field, has, with_absent

_PREFIX, _SUFFIX = "score_", "_explanation"
_VALUE = "predictions are each Score's value, which its explanation explains; answer='answer' reads its answer"


def recognizes(row: Any) -> bool:
    """Whether this is a sample with its scores, a score, or a line of samples_df."""
    return _is_sample(row) or _is_verdict(row) or _is_line(row)


def entries(rows: Sequence[Any], asked: AskedFields) -> tuple[list[Entry], tuple[str, ...]]:
    """One entry per sample and scorer, and how they were read."""
    listed = [entry for number, row in enumerate(rows) for entry in _entries(number, row, asked)]
    cases = {number: _about(row, asked) for number, row in enumerate(rows) if _is_sample(row)}
    return with_absent(listed, cases), (_VALUE,) if asked.answer is None and _has_answers(rows[0]) else ()


def _entries(number: int, row: Any, asked: AskedFields) -> list[Entry]:
    chosen = asked.answer or "value"
    if _is_line(row):
        return [_line(number, row, name, asked) for name in _names(row)]
    if _is_verdict(row):
        return [Entry(number, field(row, chosen), field(row, "explanation"), **asked.about(row))]
    return [
        Entry(number, field(verdict, chosen), field(verdict, "explanation"), **_about(row, asked), name=str(name))
        for name, verdict in (field(row, "scores") or {}).items()  # none if the sample failed before it was judged
    ]


def _about(row: Any, asked: AskedFields) -> dict[str, Any]:
    given = field(row, "input")
    if _is_line(row) and isinstance(given, str):  # samples_df writes the role before a text
        given = given.removeprefix("user:\n").removesuffix("\n")
    return asked.about(row, given, field(row, "id"))


def _line(number: int, row: Mapping[str, Any], name: str, asked: AskedFields) -> Entry:
    """One scorer's part of a line of samples_df, whose columns are score_X, score_X_answer, score_X_explanation."""
    chosen = asked.answer or "value"
    column = f"{_PREFIX}{name}" + ("" if chosen == "value" else f"_{chosen}")
    answer = field(row, column) if column in row else field(row, f"{_PREFIX}{name}.{chosen.removeprefix('value.')}")
    return Entry(number, answer, field(row, f"{_PREFIX}{name}{_SUFFIX}"), **_about(row, asked), name=name)


def _names(row: Mapping[str, Any]) -> list[str]:
    """The scorers of a line of samples_df whose explanations it holds."""
    columns = [str(column) for column in row]
    names = [column[len(_PREFIX) :] for column in columns if column.startswith(_PREFIX) and column + _SUFFIX in row]
    if not names:
        raise BadInput(
            "This table of samples_df holds no explanations: make it with samples_df(logs, columns=SampleSummary + "
            "SampleScores), both of inspect_ai.analysis."
        )
    return names


def _is_line(row: Any) -> bool:
    known = isinstance(row, Mapping) and {"epoch", "eval_id", "input"} <= row.keys()
    return known and any(str(column).startswith(_PREFIX) for column in row)


def _is_sample(row: Any) -> bool:
    return has(row, "scores", "input", "epoch") and isinstance(field(row, "scores"), Mapping | None)


def _is_verdict(row: Any) -> bool:
    return has(row, "value", "answer", "explanation") and not has(row, "input")


def _has_answers(row: Any) -> bool:
    if _is_line(row):
        return any(str(column).endswith("_answer") for column in row)
    verdicts = [row] if _is_verdict(row) else list((field(row, "scores") or {}).values())
    return any(field(verdict, "answer") is not None for verdict in verdicts)
