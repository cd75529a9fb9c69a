"""read_rationales(): the one way from a log of rationales to reasons, predictions and inputs."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Literal

from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.inputs.alignment import index_of
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.checks import check_word
from faithscope.readers.rationales import chats, inspect_logs, langfuse, mlflow, phoenix, records
from faithscope.readers.rationales.assembling import assembled
from faithscope.readers.rationales.choosing import of_name, present, refuse_unknown
from faithscope.readers.rationales.entries import AskedFields
from faithscope.readers.rationales.result import Rationales
from faithscope.readers.rationales.rows import log_rows

READERS: tuple[ModuleType, ...] = (inspect_logs, mlflow, langfuse, phoenix, chats)  # the first that recognizes it
_NULLS = ("error", "drop", "key")
_TRIED = 1000  # rows that are shown to readers


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
    asked = AskedFields(*(_checked(*pair) for pair in _options(name, answer, explanation, input, id)))
    check_word(nulls, "nulls", _NULLS)
    rows = log_rows(thing, lambda row: any(each.recognizes(row) for each in READERS))
    if not rows:
        raise BadInput("The log holds no rows: pass one that holds rationales.")
    reader = _reader(rows, asked.explanation)
    with _understood(reader.__name__.rpartition(".")[2]):
        listed, remarks = reader.entries(rows, asked)
    refuse_unknown(listed, asked, rows)
    kept, dropped = present(of_name(listed, asked.name), nulls)
    return assembled(kept, (*remarks, *dropped), index_of(thing) if is_frame(thing) else None)


def _reader(rows: Sequence[Any], explanation: str | None) -> ModuleType:
    """The reader that recognizes a row; the first rows may be of cases that failed.

    If the caller names the field of the explanation, that is one of the rows, or of the replies in chats.
    """
    reader = next((each for row in rows[:_TRIED] for each in READERS if each.recognizes(row)), records)
    in_reply = reader is chats and not (explanation and records.any_holds(rows, explanation))
    return reader if explanation is None or in_reply else records


@contextmanager
def _understood(form: str) -> Iterator[None]:
    """Raise one sentence if rows have the fields of a library's, but not their content."""
    try:
        yield
    except FaithscopeError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as why:
        raise BadInput(
            f"Rows look like {form}, but cannot be read ({type(why).__name__}: {why}): pass dicts with input, answer "
            "and explanation."
        ) from why


def _options(*given: Any) -> Iterable[tuple[str, Any]]:
    return zip(("name", "answer", "explanation", "input", "id"), given, strict=True)


def _checked(option: str, given: Any) -> str | None:
    if given is not None and (not isinstance(given, str) or not given):
        raise WrongType(f"{option} must be a text; got {given!r}.")
    return given
