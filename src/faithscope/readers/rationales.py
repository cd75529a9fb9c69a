"""read_rationales(): from a log of language models or judges to reasons, predictions and inputs."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from faithscope.errors import BadInput, UnknownName, WrongType
from faithscope.explanations.reasons import Reasons
from faithscope.explanations.rule_json import once
from faithscope.inputs.alignment import index_of
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import frame_column, frame_names, is_frame, refuse_query, to_objects, to_vector
from faithscope.inputs.checks import check_word, one_sentence
from faithscope.inputs.documents import fold
from faithscope.readers.log_entries import Entry, entries, field, input_text, opened, written
from faithscope.visible import visible
from faithscope.words import hint, readable, several

_NULLS = ("error", "drop", "key")
_PARTS = ("answer", "explanation", "input", "id")  # of a rationale, each in a field that a caller may name
_MISSING = "missing"  # the label of a missing answer that is kept
_CHANGED = "The log cannot be read ({why}): pass dicts with input, answer and explanation."


@dataclass(frozen=True, eq=False, repr=False)
class Rationales:
    """Rationales of a log, with the predictions that they explain and the inputs that they are about.

    Made by `read_rationales`. Every measure takes its parts: ``fs.consistency(r.reasons, r.predictions)``.

    Attributes
    ----------
    reasons : Reasons
        The rationales as texts, with their inputs as texts if the log has them. Their notes say how they were read.
    predictions : (n,) array
        What was decided: the model's answer, or the judge's verdict.
    inputs : (n,) array
        What it was decided about, as the log has it; None for a row without one.
    ids : (n,) array
        Which case each row is, as the log has it; None for a row without one. Repeated ones are ``clusters=``.

    Examples
    --------
    >>> from faithscope import read_rationales
    >>> rationales = read_rationales([{"input": "Win money!", "answer": "spam", "explanation": "It offers money."}])
    >>> rationales
    <1 rationale, with predictions and inputs>
    """

    reasons: Reasons
    predictions: Array
    inputs: Array
    ids: Array

    def __len__(self) -> int:
        return len(self.predictions)

    def __repr__(self) -> str:
        known = [name for name in ("inputs", "ids") if any(item is not None for item in getattr(self, name))]
        return f"<{several(len(self), 'rationale', 'rationales')}, with {' and '.join(['predictions', *known])}>"

    @property
    def notes(self) -> tuple[str, ...]:
        """How the log was read, and what was left out."""
        return self.reasons.notes

    def to_frame(self) -> Any:
        """A pandas table with the columns id, input, prediction and rationale."""
        import pandas as pd

        rows = zip(self.ids, self.inputs, self.predictions, self.reasons.texts, strict=True)
        return pd.DataFrame(list(rows), columns=["id", "input", "prediction", "rationale"])

    def input_table(self) -> Any:
        """Inputs that are dicts of features, or their JSON, as a pandas table: the rows of a measure of rules.

        Examples
        --------
        >>> from faithscope import read_rationales
        >>> why = '{"feature": "age", "op": "<", "value": 30}'
        >>> log = [{"input": {"age": age}, "answer": "no", "explanation": why} for age in (25, 29)]
        >>> rationales = read_rationales(log)
        >>> rationales.reasons.to_rules(rationales.input_table()).describe(0)
        'age < 30'
        """
        import pandas as pd

        rows = [opened(given) for given in self.inputs]
        odd = next((row for row, given in enumerate(rows) if not isinstance(given, Mapping)), None)
        if odd is not None:
            seen = visible(repr(self.inputs[odd])[:60])
            raise BadInput(
                f"The input of row {odd} is no dict of features ({seen}): pass the table of rows that you have."
            )
        return pd.DataFrame(list(map(dict, rows)))


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
        scores or traces. Chats, batch results and plain replies that are JSON with an answer and an explanation. Else
        records or a table with an input, an answer and an explanation. The path of a .jsonl or .json file of any of
        these.
    name : str, optional
        Whose rationales, if the log holds those of several scorers or judges.
    answer : str, optional
        The field that holds what was decided, such as "answer" of Inspect's scores, whose "value" is read by default;
        a field of a field is "value.correct".
    explanation, input, id : str, optional
        The fields that hold the rest, if they have other names than usual.
    nulls : {"error", "drop", "key"}
        Rows without an answer or a rationale: an error with their number; left out; or kept, with an empty rationale
        and the answer "missing", beside which answers that are numbers become texts.

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
    asked = Entry(answer, explanation, input, id, name)
    for option in ("name", *_PARTS):
        given = getattr(asked, option)
        if given is not None and (not isinstance(given, str) or not given):
            raise WrongType(f"{option} must be a text; got {given!r}.")
    check_word(nulls, "nulls", _NULLS)
    rows = _log_rows(thing)
    if not rows:
        raise BadInput("The log holds no rows: pass one that holds rationales.")
    if all(isinstance(row, str) for row in rows):  # a model's replies, each a chat of one message
        rows = [{"messages": [{"role": "assistant", "content": reply}]} for reply in rows]
    with one_sentence(_CHANGED):
        listed, remarks = entries(rows, asked)
    for option in _PARTS:
        given = getattr(asked, option)
        if given is not None and listed and all(getattr(entry, option) is None for entry in listed):
            fields = dict.fromkeys(str(field) for row in rows if isinstance(row, Mapping) for field in row)
            raise UnknownName(
                f"No row of the log holds anything in the field {given!r}, {option}=. {hint(given, fields)}"
            )
    kept, dropped = _kept(listed, name, nulls)
    return _assembled(kept, (*remarks, *dropped), index_of(thing) if is_frame(thing) else None)


# -- rows of a log ----------------------------------------------------------------------------------------------------


def _log_rows(thing: Any) -> list[Any]:
    """The rows of a log, whatever holds them: a file, a table, a column, a list, or an object that has one of these."""
    if isinstance(thing, str | os.PathLike):
        return _log_rows(_read_file(Path(thing)))
    refuse_query(thing, "Rationales")
    if is_frame(thing):
        names, index = frame_names(thing), index_of(thing)
        if len(set(names)) < len(names):
            raise BadInput(f"Two columns are called {max(names, key=names.count)!r}: rename one of them.")
        columns = {name: _items(frame_column(thing, j)) for j, name in enumerate(names)}
        if index is not None and isinstance(index.name, str):
            columns.setdefault(index.name, index.tolist())
        return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    if isinstance(thing, list | tuple) or (isinstance(thing, np.ndarray) and thing.ndim == 1):
        return list(thing)
    if hasattr(thing, "to_pylist") or hasattr(thing, "to_list"):  # a column of records
        return _items(thing)
    for held in ("samples", "result_df", "data", "traces"):
        inner = field(thing, held)
        if is_frame(inner) or (isinstance(inner, list) and inner):
            return _log_rows(inner)
    if isinstance(thing, Mapping) or hasattr(thing, "__dict__"):
        return [thing]
    raise WrongType(
        f"Rationales came as {type(thing).__module__}.{type(thing).__qualname__}, which is not known here: pass a list "
        "of dicts with input, answer and explanation, a table, or the path of a file."
    )


def _items(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())


_ENDINGS = (".jsonl", ".ndjson", ".json")
_OTHERS = {
    ".eval": " (pass inspect_ai.log.read_eval_log(path))",
    ".csv": " (pass pd.read_csv(path, dtype=str))",
    ".parquet": " (pass pd.read_parquet(path))",
}


def _read_file(path: Path) -> Any:
    """The JSON that a file holds: one value, or one per line."""
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise BadInput(
            f"Rationales are read from files that end in {', '.join(_ENDINGS)}; got {str(path)!r}"
            f"{_OTHERS.get(ending, '')}."
        )
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as why:
        raise BadInput(f"The file {str(path)!r} cannot be read ({why}): pass the path of a log.") from None
    try:
        return json.loads(content, object_pairs_hook=once)
    except (ValueError, RecursionError):
        rows = []
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            rows += [json.loads(line.decode("utf-8-sig"), object_pairs_hook=once)] if line.strip() else []
        except (ValueError, RecursionError) as problem:
            told = "it nests too deeply" if isinstance(problem, RecursionError) else problem
            raise BadInput(
                f"Line {number:,} of {path.name} is no JSON in UTF-8 ({told}): mend it, or leave it out if the log was "
                "cut short."
            ) from None
    return rows


# -- which entries are measured: those of one name, with an answer and a rationale ------------------------------------


def _kept(entries: Sequence[Entry], name: str | None, nulls: str) -> tuple[list[Entry], tuple[str, ...]]:
    """The whole entries of one name, asked for or the only one with rationales; and a remark on the others."""
    names = list(dict.fromkeys(entry.name for entry in entries if entry.name is not None))
    telling = list(dict.fromkeys(entry.name for entry in entries if entry.explanation is not None))
    if name is not None and name not in names:
        raise UnknownName(f"The log holds no rationales by {name!r}. {hint(name, names)}")
    if name is None and len(telling) > 1:
        shown = ", ".join("nobody" if each is None else repr(each) for each in telling[:12])
        such = next(filter(None, telling))
        raise BadInput(f"The log holds rationales by {shown}: choose one, such as name={such!r}.")
    name = name or next(iter(telling or names), None)
    listed = [entry for entry in entries if entry.name == name]
    whole = [entry for entry in listed if entry.answer is not None and entry.explanation is not None]
    if len(whole) == len(listed):
        return whole, ()
    count = f"{len(listed) - len(whole):,} of {several(len(listed), 'row', 'rows')} without an answer or a rationale"
    if nulls == "key":
        return listed, (f'{count} were kept, with an empty rationale or the answer "{_MISSING}"',)
    if not whole:
        raise BadInput(f"The log has {count}, so no row is left to measure: read one that holds both.")
    if nulls == "error":
        first = next(entry for entry in listed if entry.answer is None or entry.explanation is None)
        parts = {"its answer": first.answer, "its rationale": first.explanation}
        what = " and ".join(part for part, given in parts.items() if given is None)
        raise BadInput(
            f"The log has {count}; the first is row {first.row}, without {what}: "
            'pass nulls="drop" to leave such rows out.'
        )
    return whole, (f"{count} were left out",)


# -- entries as Rationales --------------------------------------------------------------------------------------------


def _assembled(kept: Sequence[Entry], remarks: tuple[str, ...], index: Any) -> Rationales:
    """The parts of these entries, with what is to be said of them among the notes of the reasons.

    `index` has the labels of the rows of the log, if it is a table of pandas.
    """
    ids, told = to_objects([entry.id for entry in kept]), list(remarks)
    if any(not isinstance(entry.explanation, str | None) for entry in kept):
        told.append("rationales that are no texts were written as JSON")
    counts = Counter(repr(item) for item in ids if item is not None)
    repeated = sum(count for count in counts.values() if count > 1)
    if repeated:  # such as several epochs of a sample, which are not independent
        rows = f"{repeated:,} of {len(ids):,} rows share their id with another row"
        told.append(f"{rows}: pass clusters=rationales.ids to a measure")
    answers = list(map(_answer, kept))
    first: dict[str, str] = {}
    for text in dict.fromkeys(answer for answer in answers if isinstance(answer, str)):
        other = first.setdefault(fold(text), text)
        if other is not text and fold(text):
            pair = f"{visible(repr(other))[:40]} and {visible(repr(text))[:40]}"
            told.append(f"answers such as {pair} are different predictions: write them alike if they mean the same")
            break
    if None in answers:
        if _MISSING in answers:
            raise BadInput(f'An answer is {_MISSING!r} already, so missing ones cannot be kept: pass nulls="drop".')
        answers = [_MISSING if given is None else readable(given) for given in answers]  # all of one type
    predictions = to_vector(answers, "Predictions")
    about = to_objects([input_text(entry.input) for entry in kept])
    labels = None if index is None else index[[entry.row for entry in kept]]
    reasons = Reasons(list(map(_text, kept)))._with(about=about, remarks=tuple(told), index=labels)
    return Rationales(reasons, predictions, to_objects([entry.input for entry in kept]), ids)


def _text(entry: Entry) -> str:
    """The rationale as a text; one that is an object or a list of JSON as its JSON."""
    given = entry.explanation
    if given is None or isinstance(given, str):
        return given or ""
    if isinstance(given, Mapping | list | tuple):
        return written(given)
    raise WrongType(f"Row {entry.row} has {given!r} ({type(given).__name__}) as its rationale: rationales are texts.")


def _answer(entry: Entry) -> Any:
    """The answer, which is one value."""
    given = entry.answer
    if isinstance(given, Mapping | list | tuple | set | np.ndarray) or hasattr(given, "__dataclass_fields__"):
        inside = f", such as answer='value.{next(iter(given))}'" if isinstance(given, Mapping) and given else ""
        raise WrongType(
            f"The answer at row {entry.row} has several parts ({given!r}): name a field that holds one value{inside}."
        )
    return given
