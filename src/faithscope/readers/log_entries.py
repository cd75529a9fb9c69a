"""One rationale of a log, the fields of whatever holds it, and what they are usually called."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.missing import is_missing

MISSING = "missing"  # the label of a missing answer that is kept


@dataclass(frozen=True)
class Entry:
    """One rationale of a log.

    Attributes
    ----------
    row : int
        Which row or line of the log it comes from.
    answer, rationale : object
        What was decided, and why; None if missing.
    input, id : object
        What it was decided about, and which case that is; None if the log does not say.
    name : str, optional
        Whose rationale it is, if a log holds those of several judges.
    """

    row: int
    answer: Any
    rationale: Any
    input: Any = None
    id: Any = None
    name: str | None = None


@dataclass(frozen=True)
class AskedFields:
    """What the caller says of a log: which judge's rationales, and which fields hold what."""

    name: str | None = None
    answer: str | None = None
    explanation: str | None = None
    input: str | None = None
    id: str | None = None

    def about(self, row: Any, usual_input: Any = None, usual_id: Any = None) -> dict[str, Any]:
        """The input and the id of a row: where the caller says, or the usual ones."""
        return {
            "input": usual_input if self.input is None else field(row, self.input),
            "id": usual_id if self.id is None else field(row, self.id),
        }


def field(thing: Any, path: str) -> Any:
    """The value of a field, or of a field of a field (``"value.a"``); None if it is missing.

    Examples
    --------
    >>> field({"value": {"a": 3}}, "value.a"), field({"value.a": 4}, "value.a"), field({}, "value")
    (3, 4, None)
    """
    value = _own(thing, path)
    if value is None and "." in path:
        first, _, rest = path.partition(".")
        inner = opened(_own(thing, first))
        return None if inner is None else field(inner, rest)
    return value


def _own(thing: Any, name: str) -> Any:
    value = thing.get(name) if isinstance(thing, Mapping) else None if _is_value(thing) else getattr(thing, name, None)
    return None if is_missing(value) or callable(value) else value


def _is_value(thing: Any) -> bool:
    return thing is None or isinstance(thing, str | bytes | int | float | list | tuple)


def has(thing: Any, *names: str) -> bool:
    """Whether a row has all these fields, missing or not."""
    if isinstance(thing, Mapping):
        return all(name in thing for name in names)
    return not _is_value(thing) and all(hasattr(thing, name) for name in names)


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


# -- names of fields --------------------------------------------------------------------------------------------------

# Of each tier exactly one may occur; the next tier counts only if none of the first does. A "label" is often the truth.
ANSWERS = (("answer", "prediction", "predicted", "verdict", "decision"), ("output", "response", "completion"))
EXPLANATIONS = (
    ("explanation", "rationale", "reason", "reasons", "reasoning", "justification"),
    ("comment", "chain_of_thought", "cot", "thoughts", "thinking"),
)
INPUTS = (("input", "inputs"), ("prompt", "question", "query", "text", "document", "request"))
SAID = (*ANSWERS, ("label", "class", "category"))  # in a reply, where all of it is the model's
IDS = (("id", "custom_id", "sample_id", "trace_id", "case_id", "uuid"),)

Tiers = tuple[tuple[str, ...], ...]


def the_field(known: Sequence[str], tiers: Tiers, what: str) -> str | None:
    """The only field that has one of the names, in whatever case; None if there is none, an error if there are two."""
    for tier in tiers:
        named = sorted((name for name in known if _plain(name) in tier), key=lambda name: tier.index(_plain(name)))
        if len(named) > 1:
            raise BadInput(f"Both {named[0]!r} and {named[1]!r} may hold the {what}: say which, {what}={named[0]!r}.")
        if named:
            return named[0]
    return None


def _plain(name: object) -> str:
    return str(name).strip().lower()


def needed(known: Sequence[str], tiers: Tiers, what: str) -> str:
    """`the_field`, or an error if there is none."""
    name = the_field(known, tiers, what)
    if name is None:
        listed = ", ".join(repr(str(each)) for each in known[:12]) or "none"
        which = "what the model said, not the truth" if what == "answer" else f"the {what}"
        raise BadInput(f"No field looks like the {what}; there are {listed}: name the one that holds {which}, {what}=.")
    return name


# -- texts ------------------------------------------------------------------------------------------------------------


def text_of(message: Any) -> str | None:
    """The text of a message, or of its parts that are texts."""
    content = message if isinstance(message, str) else first_field(message, ("content", "text"))
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    kinds = [part for part in content if field(part, "type") not in ("thinking", "reasoning", "tool_use")]
    parts = [part if isinstance(part, str) else field(part, "text") for part in kinds]
    return "\n".join(part for part in parts if isinstance(part, str)) or None


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
