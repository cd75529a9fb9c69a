"""The forms of logs of rationales: Inspect, MLflow, Langfuse, Phoenix, chats, and records with usual fields.

A form recognizes a row, and gives one `Entry` per rationale with what is to be said of how they were read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.base import shorten
from faithscope.explanations.rule_json import Unreadable, json_value
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
    """A form of rows that are judgements or hold some: where these are, and what their fields are called.

    Attributes
    ----------
    parts : callable
        The judgements of a row, each with the name of its judge; none of a case that nobody judged; None of a row
        that is no case.
    answers, rationale : tuple of str, str
        The fields of a judgement that may hold its answer, the first that does first; and that of its rationale.
    inputs, ids : tuple of str
        The fields of a row that may hold what it is about, and which case that is.
    instead : str
        The field of the answers of a judge none of whose judgements has one of the others.
    cleans : callable
        What an input is without what the tool wrapped it in.
    remark : str
        What is said if the caller names no field, and judgements have an "answer" that is not read.
    """

    parts: Callable[[Any], Parts | None]
    answers: tuple[str, ...]
    rationale: str = "explanation"
    inputs: tuple[str, ...] = ("input",)
    ids: tuple[str, ...] = ("id",)
    instead: str = ""
    cleans: Callable[[Any], Any] = opened
    remark: str = ""

    def __call__(self, rows: Sequence[Any], asked: AskedFields) -> Entries:
        """One entry per judgement, and an empty one per case that lacks the judgement of a judge of others."""
        answers, instead = self.answers, (self.instead,) * (self.instead != "")
        if asked.answer is not None:  # it may be inside of a field, as MLflow's value is inside of its feedback
            around = [name.rpartition(".")[0] for name in answers if "." in name]
            answers, instead = (asked.answer, *(f"{name}.{asked.answer}" for name in around)), ()
        about = [
            asked.about(row, self.cleans(first_field(row, self.inputs)), first_field(row, self.ids)) for row in rows
        ]
        listed = [(row, parts) for row, each in enumerate(rows) if (parts := self.parts(each)) is not None]
        judged = [(row, None if name is None else str(name), part) for row, parts in listed for name, part in parts]
        answering = {name for _, name, part in judged if first_field(part, answers) is not None}
        entries = []
        for row, name, part in judged:
            answer = first_field(part, answers if name in answering else instead)
            entries.append(Entry(row, answer, field(part, self.rationale), **about[row], name=name))
        names, present = dict.fromkeys(name for _, name, _ in judged) or [None], {part[:2] for part in judged}
        cases = [row for row, parts in listed if not any(part is rows[row] for _, part in parts)]
        lacking = [(row, name) for row in cases for name in names if (row, name) not in present]
        entries += [Entry(row, None, None, **about[row], name=name) for row, name in lacking]
        told = []
        if self.remark and asked.answer is None and any(field(part, "answer") is not None for *_, part in judged):
            told.append(self.remark)
        silent = {str(name) for _, name, _ in judged if name not in answering}
        if instead and silent:
            told.append(f"evaluations without any label are read as their scores: {shorten(sorted(silent))}")
        return sorted(entries, key=lambda entry: entry.row), tuple(told)


# -- Inspect: EvalLog, EvalSample and Score objects, their JSON, and the tables of samples_df -------------------------

_PREFIX, _SUFFIX = "score_", "_explanation"


def _is_inspect(row: Any) -> bool:
    """Whether this is a sample with its scores, a score, or a line of samples_df."""
    sample = has(row, "scores", "input", "epoch") and isinstance(field(row, "scores"), Mapping | None)
    return sample or _is_score_of_inspect(row) or _is_line(row)


def _is_score_of_inspect(row: Any) -> bool:
    return has(row, "value", "answer", "explanation") and not has(row, "input")


def _is_line(row: Any) -> bool:
    known = isinstance(row, Mapping) and {"epoch", "eval_id", "input"} <= row.keys()
    return known and any(str(column).startswith(_PREFIX) for column in row)


def _scores(row: Any) -> Parts:
    """The scores of a sample, by scorer; of a line of samples_df, from score_X, score_X_answer, score_X_explanation."""
    if _is_score_of_inspect(row):
        return [(None, row)]
    if not _is_line(row):
        return list((field(row, "scores") or {}).items())  # none if the sample failed before it was judged
    told = [str(name).removesuffix(_SUFFIX) for name in row if str(name).endswith(_SUFFIX)]
    names = [name.removeprefix(_PREFIX) for name in told if name.startswith(_PREFIX)]
    if not names:
        raise BadInput(
            "This table of samples_df holds no explanations: make it with samples_df(logs, columns=SampleSummary + "
            "SampleScores), both of inspect_ai.analysis."
        )
    fields = {"value": "", "answer": "_answer", "explanation": _SUFFIX}
    return [(name, {part: row.get(f"{_PREFIX}{name}{end}") for part, end in fields.items()}) for name in names]


def _unwrapped(given: Any) -> Any:
    """An input without the role that samples_df writes before a text."""
    return given.removeprefix("user:\n").removesuffix("\n") if isinstance(given, str) else given


_INSPECT = Judged(
    _scores,
    ("value",),
    cleans=_unwrapped,
    remark="predictions are each Score's value, which its explanation explains; answer='answer' reads its answer",
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


def _assessments(row: Any) -> Parts | None:
    """Feedback that counts; and what evaluate's table holds in columns such as correct/value, correct/rationale.

    Expectations are the truth, issues are no judgements, and feedback that is not valid was overridden.
    """
    alone = _is_assessment(row)
    held = [row] if alone else opened(first_field(row, ("assessments", "info.assessments")))
    held = held.tolist() if hasattr(held, "tolist") else held
    counted = [
        (first_field(part, ("assessment_name", "name")), part)
        for part in (held if isinstance(held, list | tuple) else ())
        if field(part, "expectation") is None and field(part, "issue") is None and field(part, "valid") is not False
    ]
    flat = [(name, {"value": row[name + _VALUE], "rationale": row[name + _RATIONALE]}) for name in _judges(row)]
    return counted or (None if alone else flat)


_MLFLOW = Judged(
    _assessments,
    ("value", "feedback.value"),
    "rationale",
    ("request", "inputs", "data.request", "request_preview", "info.request_preview"),
    ("trace_id", "info.trace_id", "request_id"),
)

# -- Langfuse: scores of its client, exports, and traces that hold scores ---------------------------------------------

_TYPES = ("dataType", "data_type")
_TEXTS = ("stringValue", "string_value")
_CASES = ("traceId", "trace_id", "observationId", "observation_id", "subject.id", "id")


def _is_langfuse(row: Any) -> bool:
    """Whether this is a score with its comment, or a trace with a list of them."""
    held = opened(field(row, "scores"))
    return _is_score(row) or (isinstance(held, list) and any(map(_is_score, held)))


def _is_score(row: Any) -> bool:
    typed = any(has(row, name) for name in (*_TYPES, *_TEXTS, *_CASES[:4], "subject"))
    return has(row, "name", "value", "comment") and typed


def _langfuse_parts(row: Any) -> Parts:
    listed = [row] if _is_score(row) else opened(field(row, "scores")) or []
    return [(field(part, "name"), part) for part in listed]


# The answer of a score is its text if it has one, else its number. A score of numbers has none of the texts; the number
# of a category without a configuration is always 0.
_LANGFUSE = Judged(_langfuse_parts, (*_TEXTS, "value"), "comment", ids=_CASES)

# -- Phoenix: Score objects, and tables with {name}_score, or with label, score and explanation -----------------------

_CELL = "_score"


def _is_phoenix(row: Any) -> bool:
    """Whether this is an evaluation, or a line of a table that has some; a label beside an answer may be the truth."""
    answered = isinstance(row, Mapping) and any(str(name).lower() in ANSWERS[0] for name in row)
    return bool(_cells(row)) or (has(row, "label", "explanation", "score") and not answered)


def _cells(row: Any) -> Parts:
    """The evaluations in the columns that hold an object with a label or an explanation, by their names."""
    cells = {str(name): opened(field(row, name)) for name in row} if isinstance(row, Mapping) else {}
    known = {name: cell for name, cell in cells.items() if name.endswith(_CELL) and isinstance(cell, Mapping)}
    return [
        (name.removesuffix(_CELL), cell)
        for name, cell in known.items()
        if has(cell, "explanation") or has(cell, "label") or has(cell, "score", "name")
    ]


def _phoenix_parts(row: Any) -> Parts:
    alone = has(row, "label", "explanation")
    return _cells(row) or ([(first_field(row, ("annotation_name", "name")), row)] if alone else [])


_PHOENIX = Judged(
    _phoenix_parts,
    ("label",),
    inputs=("input", "attributes.input.value", "input.value", "question", "query"),
    ids=("context.span_id", "span_id", "id"),
    instead="score",
    cleans=lambda given: given,
)

# -- chats and batches of OpenAI and Anthropic, whose last message is JSON with an answer and a reason ----------------

_BODIES = ("response.body", "result.message", "response")
_REPLY_PARTS = ("choices", "output", "content", "message")


def _is_chat(row: Any) -> bool:
    """Whether this is a chat, or a line of a batch's results."""
    return has(row, "messages") or (has(row, "custom_id") and (has(row, "response") or has(row, "result")))


def _chat_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per line; a reply that is no JSON with both parts misses both."""
    replies, abouts = [], []
    for row in rows:
        held = opened(field(row, "messages"))
        messages = held if isinstance(held, list) else []
        said = [message for message in messages if field(message, "role") in ("assistant", "model")]
        given = [message for message in messages if message not in said] or field(row, "input")
        replies.append(text_of(said[-1]) if said else _reply(first_field(row, _BODIES)))
        abouts.append(asked.about(row, given, first_field(row, ("custom_id", "id"))))
    return _entries(_all_parts(replies, asked), abouts)


def _entries(parts: Iterable[tuple[Any, Any]], abouts: Iterable[dict[str, Any]]) -> Entries:
    pairs = zip(parts, abouts, strict=True)
    return [Entry(number, *part, **about) for number, (part, about) in enumerate(pairs)], ()


def _reply(body: Any) -> str | None:
    """The text of the only reply in the body of a response."""
    held = first_field(body, _REPLY_PARTS)
    if not isinstance(held, list):
        return text_of(held)
    texts = [text_of(field(part, "message") or part) for part in held]
    return "\n".join(text for text in texts if text is not None) or None


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
        held = json_value(reply) if isinstance(reply, str) else reply
    except Unreadable:
        return {}
    return held if isinstance(held, Mapping) else {}


# -- records with an input, an answer and an explanation: lines of a file, dicts, or the rows of a table --------------

_REPLY_FIELDS = ("output", "response", "completion", "content", "reply")  # with answer and explanation as JSON


def _record_entries(rows: Sequence[Any], asked: AskedFields) -> Entries:
    """One entry per record."""
    known = _fields(rows)
    given, case = asked.input or the_field(known, INPUTS, "input"), asked.id or the_field(known, IDS, "id")
    abouts = [{"input": field(row, given or ""), "id": field(row, case or "")} for row in rows]
    if asked.explanation is None:
        explanation = the_field(known, EXPLANATIONS, "explanation")
    else:
        explanation = asked.explanation if any_holds(rows, asked.explanation) else None
    reply = None if explanation else next((name for name in _REPLY_FIELDS if name in known), None)
    if reply is not None:
        return _entries(_all_parts((field(row, reply) for row in rows), asked), abouts)
    explanation = explanation or asked.explanation or needed(known, EXPLANATIONS, "explanation")
    answer = asked.answer or _answer_field(known)
    return _entries([(field(row, answer), field(row, explanation)) for row in rows], abouts)


def any_holds(rows: Sequence[Any], path: str) -> bool:
    """Whether a field of any record is not missing."""
    return any(field(row, path) is not None for row in rows)


def _answer_field(known: Sequence[str]) -> str:
    """The field of the answer; beside a response or a judge's label, "answer" may be the one that is right."""
    name = needed(known, ANSWERS, "answer")
    other = the_field(known, ANSWERS[1:], "answer") if name.strip().lower() == "answer" else None
    other = "label" if {"label", "score"} <= set(known) else other
    if other is not None:
        raise BadInput(
            f"{name!r} and {other!r} may both hold the answer that is explained, and one of them may be what is right: "
            f"say which, such as answer={other!r}."
        )
    return name


def _fields(rows: Sequence[Any]) -> list[str]:
    """The fields of all records, in order of appearance."""
    records = [row if isinstance(row, Mapping) else getattr(row, "__dict__", None) for row in rows]
    if None in records:
        odd = records.index(None)
        raise BadInput(
            f"Row {odd} is no record with fields ({type(rows[odd]).__name__}): pass dicts with input, answer and "
            "explanation, a table, or the path of a file of them."
        )
    return list(dict.fromkeys(str(name) for record in records for name in record or ()))


FORMS: tuple[Form, ...] = (  # the first that recognizes a row reads all of them
    ("inspect_logs", _is_inspect, _INSPECT),
    ("mlflow", _is_mlflow, _MLFLOW),
    ("langfuse", _is_langfuse, _LANGFUSE),
    ("phoenix", _is_phoenix, _PHOENIX),
    ("chats", _is_chat, _chat_entries),
)
RECORDS: Form = ("records", lambda row: True, _record_entries)
