"""Inputs and rationales of logs as texts: messages of a chat, the only text of a request, or JSON."""

import json
from collections.abc import Mapping
from typing import Any

from faithscope.errors import WrongType
from faithscope.readers.rationales.chats import text_of
from faithscope.readers.rationales.entries import field, has


def input_text(given: Any) -> str | None:
    """An input as one text: of a chat what users said, of a request with one text that text, else its JSON.

    Examples
    --------
    >>> input_text([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it spam?"}])
    'Is it spam?'
    >>> input_text({"question": "Is it spam?"}), input_text({"age": 37, "job": "clerk"})
    ('Is it spam?', '{"age": 37, "job": "clerk"}')
    """
    if given is None or isinstance(given, str):
        return given
    messages = field(given, "messages") if isinstance(given, Mapping) else given
    if isinstance(messages, list) and messages and all(has(message, "role", "content") for message in messages):
        asked = [message for message in messages if field(message, "role") == "user"] or messages
        return "\n".join(text for message in asked if (text := text_of(message)) is not None)
    if isinstance(given, Mapping) and len(given) == 1 and isinstance(next(iter(given.values())), str):
        return str(next(iter(given.values())))
    return written(given)


def rationale_text(row: int, given: Any) -> str:
    """A rationale as a text; one that is an object or a list of JSON as its JSON."""
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping | list | tuple):
        return written(given)
    raise WrongType(f"Row {row} has {given!r} ({type(given).__name__}) as its rationale: rationales are texts.")


def written(value: Any) -> str:
    """A value as JSON, with what JSON does not know as its text."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(type(value).__name__)
