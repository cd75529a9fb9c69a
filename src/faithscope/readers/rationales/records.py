"""Records with an input, an answer and an explanation: lines of a file, dicts, or the rows of a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from faithscope.errors import BadInput
from faithscope.readers.rationales.chats import all_parts
from faithscope.readers.rationales.entries import AskedFields, Entry, field
from faithscope.readers.rationales.names import ANSWERS, EXPLANATIONS, IDS, INPUTS, needed, the_field

_REPLIES = ("output", "response", "completion", "content", "reply")  # which may hold answer and explanation as JSON


def entries(rows: Sequence[Any], asked: AskedFields) -> tuple[list[Entry], tuple[str, ...]]:
    """One entry per record."""
    known = _fields(rows)
    about_input = asked.input or the_field(known, INPUTS, "input", "input")
    about_id = asked.id or the_field(known, IDS, "id", "id")
    rationale = asked.explanation if asked.explanation and any_holds(rows, asked.explanation) else None
    if asked.explanation is None:
        rationale = the_field(known, EXPLANATIONS, "explanation", "explanation")
    reply = None if rationale is not None else next((name for name in _REPLIES if name in known), None)
    pairs = all_parts((field(row, reply) for row in rows), asked) if reply else _parts(rows, known, rationale, asked)
    listed = [
        Entry(
            number,
            *pair,
            input=field(row, about_input) if about_input else None,
            id=field(row, about_id) if about_id else None,
        )
        for number, (row, pair) in enumerate(zip(rows, pairs, strict=True))
    ]
    return listed, ()


def _parts(
    rows: Sequence[Any], known: Sequence[str], rationale: str | None, asked: AskedFields
) -> list[tuple[Any, Any]]:
    """The answer and the explanation of each record."""
    explanation = rationale or asked.explanation or needed(known, EXPLANATIONS, "explanation", "explanation")
    answer = asked.answer or _answer(known)
    return [(field(row, answer), field(row, explanation)) for row in rows]


def any_holds(rows: Sequence[Any], path: str) -> bool:
    """Whether a field of any record is not missing."""
    return any(field(row, path) is not None for row in rows)


def _answer(known: Sequence[str]) -> str:
    """The field of the answer; beside a response, "answer" may be the one that is right."""
    name = needed(known, ANSWERS, "answer", "answer")
    reply = the_field(known, ANSWERS[1:], "answer", "answer")
    if name.strip().lower() == "answer" and reply is not None:
        raise BadInput(
            f"{name!r} may be what is right, and {reply!r} what the model said: say which holds the model's, such as "
            f"answer={reply!r}."
        )
    return name


def _fields(rows: Sequence[Any]) -> list[str]:
    """The fields of all records, in order of appearance."""
    odd = next(
        (number for number, row in enumerate(rows) if not isinstance(row, Mapping) and not _has_fields(row)), None
    )
    if odd is not None:
        raise BadInput(
            f"Row {odd} is no record with fields ({type(rows[odd]).__name__}): pass dicts with input, answer and "
            "explanation, a table, or the path of a file of them."
        )
    return list(dict.fromkeys(str(name) for row in rows for name in (row if isinstance(row, Mapping) else vars(row))))


def _has_fields(row: Any) -> bool:
    return hasattr(row, "__dict__") and not isinstance(row, type)
