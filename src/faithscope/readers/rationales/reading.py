"""read_rationales(): the one way from a log of rationales to reasons, predictions and inputs."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Literal

import numpy as np

from faithscope.errors import BadInput, FaithscopeError, UnknownName, WrongType
from faithscope.explanations.base import several
from faithscope.explanations.reasons import Reasons
from faithscope.inputs.alignment import index_of
from faithscope.inputs.arrays import frame_column, frame_names, is_frame, to_objects, to_vector
from faithscope.inputs.hints import hint
from faithscope.inputs.queries import refuse_query
from faithscope.readers.rationales import chats, inspect_logs, langfuse, mlflow, phoenix, records
from faithscope.readers.rationales.entries import Asked, Entry, field, has
from faithscope.readers.rationales.files import read_file
from faithscope.readers.rationales.result import Rationales
from faithscope.readers.rationales.texts import input_text, rationale_text

READERS: tuple[ModuleType, ...] = (inspect_logs, mlflow, langfuse, phoenix, chats)  # the first that recognizes it
_NULLS = ("error", "drop", "key")
_TRIED = 1000  # rows that are shown to readers
_MISSING = "missing"  # the label of a missing answer that is kept
_JSON = "rationales that are no texts were written as JSON"


def read_rationales(
    thing: Any,
    *,
    name: str | None = None,
    answer: str | None = None,
    explanation: str | None = None,
    input: str | None = None,
    id: str | None = None,
    nulls: Literal["error", "drop", "key"] = "error",
) -> Rationales:
    """The rationales of a log, with the predictions that they explain and the inputs that they are about.

    Objects are recognized by their attributes, tables and records by their fields; no library is imported.

    Parameters
    ----------
    thing : object
        Of Inspect: a log, samples, scores, or the table of ``samples_df``. Of MLflow: feedback, traces, or tables of
        ``search_traces`` and ``evaluate``. Of Phoenix: scores, or tables of evaluations or annotations. Of Langfuse:
        scores or traces. Chats and batch results in which the reply is JSON with an answer and an explanation. Else
        records or a table with an input, an answer and an explanation. The path of a .jsonl, .json or .csv file of any
        of these.
    name : str, optional
        Whose rationales, if the log holds those of several scorers or judges.
    answer : str, optional
        The field that holds what was decided, such as "answer" of Inspect's scores, whose "value" is read by default;
        a field of a field is "value.correct".
    explanation, input, id : str, optional
        The fields that hold the rest, if they have other names than usual.
    nulls : {"error", "drop", "key"}
        Rows without an answer or a rationale: an error with their number; left out; or kept, with an empty rationale
        and the answer "missing".

    Returns
    -------
    Rationales

    Examples
    --------
    >>> from faithscope import consistency
    >>> log = [{"input": "Win money!", "answer": "spam", "explanation": "It offers money."},
    ...        {"input": "Cash for you", "answer": "spam", "explanation": "it offers money"},
    ...        {"input": "See you at 5", "answer": "ham", "explanation": "A friend writes."}]
    >>> rationales = read_rationales(log)
    >>> round(consistency(rationales.reasons, rationales.predictions).verified, 2)
    1.0
    """
    asked = Asked(*(_checked(*pair) for pair in _options(name, answer, explanation, input, id)))
    if not isinstance(nulls, str) or nulls not in _NULLS:
        raise BadInput(f"nulls must be one of {', '.join(_NULLS)}; got {nulls!r}.")
    rows = _rows(thing)
    if not rows:
        raise BadInput("The log holds no rows: pass one that holds rationales.")
    reader = records if asked.explanation else _reader(rows)
    with _understood(reader.__name__.rpartition(".")[2]):
        listed, remarks = reader.entries(rows, asked)
    kept, dropped = _present(_of_name(listed, asked.name), nulls)
    return _rationales(kept, (*remarks, *dropped))


def _reader(rows: Sequence[Any]) -> ModuleType:
    """The reader that recognizes a row; the first rows may be of cases that failed."""
    return next((each for row in rows[:_TRIED] for each in READERS if each.recognizes(row)), records)


@contextmanager
def _understood(form: str) -> Iterator[None]:
    """Raise one sentence if rows have the fields of a library's, but not their content."""
    try:
        yield
    except FaithscopeError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as why:
        raise BadInput(
            f"Rows look like {form}, but cannot be read ({type(why).__name__}: {why}): pass dicts with input, answer and "
            "explanation."
        ) from why


def _options(*given: Any) -> Iterable[tuple[str, Any]]:
    return zip(("name", "answer", "explanation", "input", "id"), given, strict=True)


def _checked(option: str, given: Any) -> str | None:
    if given is not None and (not isinstance(given, str) or not given):
        raise WrongType(f"{option} must be a text; got {given!r}.")
    return given


def _rows(thing: Any) -> list[Any]:
    """The rows of a log, whatever holds them: a file, a table, a list, or an object that has one of these."""
    if isinstance(thing, str | os.PathLike):
        return _rows(read_file(thing))
    refuse_query(thing, "Rationales")
    if is_frame(thing):
        return _table_rows(thing)
    if isinstance(thing, list | tuple) or (isinstance(thing, np.ndarray) and thing.ndim == 1):
        return list(thing)
    if hasattr(thing, "to_pylist") or hasattr(thing, "to_list"):  # a column of records
        return _items(thing)
    for held in ("samples", "result_df", "data", "traces"):
        inner = field(thing, held)
        if is_frame(inner) or (isinstance(inner, list) and inner):
            return _rows(inner)
    if isinstance(thing, Mapping) or any(each.recognizes(thing) for each in READERS):
        return [thing]
    raise WrongType(
        f"Rationales came as {type(thing).__module__}.{type(thing).__qualname__}, which is not known here: pass a list "
        "of dicts with input, answer and explanation, a table, or the path of a file."
    )


def _table_rows(frame: Any) -> list[dict[str, Any]]:
    names = frame_names(frame)
    if len(set(names)) < len(names):
        raise BadInput(f"Two columns are called {max(names, key=names.count)!r}: rename one of them.")
    columns = {name: _items(frame_column(frame, j)) for j, name in enumerate(names)}
    index = index_of(frame)
    if index is not None and isinstance(index.name, str) and index.name not in columns:
        columns[index.name] = index.tolist()
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _items(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())


def _of_name(listed: Sequence[Entry], name: str | None) -> list[Entry]:
    """The entries of one name: the one asked for, or the only one that has rationales."""
    names = list(dict.fromkeys(entry.name for entry in listed if entry.name is not None))
    telling = list(
        dict.fromkeys(entry.name for entry in listed if entry.name is not None and entry.rationale is not None)
    )
    if name is None:
        if len(telling) > 1:
            shown = ", ".join(map(repr, telling[:12]))
            raise BadInput(f"The log holds rationales by {shown}: choose one, such as name={telling[0]!r}.")
        name = next(iter(telling or names), None)
    elif name not in names:
        raise UnknownName(f"The log holds no rationales by {name!r}. {hint(name, names)}")
    return [entry for entry in listed if entry.name == name]


def _present(listed: Sequence[Entry], nulls: str) -> tuple[list[Entry], tuple[str, ...]]:
    """The entries with an answer and a rationale, and a remark on the others."""
    missing = [entry for entry in listed if entry.answer is None or entry.rationale is None]
    if not missing:
        return list(listed), ()
    count = f"{len(missing):,} of {several(len(listed), 'row', 'rows')} without an answer or a rationale"
    what = " and ".join(f"its {word}" for word in ("answer", "rationale") if getattr(missing[0], word) is None)
    if nulls == "error":
        first = f"the first is row {missing[0].row}, without {what}"
        raise BadInput(f'The log has {count}; {first}: pass nulls="drop" to leave such rows out.')
    if nulls == "key":
        return list(listed), (f'{count} were kept, with an empty rationale or the answer "{_MISSING}"',)
    kept = [entry for entry in listed if entry.answer is not None and entry.rationale is not None]
    if not kept:
        raise BadInput(f"The log has {count}, so no row is left to measure: read one that holds both.")
    return kept, (f"{count} were left out",)


def _rationales(kept: Sequence[Entry], remarks: tuple[str, ...]) -> Rationales:
    texts = ["" if entry.rationale is None else rationale_text(entry.row, entry.rationale) for entry in kept]
    about = to_objects([input_text(entry.input) for entry in kept])
    ids = to_objects([entry.id for entry in kept])
    as_json = any(not isinstance(entry.rationale, str | None) for entry in kept)
    told = (*remarks, *((_JSON,) if as_json else ()), *_repeated(ids))
    reasons = Reasons(texts)._with(about=about, remarks=told)
    predictions = to_vector(_answers(kept), "Predictions")
    return Rationales(reasons, predictions, to_objects([entry.input for entry in kept]), ids)


def _answers(kept: Sequence[Entry]) -> list[Any]:
    answers = [None if entry.answer is None else _answer(entry) for entry in kept]
    if any(given is None for given in answers) and _MISSING in answers:
        raise BadInput(f'An answer is {_MISSING!r} already, so missing ones cannot be kept: pass nulls="drop".')
    return [_MISSING if given is None else given for given in answers]


def _answer(entry: Entry) -> Any:
    """The answer, which is one value."""
    if isinstance(entry.answer, Mapping) or has(entry.answer, "__dataclass_fields__"):
        keys = list(entry.answer) if isinstance(entry.answer, Mapping) else []
        inside = f", such as answer='value.{keys[0]}'" if keys else ""
        raise WrongType(f"The answer at row {entry.row} has several parts ({entry.answer!r}): choose one{inside}.")
    if isinstance(entry.answer, list | tuple | set | np.ndarray):
        raise WrongType(
            f"The answer at row {entry.row} is a list ({entry.answer!r}): name a field that holds one value."
        )
    return entry.answer


def _repeated(ids: Any) -> tuple[str, ...]:
    """A remark if rows are of the same case, such as several epochs of a sample: they are not independent."""
    texts = [repr(item) for item in ids if item is not None]
    rows = sum(count for count in Counter(texts).values() if count > 1)
    told = f"{rows:,} of {len(ids):,} rows share their id with another row: pass clusters=rationales.ids to a measure"
    return (told,) if rows else ()
