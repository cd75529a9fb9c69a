"""Phoenix: Score objects, and tables with {name}_score columns, with label and explanation, or with result.label."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.base import shorten
from faithscope.readers.rationales.entries import AskedFields, Entry, field, first_field, has, opened
from faithscope.readers.rationales.names import ANSWERS, the_field

_CELL, _FLAT = "_score", "result."
_INPUTS = ("input", "attributes.input.value", "input.value", "question", "query")
_IDS = ("context.span_id", "span_id", "id")


def recognizes(row: Any) -> bool:
    """Whether this is an evaluation, or a line of a table that has some."""
    return bool(_cells(row)) or _is_evaluation(row) or has(row, _FLAT + "label", _FLAT + "explanation")


def entries(rows: Sequence[Any], asked: AskedFields) -> tuple[list[Entry], tuple[str, ...]]:
    """One entry per evaluation; its answer is its label, or its score if no evaluation of its name has a label."""
    _refuse_two_answers(rows, asked)
    labelled = _entries(rows, asked, asked.answer or "label")
    names = {entry.name for entry in labelled} - {entry.name for entry in labelled if entry.answer is not None}
    if asked.answer is not None or not names:
        return labelled, ()
    numbers = _entries(rows, asked, "score")
    pairs = zip(labelled, numbers, strict=True)
    remarks = (f"evaluations without any label are read as their scores: {shorten(sorted(map(str, names)))}",)
    return [number if number.name in names else label for label, number in pairs], remarks


def _refuse_two_answers(rows: Sequence[Any], asked: AskedFields) -> None:
    """Raise if records have an answer beside a label, which may then be the truth."""
    row = next((row for row in rows if isinstance(row, Mapping) and _is_evaluation(row)), None)
    other = None if row is None or asked.answer else the_field(list(row), ANSWERS[:1], "answer", "answer")
    if other is not None:
        raise BadInput(
            f"Both {other!r} and 'label' may hold the answer that is explained, and a label is often the truth: say "
            f"which, answer={other!r}."
        )


def _entries(rows: Sequence[Any], asked: AskedFields, chosen: str) -> list[Entry]:
    names = dict.fromkeys(name for row in rows for name in _cells(row))
    return [entry for number, row in enumerate(rows) for entry in _of_row(number, row, tuple(names), asked, chosen)]


def _of_row(number: int, row: Any, names: tuple[str, ...], asked: AskedFields, chosen: str) -> list[Entry]:
    about = asked.about(row, first_field(row, _INPUTS), first_field(row, _IDS))
    if not names:
        prefix = _FLAT if has(row, _FLAT + "label") else ""
        name = first_field(row, ("annotation_name", "name"))
        entry = Entry(number, field(row, prefix + chosen), field(row, prefix + "explanation"), **about)
        return [replace(entry, name=None if name is None else str(name))]
    cells = {name: opened(field(row, name + _CELL)) for name in names}
    return [
        Entry(number, field(cell, chosen), field(cell, "explanation"), **about, name=name)
        for name, cell in cells.items()
    ]


def _cells(row: Any) -> list[str]:
    """The names of the evaluations whose columns hold an object with a label or an explanation."""
    if not isinstance(row, Mapping):
        return []
    names = [str(column).removesuffix(_CELL) for column in row if str(column).endswith(_CELL)]
    return [name for name in names if _is_cell(opened(field(row, name + _CELL)))]


def _is_cell(cell: Any) -> bool:
    """Whether this is a score as a dict, which lacks what the score lacks."""
    return isinstance(cell, Mapping) and (has(cell, "explanation") or has(cell, "label") or has(cell, "score", "name"))


def _is_evaluation(row: Any) -> bool:
    return has(row, "label", "explanation") and has(row, "score")
