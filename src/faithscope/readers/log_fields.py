"""The fields of whatever holds a row of a log, what they are usually called, and the texts of messages."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from faithscope.errors import BadInput
from faithscope.inputs.missing import is_missing


def field(thing: Any, path: str) -> Any:
    """The value of a field, or of a field of a field (``"value.a"``); None if it is missing.

    Examples
    --------
    >>> field({"value": {"a": 3}}, "value.a"), field({"value.a": 4}, "value.a"), field({}, "value")
    (3, 4, None)
    """
    value = thing.get(path) if isinstance(thing, Mapping) else getattr(thing, path, None)
    if is_missing(value) or callable(value):
        first, _, rest = path.partition(".")
        return field(opened(field(thing, first)), rest) if rest else None
    return value


def has(thing: Any, *names: str) -> bool:
    """Whether a row has all these fields, missing or not."""
    return all(name in thing if isinstance(thing, Mapping) else hasattr(thing, name) for name in names)


def first_field(thing: Any, names: Iterable[str]) -> Any:
    """The first of these fields that is not missing."""
    return next((value for name in names if (value := field(thing, name)) is not None), None)


def opened(value: Any) -> Any:
    """What the JSON text of an object or a list holds; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


# Of each tier exactly one may occur; the next tier counts only if none of the first does. A "label" is often the truth.
ANSWERS = (("answer", "prediction", "predicted", "verdict", "decision"), ("output", "response", "completion"))
EXPLANATIONS = (
    ("explanation", "rationale", "reason", "reasons", "reasoning", "justification"),
    ("comment", "chain_of_thought", "cot", "thoughts", "thinking"),
)
INPUTS = (("input", "inputs"), ("prompt", "question", "query", "text", "document", "request"))
SAID = (*ANSWERS, ("label", "class", "category"))  # in a reply, where all of it is the model's
IDS = (("custom_id",), ("id", "case_id", "uuid"), ("sample_id", "trace_id"))

Tiers = tuple[tuple[str, ...], ...]


def the_field(known: Sequence[str], tiers: Tiers, what: str) -> str | None:
    """The only field that has one of the names, in whatever case; None if there is none, an error if there are two."""
    for tier in tiers:
        named = [name for word in tier for name in known if name.strip().lower() == word]
        if len(named) > 1:
            raise BadInput(f"Both {named[0]!r} and {named[1]!r} may hold the {what}: say which, {what}={named[0]!r}.")
        if named:
            return named[0]
    return None


def needed(known: Sequence[str], tiers: Tiers, what: str) -> str:
    """`the_field`, or an error if there is none."""
    name = the_field(known, tiers, what)
    if name is None:
        listed = ", ".join(map(repr, known[:12])) or "none"
        which = "what the model said, not the truth" if what == "answer" else f"the {what}"
        raise BadInput(f"No field looks like the {what}; there are {listed}: name the one that holds {which}, {what}=.")
    return name


def text_of(message: Any) -> str | None:
    """The text of a message, or of its parts that are texts; None if there is none."""
    content = message if isinstance(message, str) else first_field(message, ("content", "text"))
    parts = content if isinstance(content, list) else [content]
    texts = [part if isinstance(part, str) else field(part, "text") for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


def input_text(given: Any) -> str | None:
    """An input as one text: of a chat what users said, of a request with one text that text, else its JSON.

    Examples
    --------
    >>> input_text([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it spam?"}])
    'Is it spam?'
    >>> input_text({"question": "Is it spam?"}), input_text({"age": 37, "job": "clerk"})
    ('Is it spam?', '{"age": 37, "job": "clerk"}')
    """
    messages = field(given, "messages") if isinstance(given, Mapping) else given
    if isinstance(messages, list) and messages and all(has(message, "role", "content") for message in messages):
        asked = [message for message in messages if field(message, "role") == "user"] or messages
        return "\n".join(filter(None, map(text_of, asked)))
    if isinstance(given, Mapping) and len(given) == 1 and isinstance(next(iter(given.values())), str):
        return str(next(iter(given.values())))
    return given if given is None or isinstance(given, str) else written(given)


def written(value: Any) -> str:
    """A value as JSON, with what JSON does not know as its text."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__
