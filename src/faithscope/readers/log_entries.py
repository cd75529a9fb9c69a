"""From the rows of a log to one entry per rationale: of judges, as tools keep them, else of records and replies."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.rule_json import Unreadable, json_value, once
from faithscope.inputs.missing import is_missing
from faithscope.words import shorten

_TRIED = 1000  # rows of which one must hold a judgement; the first may be of cases that failed


@dataclass(frozen=True)
class Entry:
    """The parts of one rationale of a log; or of what a caller says of a log, the fields that hold them.

    Attributes
    ----------
    answer, explanation : object
        What was decided, and why; None if missing.
    input, id : object
        What it was decided about, and which case that is; None if the log does not say.
    name : str, optional
        Whose rationale it is, if a log holds those of several judges.
    row : int
        Which row or line of the log it comes from.
    """

    answer: Any = None
    explanation: Any = None
    input: Any = None
    id: Any = None
    name: str | None = None
    row: int = 0


Entries = tuple[list[Entry], tuple[str, ...]]  # and what is to be said of them


def entries(rows: Sequence[Any], asked: Entry) -> Entries:
    """One entry per rationale; if the caller names its field, that is one of the rows, or of their replies."""
    judged = asked.explanation is None and any(map(_judgements, rows[:_TRIED]))
    return (_judged if judged else _recorded)(rows, asked)


# -- judgements: of Inspect (objects, JSON, samples_df), MLflow (feedback, traces, tables), Langfuse, Phoenix ----------

# Where a judgement holds its answer: a text goes before the number that some tools give beside it.
_VALUES = ("stringValue", "string_value", "label", "value", "feedback.value")
_WHY = ("explanation", "rationale", "comment")
_WHOSE = ("assessment_name", "annotation_name", "name")
# Where a row holds what was judged, and which case that is.
_REQUESTS = ("input", "request", "inputs", "data.request", "request_preview", "info.request_preview")
_ABOUT = (*_REQUESTS, "attributes.input.value", "input.value", "question", "query")
_TRACES = ("traceId", "trace_id", "info.trace_id", "request_id", "observationId", "observation_id", "subject.id")
_TYPED = ("dataType", "data_type", *_TRACES)
_CASES = (*_TRACES, "context.span_id", "span_id", "id")
_BY_ANSWER = "predictions are each Score's value, which its explanation explains; answer='answer' reads its answer"

Judgements = list[tuple[Any, Any]]  # each with the name of its judge


def _judgements(row: Any) -> Judgements | None:
    """The judgements that a row holds, or is; None of a row that is the truth, or was overridden."""
    if _is_judgement(row):
        return [(first_field(row, _WHOSE), row)] if _counts(row) else None
    held = opened(first_field(row, ("assessments", "info.assessments", "scores")))
    if isinstance(held, Mapping):  # by scorer
        return [(name, part) for name, part in held.items() if has(part, "value", "explanation")]
    listed = held.tolist() if hasattr(held, "tolist") else held
    parts = [part for part in listed if _is_judgement(part) and _counts(part)] if isinstance(listed, list) else []
    return [(first_field(part, _WHOSE), part) for part in parts] or _in_columns(row)


def _is_judgement(row: Any) -> bool:
    """Whether this has the fields of a judgement; a label beside an answer may be the truth."""
    answered = isinstance(row, Mapping) and any(str(name).lower() in ANSWERS[0] for name in row)
    return (
        (has(row, "value", "answer", "explanation") and not has(row, "input"))  # Inspect
        or (has(row, "label", "score", "explanation") and not answered)  # Phoenix
        or has(row, "assessment_name")  # MLflow
        or has(row, "name", "rationale", "source")
        or (has(row, "name", "value", "comment") and any(has(row, name) for name in _TYPED))  # Langfuse
    )


def _counts(part: Any) -> bool:
    """Whether this judgement holds: expectations of MLflow are the truth, and what is not valid was overridden."""
    truth = field(part, "expectation") is not None or field(part, "issue") is not None
    return not truth and field(part, "valid") is not False


def _in_columns(row: Any) -> Judgements:
    """The judgements of a line of a table: score_X_explanation (Inspect), X/rationale (MLflow), X_score (Phoenix)."""
    parts: Judgements = []
    for column in map(str, row if isinstance(row, Mapping) else ()):
        cell, name = opened(field(row, column)), column.removesuffix("_explanation")
        if column.startswith("score_") and name != column:
            told = {"value": row.get(name), "answer": row.get(f"{name}_answer"), "explanation": cell}
            parts.append((name.removeprefix("score_"), told))
        elif column.endswith("/rationale"):
            judge = column.removesuffix("/rationale")
            parts.append((judge, {"value": row.get(f"{judge}/value"), "rationale": cell}))
        elif column.endswith("_score") and isinstance(cell, Mapping) and {"label", "explanation"} & set(cell):
            parts.append((column.removesuffix("_score"), cell))
    return parts


def _judged(rows: Sequence[Any], asked: Entry) -> Entries:
    """One entry per judgement, and an empty one per case that lacks the judgement of a judge of others."""
    own = asked.answer and (asked.answer, f"feedback.{asked.answer}")
    cases = {row: parts for row, each in enumerate(rows) if (parts := _judgements(each)) is not None}
    judged = [(row, name and str(name), part) for row, parts in cases.items() for name, part in parts]
    labeled = {name for _, name, part in judged if first_field(part, _VALUES) is not None}
    told = []
    if not own and any(field(part, "answer") is not None for *_, part in judged):
        told.append(_BY_ANSWER)
    scored = sorted({str(name) for _, name, _ in judged if name not in labeled})
    if not own and scored:
        told.append(f"evaluations without any label are read as their scores: {shorten(scored)}")
    names, present = dict.fromkeys(name for _, name, _ in judged), {part[:2] for part in judged}
    whole = [row for row in cases if not _is_judgement(rows[row])]
    judged += [(row, name, {}) for row in whole for name in names if (row, name) not in present]
    found = []
    for row, name, part in sorted(judged, key=lambda each: each[0]):
        given = first_field(rows[row], _ABOUT if asked.input is None else (asked.input,))
        if isinstance(given, str) and asked.input is None:  # samples_df writes who asked
            given = opened(given.removeprefix("user:\n").removesuffix("\n"))
        case = first_field(rows[row], _CASES if asked.id is None else (asked.id,))
        answer = first_field(part, own or (_VALUES if name in labeled else ("score",)))
        found.append(Entry(answer, first_field(part, _WHY), given, case, name, row))
    return found, tuple(told)


# -- records with an input, an answer and an explanation; chats, and batches of OpenAI and Anthropic -------------------

_REPLIES = ("response.body", "result.message", "output", "response", "completion", "content", "reply")
_REPLY_PARTS = ("choices", "output", "content", "message")


def _recorded(rows: Sequence[Any], asked: Entry) -> Entries:
    """One entry per record, whose answer and explanation are fields, or in a reply that is JSON."""
    records = [row if isinstance(row, Mapping) else getattr(row, "__dict__", None) for row in rows]
    if None in records:
        odd = records.index(None)
        raise BadInput(
            f"Row {odd} is no record with fields ({type(rows[odd]).__name__}): pass dicts with input, answer and "
            "explanation, a table, or the path of a file of them."
        )
    known = list(dict.fromkeys(str(name) for record in records for name in record or ()))
    given, case = asked.input or the_field(known, INPUTS, "input"), asked.id or the_field(known, IDS, "id")
    chats = any(has(row, "messages") or has(row, "custom_id") for row in rows)
    explanation = asked.explanation or (None if chats else the_field(known, EXPLANATIONS, "explanation"))
    replies = []
    if explanation is None or all(field(row, explanation) is None for row in rows):
        replies = [_reply(row) for row in rows]
    if any(reply is not None for reply in replies):
        parts = _parts_of(replies, asked)
    else:
        explanation = explanation or needed(known, EXPLANATIONS, "explanation")
        decided = asked.answer or needed(known, ANSWERS, "answer")
        if asked.answer is None and decided.strip().lower() == "answer":  # perhaps the truth
            other = "label" if {"label", "score"} <= set(known) else the_field(known, ANSWERS[1:], "answer")
            if other is not None:
                raise BadInput(
                    f"{decided!r} and {other!r} may both hold the answer that is explained, and one of them may be "
                    f"what is right: say which, such as answer={other!r}."
                )
        parts = [(field(row, decided), field(row, explanation)) for row in rows]
    found = []
    for row, (record, (answer, why)) in enumerate(zip(rows, parts, strict=True)):
        asking = _messages(record)[1] if asked.input is None else []
        found.append(Entry(answer, why, asking or field(record, given or ""), field(record, case or ""), row=row))
    return found, ()


def _messages(row: Any) -> tuple[list[Any], list[Any]]:
    """The messages of a chat: the model's, and those of everybody else."""
    held = opened(field(row, "messages"))
    messages = held if isinstance(held, list) else []
    said = [message for message in messages if field(message, "role") in ("assistant", "model")]
    return said, [message for message in messages if message not in said]


def _reply(row: Any) -> Any:
    """The last reply of a chat, or that in the body of a response: a text, or an object; None if there is none."""
    said, _ = _messages(row)
    body = said[-1] if said else first_field(row, _REPLIES)
    held = first_field(body, _REPLY_PARTS)
    if held is None:
        return body
    texts = [text_of(field(part, "message") or part) for part in (held if isinstance(held, list) else [held])]
    return "\n".join(filter(None, texts)) or None


def _parts_of(replies: Iterable[Any], asked: Entry) -> list[tuple[Any, Any]]:
    """The answer and the explanation in the JSON of each reply; None for both if there is no such JSON, or several.

    Raises if no reply names one of them as usual, and the caller does not say which field it is.
    """
    objects: list[Mapping[str, Any]] = []
    for reply in replies:
        try:
            held = json_value(reply) if isinstance(reply, str) else reply
        except Unreadable:
            held = None
        objects.append(held if isinstance(held, Mapping) else {})
    columns = []
    for given, tiers, what in ((asked.answer, SAID, "answer"), (asked.explanation, EXPLANATIONS, "explanation")):
        columns.append([field(each, given or the_field(list(each), tiers, what) or "") for each in objects])
        if given is None and any(objects) and all(value is None for value in columns[-1]):
            needed(list(next(filter(None, objects))), tiers, what)
    return list(zip(*columns, strict=True))


# -- the fields of whatever holds a row of a log, what they are usually called, and the texts of messages -------------


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
    """What the JSON text of an object or a list holds, each key once; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value, object_pairs_hook=once)
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
    parts = list(given.values()) if isinstance(given, Mapping) else [given]
    if len(parts) == 1 and isinstance(parts[0], str):
        return parts[0]
    return None if given is None else written(given)


def written(value: Any) -> str:
    """A value as JSON, with what JSON does not know as its text."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__
