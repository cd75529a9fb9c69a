"""The forms of logs of rationales: Inspect, MLflow, Langfuse, Phoenix, chats, and records with usual fields.

A form recognizes a row, and gives one `Entry` per rationale with what is to be said of how they were read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.base import several, shorten
from faithscope.explanations.rule_json import Unreadable, json_values
from faithscope.readers.log_entries import (
    ANSWERS,
    EXPLANATIONS,
    IDS,
    INPUTS,
    SAID,
    AskedFields,
    Entry,
    Tiers,
    field,
    first_field,
    has,
    needed,
    opened,
    text_of,
    the_field,
    with_absent,
)

Entries = tuple[list[Entry], tuple[str, ...]]  # and what is to be said of them
Form = tuple[str, Callable[[Any], bool], Callable[[Sequence[Any], AskedFields], Entries]]

# -- Inspect: EvalLog, EvalSample and Score objects, their JSON, and the tables of samples_df -------------------------

_PREFIX, _SUFFIX = "score_", "_explanation"
_SCORE_VALUE = "predictions are each Score's value, which its explanation explains; answer='answer' reads its answer"


def _is_inspect(row: Any) -> bool:
    """Whether this is a sample with its scores, a score, or a line of samples_df."""
    return _is_sample(row) or _is_verdict(row) or _is_line(row)


def _inspect_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per sample and scorer, and how they were read."""
    listed = [entry for number, row in enumerate(rows) for entry in _of_sample(number, row, asked)]
    cases = {number: _about_sample(row, asked) for number, row in enumerate(rows) if _is_sample(row)}
    return with_absent(listed, cases), (_SCORE_VALUE,) if asked.answer is None and _has_answers(rows[0]) else ()


def _of_sample(number: int, row: Any, asked: AskedFields) -> list[Entry]:
    chosen = asked.answer or "value"
    if _is_line(row):
        return [_of_line(number, row, name, asked) for name in _scorers(row)]
    if _is_verdict(row):
        return [Entry(number, field(row, chosen), field(row, "explanation"), **asked.about(row))]
    return [
        Entry(
            number, field(verdict, chosen), field(verdict, "explanation"), **_about_sample(row, asked), name=str(name)
        )
        for name, verdict in (field(row, "scores") or {}).items()  # none if the sample failed before it was judged
    ]


def _about_sample(row: Any, asked: AskedFields) -> dict[str, Any]:
    given = field(row, "input")
    if _is_line(row) and isinstance(given, str):  # samples_df writes the role before a text
        given = given.removeprefix("user:\n").removesuffix("\n")
    return asked.about(row, given, field(row, "id"))


def _of_line(number: int, row: Mapping[str, Any], name: str, asked: AskedFields) -> Entry:
    """One scorer's part of a line of samples_df, whose columns are score_X, score_X_answer, score_X_explanation."""
    chosen = asked.answer or "value"
    column = f"{_PREFIX}{name}" + ("" if chosen == "value" else f"_{chosen}")
    answer = field(row, column) if column in row else field(row, f"{_PREFIX}{name}.{chosen.removeprefix('value.')}")
    return Entry(number, answer, field(row, f"{_PREFIX}{name}{_SUFFIX}"), **_about_sample(row, asked), name=name)


def _scorers(row: Mapping[str, Any]) -> list[str]:
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


# -- MLflow: Feedback objects and their dicts, traces, and the tables of search_traces and evaluate -------------------

_VALUE, _RATIONALE = "/value", "/rationale"


def _is_mlflow(row: Any) -> bool:
    """Whether this is an assessment, or a trace or a line of a table that has some."""
    return _is_assessment(row) or _is_trace(row) or bool(_judges(row))


def _mlflow_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per valid feedback, and how many were overridden; expectations are the truth, no predictions."""
    given = [(number, row, part) for number, row in enumerate(rows) for part in _assessments(row)]
    feedback = [each for each in given if field(each[2], "expectation") is None and field(each[2], "issue") is None]
    valid = [each for each in feedback if field(each[2], "valid") is not False]
    listed = [_of_assessment(*each, asked) for each in valid]
    listed += [entry for number, row in enumerate(rows) for entry in _flat(number, row, asked)]
    cases = {number: _about_trace(row, asked) for number, row in enumerate(rows) if not _is_assessment(row)}
    overridden = len(feedback) - len(valid)
    told = f"{several(overridden, 'feedback was', 'feedbacks were')} overridden by a later one, and left out"
    return with_absent(listed, cases), (told,) if overridden else ()


def _of_assessment(number: int, row: Any, part: Any, asked: AskedFields) -> Entry:
    chosen = asked.answer or "value"
    path = chosen if has(part, "value") else f"feedback.{chosen}"
    name = first_field(part, ("assessment_name", "name"))
    about = _about_trace(part if row is part else row, asked)
    return Entry(number, field(part, path), field(part, "rationale"), **about, name=None if name is None else str(name))


def _assessments(row: Any) -> Iterable[Any]:
    if _is_assessment(row):
        return [row]
    held = opened(first_field(row, ("assessments", "info.assessments")))
    held = held.tolist() if hasattr(held, "tolist") else held
    return held if isinstance(held, list | tuple) else ()


def _flat(number: int, row: Any, asked: AskedFields) -> list[Entry]:
    """What mlflow.genai.evaluate's table holds by name, in columns such as correct/value and correct/rationale."""
    if field(row, "assessments") is not None:
        return []
    return [
        Entry(number, field(row, name + _VALUE), field(row, name + _RATIONALE), **_about_trace(row, asked), name=name)
        for name in _judges(row)
    ]


def _about_trace(row: Any, asked: AskedFields) -> dict[str, Any]:
    request = first_field(row, ("request", "inputs", "data.request", "request_preview", "info.request_preview"))
    return asked.about(row, opened(request), first_field(row, ("trace_id", "info.trace_id", "request_id")))


def _is_assessment(row: Any) -> bool:
    named = has(row, "assessment_name") or has(row, "name", "rationale", "source")
    return named and (has(row, "feedback") or has(row, "expectation") or has(row, "value"))


def _is_trace(row: Any) -> bool:
    return has(row, "assessments") or (has(row, "info", "data") and has(field(row, "info"), "assessments"))


def _judges(row: Any) -> list[str]:
    columns = [str(column) for column in row] if isinstance(row, Mapping) else []
    named = [column.removesuffix(_RATIONALE) for column in columns if column.endswith(_RATIONALE)]
    return [name for name in named if name + _VALUE in columns]


# -- Langfuse: scores of its client, exports, and traces that hold scores ---------------------------------------------

_LANGFUSE_IDS = ("traceId", "trace_id", "observationId", "observation_id", "sessionId", "session_id", "subject.id")
_TYPES = ("dataType", "data_type")
_TEXTS = ("stringValue", "string_value")


def _is_langfuse(row: Any) -> bool:
    """Whether this is a score with its comment, or a trace with a list of them."""
    held = opened(field(row, "scores"))
    return _is_score(row) or (isinstance(held, list) and any(map(_is_score, held)))


def _langfuse_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per score; its answer is its text if it has one, else its number."""
    listed: list[Entry] = []
    cases: dict[int, dict[str, Any]] = {}
    for number, row in enumerate(rows):
        if _is_score(row):
            listed.append(_of_score(number, row, asked.about(row, None, first_field(row, _LANGFUSE_IDS)), asked))
            continue
        cases[number] = asked.about(row, opened(field(row, "input")), field(row, "id"))
        listed += [_of_score(number, verdict, cases[number], asked) for verdict in opened(field(row, "scores")) or []]
    return with_absent(listed, cases), ()


def _of_score(number: int, verdict: Any, about: dict[str, Any], asked: AskedFields) -> Entry:
    """A score of numbers has none of the texts; the number of a category without a configuration is always 0."""
    answer = first_field(verdict, (*_TEXTS, "value")) if asked.answer is None else field(verdict, asked.answer)
    name = field(verdict, "name")
    return Entry(number, answer, field(verdict, "comment"), **about, name=None if name is None else str(name))


def _is_score(row: Any) -> bool:
    typed = any(has(row, name) for name in (*_TYPES, *_TEXTS, *_LANGFUSE_IDS[:4], "subject"))
    return has(row, "name", "value", "comment") and typed


# -- Phoenix: Score objects, and tables with {name}_score, with label and explanation, or with result.label -----------

_CELL, _FLAT = "_score", "result."
_PHOENIX_INPUTS = ("input", "attributes.input.value", "input.value", "question", "query")
_PHOENIX_IDS = ("context.span_id", "span_id", "id")


def _is_phoenix(row: Any) -> bool:
    """Whether this is an evaluation, or a line of a table that has some."""
    return bool(_cells(row)) or _is_evaluation(row) or has(row, _FLAT + "label", _FLAT + "explanation")


def _phoenix_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per evaluation; its answer is its label, or its score if no evaluation of its name has a label."""
    _refuse_two_answers(rows, asked)
    labelled = _evaluations(rows, asked, asked.answer or "label")
    names = {entry.name for entry in labelled} - {entry.name for entry in labelled if entry.answer is not None}
    if asked.answer is not None or not names:
        return labelled, ()
    numbers = _evaluations(rows, asked, "score")
    pairs = zip(labelled, numbers, strict=True)
    remarks = (f"evaluations without any label are read as their scores: {shorten(sorted(map(str, names)))}",)
    return [number if number.name in names else label for label, number in pairs], remarks


def _refuse_two_answers(rows: Sequence[Any], asked: AskedFields) -> None:
    """Raise if records have an answer beside a label, which may then be the truth."""
    row = next((row for row in rows if isinstance(row, Mapping) and _is_evaluation(row)), None)
    other = None if row is None or asked.answer else the_field(list(row), ANSWERS[:1], "answer")
    if other is not None:
        raise BadInput(
            f"Both {other!r} and 'label' may hold the answer that is explained, and a label is often the truth: say "
            f"which, answer={other!r}."
        )


def _evaluations(rows: Sequence[Any], asked: AskedFields, chosen: str) -> list[Entry]:
    names = dict.fromkeys(name for row in rows for name in _cells(row))
    return [
        entry for number, row in enumerate(rows) for entry in _of_evaluation(number, row, tuple(names), asked, chosen)
    ]


def _of_evaluation(number: int, row: Any, names: tuple[str, ...], asked: AskedFields, chosen: str) -> list[Entry]:
    about = asked.about(row, first_field(row, _PHOENIX_INPUTS), first_field(row, _PHOENIX_IDS))
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


# -- chats and batches of OpenAI and Anthropic, whose last message is JSON with an answer and a reason ----------------

_BODIES = ("response.body", "result.message", "response")
_REPLY_PARTS = ("choices", "output", "content", "message")


def _is_chat(row: Any) -> bool:
    """Whether this is a chat, or a line of a batch's results."""
    return has(row, "messages") or (has(row, "custom_id") and (has(row, "response") or has(row, "result")))


def _chat_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per line; a reply that is no JSON with both parts misses both."""
    replies, abouts = zip(*(_reply_and_case(row, asked) for row in rows), strict=True)
    pairs = zip(_all_parts(replies, asked), abouts, strict=True)
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
    for name in _REPLY_PARTS:
        held = field(body, name)
        if isinstance(held, list) and held:
            messages = [field(part, "message") or part for part in held]
            texts = [text for message in messages if (text := text_of(message)) is not None]
            return "\n".join(texts) if texts else None
        if held is not None:
            return text_of(held)
    return None


def _all_parts(replies: Iterable[Any], asked: AskedFields) -> list[tuple[Any, Any]]:
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
            needed(list(first), tiers, what)
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
    name = named or the_field(list(held), tiers, what)
    return None if name is None else field(held, name)


# -- records with an input, an answer and an explanation: lines of a file, dicts, or the rows of a table --------------

_REPLY_FIELDS = (
    "output",
    "response",
    "completion",
    "content",
    "reply",
)  # which may hold answer and explanation as JSON


def _record_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per record."""
    known = _fields(rows)
    about_input = asked.input or the_field(known, INPUTS, "input")
    about_id = asked.id or the_field(known, IDS, "id")
    rationale = asked.explanation if asked.explanation and any_holds(rows, asked.explanation) else None
    if asked.explanation is None:
        rationale = the_field(known, EXPLANATIONS, "explanation")
    reply = None if rationale is not None else next((name for name in _REPLY_FIELDS if name in known), None)
    pairs = (
        _all_parts((field(row, reply) for row in rows), asked)
        if reply
        else _record_parts(rows, known, rationale, asked)
    )
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


def _record_parts(
    rows: Sequence[Any], known: Sequence[str], rationale: str | None, asked: AskedFields
) -> list[tuple[Any, Any]]:
    """The answer and the explanation of each record."""
    explanation = rationale or asked.explanation or needed(known, EXPLANATIONS, "explanation")
    answer = asked.answer or _answer_field(known)
    return [(field(row, answer), field(row, explanation)) for row in rows]


def any_holds(rows: Sequence[Any], path: str) -> bool:
    """Whether a field of any record is not missing."""
    return any(field(row, path) is not None for row in rows)


def _answer_field(known: Sequence[str]) -> str:
    """The field of the answer; beside a response, "answer" may be the one that is right."""
    name = needed(known, ANSWERS, "answer")
    reply = the_field(known, ANSWERS[1:], "answer")
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


FORMS: tuple[Form, ...] = (  # the first that recognizes a row reads all of them
    ("inspect_logs", _is_inspect, _inspect_entries),
    ("mlflow", _is_mlflow, _mlflow_entries),
    ("langfuse", _is_langfuse, _langfuse_entries),
    ("phoenix", _is_phoenix, _phoenix_entries),
    ("chats", _is_chat, _chat_entries),
)
RECORDS: Form = ("records", lambda row: True, _record_entries)
