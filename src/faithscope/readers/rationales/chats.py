"""Chats and batches of OpenAI and Anthropic, in which the model's last message is JSON with an answer and a reason."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from faithscope.explanations.structured.json_texts import json_values
from faithscope.explanations.structured.unreadable import Unreadable
from faithscope.readers.rationales.entries import AskedFields, Entry, field, first_field, has, opened
from faithscope.readers.rationales.names import EXPLANATIONS, SAID, Tiers, needed, the_field

_BODIES = ("response.body", "result.message", "response")
_REPLIES = ("choices", "output", "content", "message")


def recognizes(row: Any) -> bool:
    """Whether this is a chat, or a line of a batch's results."""
    return has(row, "messages") or (has(row, "custom_id") and (has(row, "response") or has(row, "result")))


def entries(rows: Sequence[Any], asked: AskedFields) -> tuple[list[Entry], tuple[str, ...]]:
    """One entry per line; a reply that is no JSON with both parts misses both."""
    replies, abouts = zip(*(_reply_and_case(row, asked) for row in rows), strict=True)
    pairs = zip(all_parts(replies, asked), abouts, strict=True)
    return [Entry(number, *parts, **about) for number, (parts, about) in enumerate(pairs)], ()


def _reply_and_case(row: Any, asked: AskedFields) -> tuple[Any, dict[str, Any]]:
    """The model's last message, and what it was asked about."""
    messages = opened(field(row, "messages"))
    messages = messages if isinstance(messages, list) else []
    body = first_field(row, _BODIES)
    replies = [message for message in messages if field(message, "role") in ("assistant", "model")]
    reply = text_of(replies[-1]) if replies else _reply(body)
    asked_of = [message for message in messages if message not in replies]
    return reply, asked.about(row, asked_of or field(row, "input"), first_field(row, ("custom_id", "id")))


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


def all_parts(replies: Iterable[Any], asked: AskedFields) -> list[tuple[Any, Any]]:
    """The answer and the explanation in the JSON of each reply; None for both if there is no such JSON, or several.

    Raises if no reply names one of them as usual, and the caller does not say which field it is.
    """
    held = [_object(reply) for reply in replies]
    pairs = [
        (_part(each, asked.answer, SAID, "answer"), _part(each, asked.explanation, EXPLANATIONS, "explanation"))
        for each in held
    ]
    first = next((each for each in held if each), None)
    wanted = ((asked.answer, SAID, "answer"), (asked.explanation, EXPLANATIONS, "explanation"))
    for place, (name, tiers, what) in enumerate(wanted):
        if first is not None and name is None and all(pair[place] is None for pair in pairs):
            needed(list(first), tiers, what, what)
    return pairs


def _object(reply: Any) -> Mapping[Any, Any]:
    """The only object of JSON in a reply; empty if there is none, or if there are several."""
    try:
        held = json_values(reply) if isinstance(reply, str) else [reply]
    except Unreadable:
        return {}
    known = [value for value in held if isinstance(value, Mapping)]
    return known[0] if len(known) == 1 else {}


def _part(held: Mapping[Any, Any], named: str | None, tiers: Tiers, what: str) -> Any:
    name = named or the_field(list(held), tiers, what, what)
    return None if name is None else field(held, name)
