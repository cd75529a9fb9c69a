"""Chats and batches of OpenAI and Anthropic, in which the model's last message is JSON with an answer and a reason."""

from collections.abc import Mapping, Sequence
from typing import Any

from faithscope.explanations.structured.json_texts import json_values
from faithscope.explanations.structured.unreadable import Unreadable
from faithscope.readers.rationales.entries import AskedFields, Entry, field, first_field, has, opened
from faithscope.readers.rationales.names import ANSWERS, EXPLANATIONS, the_field

_BODIES = ("response.body", "result.message", "response")
_REPLIES = ("choices", "output", "content", "message")


def recognizes(row: Any) -> bool:
    """Whether this is a chat, or a line of a batch's results."""
    return has(row, "messages") or (has(row, "custom_id") and (has(row, "response") or has(row, "result")))


def entries(rows: Sequence[Any], asked: AskedFields) -> tuple[list[Entry], tuple[str, ...]]:
    """One entry per line; a reply that is no JSON with both parts misses both."""
    return [_entry(number, row, asked) for number, row in enumerate(rows)], ()


def _entry(number: int, row: Any, asked: AskedFields) -> Entry:
    messages = opened(field(row, "messages"))
    messages = messages if isinstance(messages, list) else []
    body = first_field(row, _BODIES)
    replies = [message for message in messages if field(message, "role") in ("assistant", "model")]
    reply = text_of(replies[-1]) if replies else _reply(body)
    asked_of = [message for message in messages if message not in replies]
    about = asked.about(row, asked_of or field(row, "input"), first_field(row, ("custom_id", "id")))
    answer, rationale = parts_of(reply, asked)
    return Entry(number, answer, rationale, **about)


def _reply(body: Any) -> str | None:
    """The text of the only reply in the body of a response."""
    for name in _REPLIES:
        held = field(body, name)
        if isinstance(held, list) and held:
            messages = [field(part, "message") or part for part in held]
            texts = [text for message in messages if (text := text_of(message)) is not None]
            return "\n".join(texts) if texts else None
        if held is not None:
            return text_of(held)
    return None


def text_of(message: Any) -> str | None:
    """The text of a message, or of its parts that are texts."""
    content = message if isinstance(message, str) else first_field(message, ("content", "text"))
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    kinds = [part for part in content if field(part, "type") not in ("thinking", "reasoning", "tool_use")]
    parts = [part if isinstance(part, str) else field(part, "text") for part in kinds]
    return "\n".join(part for part in parts if isinstance(part, str)) or None


def parts_of(reply: Any, asked: AskedFields) -> tuple[Any, Any]:
    """The answer and the explanation in the JSON of a reply; None for both if there is no such JSON, or several."""
    if isinstance(reply, str):
        try:
            held = json_values(reply)
        except Unreadable:
            return None, None
    else:
        held = [reply]
    known = [value for value in held if isinstance(value, Mapping)]
    if len(known) != 1:
        return None, None
    answer = asked.answer or the_field(list(known[0]), ANSWERS, "answer", "answer")
    rationale = asked.explanation or the_field(list(known[0]), EXPLANATIONS, "explanation", "explanation")
    return (
        None if answer is None else field(known[0], answer),
        None if rationale is None else field(known[0], rationale),
    )
