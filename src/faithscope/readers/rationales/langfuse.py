"""Langfuse's scores: objects of its client, exports as JSON, JSON lines or CSV, and traces that hold scores."""

from collections.abc import Sequence
from typing import Any

from faithscope.readers.rationales.entries import AskedFields, Entry, field, first_field, has, opened, with_absent

_IDS = ("traceId", "trace_id", "observationId", "observation_id", "sessionId", "session_id", "subject.id")
_TYPES = ("dataType", "data_type")
_TEXTS = ("stringValue", "string_value")


def recognizes(row: Any) -> bool:
    """Whether this is a score with its comment, or a trace with a list of them."""
    held = opened(field(row, "scores"))
    return _is_verdict(row) or (isinstance(held, list) and any(map(_is_verdict, held)))


def entries(rows: Sequence[Any], asked: AskedFields) -> tuple[list[Entry], tuple[str, ...]]:
    """One entry per score; its answer is its text if it has one, else its number."""
    listed: list[Entry] = []
    cases: dict[int, dict[str, Any]] = {}
    for number, row in enumerate(rows):
        if _is_verdict(row):
            listed.append(_entry(number, row, asked.about(row, None, first_field(row, _IDS)), asked))
            continue
        cases[number] = asked.about(row, opened(field(row, "input")), field(row, "id"))
        listed += [_entry(number, verdict, cases[number], asked) for verdict in opened(field(row, "scores")) or []]
    return with_absent(listed, cases), ()


def _entry(number: int, verdict: Any, about: dict[str, Any], asked: AskedFields) -> Entry:
    """A score of numbers has none of the texts; the number of a category without a configuration is always 0."""
    answer = first_field(verdict, (*_TEXTS, "value")) if asked.answer is None else field(verdict, asked.answer)
    name = field(verdict, "name")
    return Entry(number, answer, field(verdict, "comment"), **about, name=None if name is None else str(name))


def _is_verdict(row: Any) -> bool:
    typed = any(has(row, name) for name in (*_TYPES, *_TEXTS, *_IDS[:4], "subject"))
    return has(row, "name", "value", "comment") and typed
