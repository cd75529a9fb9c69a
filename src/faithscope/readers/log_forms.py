"""The forms of logs of rationales: Inspect, MLflow, Langfuse, Phoenix, chats, and records with usual fields.

A form recognizes a row, and gives one `Entry` per rationale with what is to be said of how they were read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    field,
    first_field,
    has,
    needed,
    opened,
    text_of,
    the_field,
)

Entries = tuple[list[Entry], tuple[str, ...]]  # and what is to be said of them
Form = tuple[str, Callable[[Any], bool], Callable[[Sequence[Any], AskedFields], Entries]]
Parts = list[tuple[Any, Any]]  # the judgements of a row, each with the name of its judge


@dataclass(frozen=True)
class Judged:
    """A form of rows that hold judgements: where each judge's part is, and what its fields are called.

    Attributes
    ----------
    parts : callable
        The judgements of a row, each with the name of its judge.
    answers : tuple of str
        The fields of a part that may hold its answer, the first that does first.
    rationale : str
        The field of a part that holds its rationale.
    inputs, ids : tuple of str
        The fields of a row that may hold what it is about, and which case that is.
    alone : callable
        Whether a row is one judgement itself, not a case that judges may leave out.
    ids_alone : tuple of str
        The fields of such a row that say which case it is, if they are others.
    opens : bool
        Whether what it is about may be the text of JSON.
    """

    parts: Callable[[Any], Parts]
    answers: tuple[str, ...]
    rationale: str
    inputs: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    alone: Callable[[Any], bool] = lambda row: True
    ids_alone: tuple[str, ...] = ()
    opens: bool = False

    def __call__(self, rows: Sequence[Any], asked: AskedFields) -> "Entries":
        """One entry per part, and an empty one for a case that lacks the part of a judge of others."""
        answers = self.answers if asked.answer is None else (asked.answer,)
        listed, cases = [], {}
        for number, row in enumerate(rows):
            given = first_field(row, self.inputs)
            ids = self.ids_alone or self.ids if self.alone(row) else self.ids
            about = asked.about(row, opened(given) if self.opens else given, first_field(row, ids))
            for name, part in self.parts(row):
                parts = first_field(part, answers), field(part, self.rationale)
                listed.append(Entry(number, *parts, **about, name=None if name is None else str(name)))
            if not self.alone(row):
                cases[number] = about
        names = dict.fromkeys(entry.name for entry in listed) or [None]
        present = {(entry.row, entry.name) for entry in listed}
        for row, about in cases.items():
            listed += [Entry(row, None, None, **about, name=name) for name in names if (row, name) not in present]
        return sorted(listed, key=lambda entry: entry.row), ()


# -- Inspect: EvalLog, EvalSample and Score objects, their JSON, and the tables of samples_df -------------------------

_PREFIX, _SUFFIX = "score_", "_explanation"
_SCORE_VALUE = "predictions are each Score's value, which its explanation explains; answer='answer' reads its answer"


def _is_inspect(row: Any) -> bool:
    """Whether this is a sample with its scores, a score, or a line of samples_df."""
    sample = has(row, "scores", "input", "epoch") and isinstance(field(row, "scores"), Mapping | None)
    return sample or _is_verdict(row) or _is_line(row)


def _is_line(row: Any) -> bool:
    known = isinstance(row, Mapping) and {"epoch", "eval_id", "input"} <= row.keys()
    return known and any(str(column).startswith(_PREFIX) for column in row)


def _is_verdict(row: Any) -> bool:
    return has(row, "value", "answer", "explanation") and not has(row, "input")


def _scores(row: Any) -> Parts:
    """The scores of a sample, by scorer; of a line of samples_df, from score_X, score_X_answer, score_X_explanation."""
    if _is_verdict(row):
        return [(None, row)]
    if not _is_line(row):
        return list((field(row, "scores") or {}).items())  # none if the sample failed before it was judged
    columns = [str(column) for column in row]
    names = [column[len(_PREFIX) :] for column in columns if column.startswith(_PREFIX) and column + _SUFFIX in row]
    if not names:
        raise BadInput(
            "This table of samples_df holds no explanations: make it with samples_df(logs, columns=SampleSummary + "
            "SampleScores), both of inspect_ai.analysis."
        )
    held = {name: {"value": field(row, _PREFIX + name)} for name in names}
    for name, part in held.items():
        for column in columns:
            rest = column.removeprefix(_PREFIX + name)
            if rest != column and rest[:1] in ("_", "."):
                part.update(dict.fromkeys([rest[1:], f"value{rest}"] if rest[0] == "." else [rest[1:]], row[column]))
    return list(held.items())


def _inspect_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per sample and scorer; samples_df writes the role before a text."""
    entries, _ = _INSPECT(rows, asked)
    for place, entry in enumerate(entries):
        if asked.input is None and isinstance(entry.input, str) and _is_line(rows[entry.row]):
            entries[place] = replace(entry, input=entry.input.removeprefix("user:\n").removesuffix("\n"))
    known = has if _is_line(rows[0]) else lambda part, name: field(part, name) is not None
    answered = any(known(part, "answer") for _, part in _scores(rows[0]))
    return entries, (_SCORE_VALUE,) if asked.answer is None and answered else ()


_INSPECT = Judged(
    _scores, ("value",), "explanation", ("input",), ("id",), lambda row: _is_verdict(row) or _is_line(row)
)

# -- MLflow: Feedback objects and their dicts, traces, and the tables of search_traces and evaluate -------------------

_VALUE, _RATIONALE = "/value", "/rationale"


def _is_mlflow(row: Any) -> bool:
    """Whether this is an assessment, or a trace or a line of a table that has some."""
    trace = has(row, "assessments") or (has(row, "info", "data") and has(field(row, "info"), "assessments"))
    return trace or _is_assessment(row) or bool(_judges(row))


def _is_assessment(row: Any) -> bool:
    named = has(row, "assessment_name") or has(row, "name", "rationale", "source")
    return named and (has(row, "feedback") or has(row, "expectation") or has(row, "value"))


def _judges(row: Any) -> list[str]:
    columns = [str(column) for column in row] if isinstance(row, Mapping) else []
    named = [column.removesuffix(_RATIONALE) for column in columns if column.endswith(_RATIONALE)]
    return [name for name in named if name + _VALUE in columns]


def _feedback(row: Any) -> list[Any]:
    """The assessments of a row but expectations, which are the truth, no predictions, and issues."""
    held = [row] if _is_assessment(row) else opened(first_field(row, ("assessments", "info.assessments")))
    held = held.tolist() if hasattr(held, "tolist") else held
    listed = held if isinstance(held, list | tuple) else ()
    return [part for part in listed if field(part, "expectation") is None and field(part, "issue") is None]


def _assessments(row: Any) -> Parts:
    """Feedback that is valid; and what evaluate's table holds in columns such as correct/value, correct/rationale."""
    parts = [
        (first_field(part, ("assessment_name", "name")), part)
        for part in _feedback(row)
        if field(part, "valid") is not False
    ]
    if field(row, "assessments") is not None:
        return parts
    flat = {name: {"value": row[name + _VALUE], "rationale": row[name + _RATIONALE]} for name in _judges(row)}
    return [*parts, *flat.items()]


def _mlflow_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per valid feedback, and how many were overridden."""
    # What is asked for may be inside the feedback of an assessment.
    inside = (f"feedback.{asked.answer}",) if asked.answer else ("feedback.value",)
    form = replace(_MLFLOW, answers=((asked.answer or "value"), *inside))
    overridden = sum(field(part, "valid") is False for row in rows for part in _feedback(row))
    told = f"{several(overridden, 'feedback was', 'feedbacks were')} overridden by a later one, and left out"
    return form(rows, replace(asked, answer=None))[0], (told,) if overridden else ()


_MLFLOW = Judged(
    _assessments,
    ("value", "feedback.value"),
    "rationale",
    ("request", "inputs", "data.request", "request_preview", "info.request_preview"),
    ("trace_id", "info.trace_id", "request_id"),
    _is_assessment,
    opens=True,
)

# -- Langfuse: scores of its client, exports, and traces that hold scores ---------------------------------------------

_LANGFUSE_IDS = ("traceId", "trace_id", "observationId", "observation_id", "sessionId", "session_id", "subject.id")
_TYPES = ("dataType", "data_type")
_TEXTS = ("stringValue", "string_value")


def _is_langfuse(row: Any) -> bool:
    """Whether this is a score with its comment, or a trace with a list of them."""
    held = opened(field(row, "scores"))
    return _is_score(row) or (isinstance(held, list) and any(map(_is_score, held)))


def _is_score(row: Any) -> bool:
    typed = any(has(row, name) for name in (*_TYPES, *_TEXTS, *_LANGFUSE_IDS[:4], "subject"))
    return has(row, "name", "value", "comment") and typed


def _langfuse_parts(row: Any) -> Parts:
    listed = [row] if _is_score(row) else opened(field(row, "scores")) or []
    return [(field(part, "name"), part) for part in listed]


# One entry per score; its answer is its text if it has one, else its number. A score of numbers has none of the texts;
# the number of a category without a configuration is always 0.
_LANGFUSE = Judged(
    _langfuse_parts, (*_TEXTS, "value"), "comment", ("input",), ("id",), _is_score, _LANGFUSE_IDS, opens=True
)

# -- Phoenix: Score objects, and tables with {name}_score, with label and explanation, or with result.label -----------

_CELL, _FLAT = "_score", "result."


def _is_phoenix(row: Any) -> bool:
    """Whether this is an evaluation, or a line of a table that has some."""
    return bool(_cells(row)) or _is_evaluation(row) or has(row, _FLAT + "label", _FLAT + "explanation")


def _is_evaluation(row: Any) -> bool:
    return has(row, "label", "explanation") and has(row, "score")


def _cells(row: Any) -> list[str]:
    """The names of the evaluations whose columns hold an object with a label or an explanation."""
    columns = [str(column) for column in row] if isinstance(row, Mapping) else []
    cells = {column.removesuffix(_CELL): opened(field(row, column)) for column in columns if column.endswith(_CELL)}
    return [
        name
        for name, cell in cells.items()
        if isinstance(cell, Mapping) and (has(cell, "explanation") or has(cell, "label") or has(cell, "score", "name"))
    ]


def _phoenix_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per evaluation; its answer is its label, or its score if no evaluation of its name has a label."""
    row = next((row for row in rows if isinstance(row, Mapping) and _is_evaluation(row)), None)
    other = None if row is None or asked.answer else the_field(list(row), ANSWERS[:1], "answer")
    if other is not None:  # a label may then be the truth
        raise BadInput(
            f"Both {other!r} and 'label' may hold the answer that is explained, and a label is often the truth: say "
            f"which, answer={other!r}."
        )
    names = tuple(dict.fromkeys(name for row in rows for name in _cells(row)))

    def parts(row: Any) -> Parts:
        if names:
            return [(name, opened(field(row, name + _CELL))) for name in names]
        name = first_field(row, ("annotation_name", "name"))
        fields = {part: field(row, _FLAT + part) for part in (asked.answer or "label", "score", "explanation")}
        return [(name, fields if has(row, _FLAT + "label") else row)]

    form = replace(_PHOENIX, parts=parts)
    labelled, _ = form(rows, asked)
    unlabelled = {entry.name for entry in labelled} - {entry.name for entry in labelled if entry.answer is not None}
    if asked.answer is not None or not unlabelled:
        return labelled, ()
    scored, _ = form(rows, replace(asked, answer="score"))
    remarks = (f"evaluations without any label are read as their scores: {shorten(sorted(map(str, unlabelled)))}",)
    pairs = zip(labelled, scored, strict=True)
    return [number if number.name in unlabelled else label for label, number in pairs], remarks


_PHOENIX = Judged(
    lambda row: [],
    ("label",),
    "explanation",
    ("input", "attributes.input.value", "input.value", "question", "query"),
    ("context.span_id", "span_id", "id"),
)

# -- chats and batches of OpenAI and Anthropic, whose last message is JSON with an answer and a reason ----------------

_BODIES = ("response.body", "result.message", "response")
_REPLY_PARTS = ("choices", "output", "content", "message")


def _is_chat(row: Any) -> bool:
    """Whether this is a chat, or a line of a batch's results."""
    return has(row, "messages") or (has(row, "custom_id") and (has(row, "response") or has(row, "result")))


def _chat_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per line; a reply that is no JSON with both parts misses both."""
    replies, abouts = zip(*(_reply_and_case(row, asked) for row in rows), strict=True)
    return _entries(_all_parts(replies, asked), abouts)


def _entries(parts: Iterable[tuple[Any, Any]], abouts: Iterable[dict[str, Any]]) -> Entries:
    pairs = zip(parts, abouts, strict=True)
    return [Entry(number, *part, **about) for number, (part, about) in enumerate(pairs)], ()


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
    columns = []
    for given, tiers, what in ((asked.answer, SAID, "answer"), (asked.explanation, EXPLANATIONS, "explanation")):
        names = [given or the_field(list(each), tiers, what) for each in held]
        columns.append([field(each, name) if name else None for each, name in zip(held, names, strict=True)])
        first = next((each for each in held if each), None)
        if first is not None and given is None and all(value is None for value in columns[-1]):
            needed(list(first), tiers, what)
    return list(zip(*columns, strict=True))


def _object(reply: Any) -> Mapping[Any, Any]:
    """The only object of JSON in a reply; empty if there is none, or if there are several."""
    try:
        held = json_values(reply) if isinstance(reply, str) else [reply]
    except Unreadable:
        return {}
    known = [value for value in held if isinstance(value, Mapping)]
    return known[0] if len(known) == 1 else {}


# -- records with an input, an answer and an explanation: lines of a file, dicts, or the rows of a table --------------

_REPLY_FIELDS = ("output", "response", "completion", "content", "reply")  # with answer and explanation as JSON


def _record_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per record."""
    known = _fields(rows)
    named = {
        "input": asked.input or the_field(known, INPUTS, "input"),
        "id": asked.id or the_field(known, IDS, "id"),
    }
    abouts = [{what: field(row, name) if name else None for what, name in named.items()} for row in rows]
    rationale = asked.explanation if asked.explanation and any_holds(rows, asked.explanation) else None
    if asked.explanation is None:
        rationale = the_field(known, EXPLANATIONS, "explanation")
    reply = None if rationale is not None else next((name for name in _REPLY_FIELDS if name in known), None)
    if reply is not None:
        return _entries(_all_parts((field(row, reply) for row in rows), asked), abouts)
    explanation = rationale or asked.explanation or needed(known, EXPLANATIONS, "explanation")
    answer = asked.answer or _answer_field(known)
    return _entries([(field(row, answer), field(row, explanation)) for row in rows], abouts)


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
    ("langfuse", _is_langfuse, _LANGFUSE),
    ("phoenix", _is_phoenix, _phoenix_entries),
    ("chats", _is_chat, _chat_entries),
)
RECORDS: Form = ("records", lambda row: True, _record_entries)
