"""Entries of a log as `Rationales`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.reasons import Reasons
from faithscope.inputs.arrays import to_objects, to_vector
from faithscope.inputs.folding import fold
from faithscope.readers.rationales.entries import MISSING, Entry, has
from faithscope.readers.rationales.result import Rationales
from faithscope.readers.rationales.texts import input_text, rationale_text
from faithscope.visible import visible

_JSON = "rationales that are no texts were written as JSON"


def assembled(kept: Sequence[Entry], remarks: tuple[str, ...], index: Any = None) -> Rationales:
    """The parts of these entries, with what is to be said of them among the notes of the reasons.

    `index` has the labels of the rows of the log, if it is a table of pandas.
    """
    texts = ["" if entry.rationale is None else rationale_text(entry.row, entry.rationale) for entry in kept]
    about = to_objects([input_text(entry.input) for entry in kept])
    ids = to_objects([entry.id for entry in kept])
    as_json = any(not isinstance(entry.rationale, str | None) for entry in kept)
    told = (*remarks, *((_JSON,) if as_json else ()), *_repeated(ids), *_alike(kept))
    labels = None if index is None else index[[entry.row for entry in kept]]
    reasons = Reasons(texts)._with(about=about, remarks=told, index=labels)
    predictions = to_vector(_answers(kept), "Predictions")
    return Rationales(reasons, predictions, to_objects([entry.input for entry in kept]), ids)


def _answers(kept: Sequence[Entry]) -> list[Any]:
    answers = [None if entry.answer is None else _answer(entry) for entry in kept]
    if any(given is None for given in answers) and MISSING in answers:
        raise BadInput(f'An answer is {MISSING!r} already, so missing ones cannot be kept: pass nulls="drop".')
    return [MISSING if given is None else given for given in answers]


def _answer(entry: Entry) -> Any:
    """The answer, which is one value."""
    if isinstance(entry.answer, Mapping) or has(entry.answer, "__dataclass_fields__"):
        keys = list(entry.answer) if isinstance(entry.answer, Mapping) else []
        inside = f", such as answer='value.{keys[0]}' of a field called 'value'" if keys else ""
        raise WrongType(f"The answer at row {entry.row} has several parts ({entry.answer!r}): choose one{inside}.")
    if isinstance(entry.answer, list | tuple | set | np.ndarray):
        raise WrongType(
            f"The answer at row {entry.row} is a list ({entry.answer!r}): name a field that holds one value, or pass a "
            "table if these are columns."
        )
    return entry.answer


def _repeated(ids: Any) -> tuple[str, ...]:
    """A remark if rows are of the same case, such as several epochs of a sample: they are not independent."""
    texts = [repr(item) for item in ids if item is not None]
    rows = sum(count for count in Counter(texts).values() if count > 1)
    told = f"{rows:,} of {len(ids):,} rows share their id with another row: pass clusters=rationales.ids to a measure"
    return (told,) if rows else ()


def _alike(kept: Sequence[Entry]) -> tuple[str, ...]:
    """A remark if answers differ in nothing but case, punctuation and white space: they are different predictions."""
    texts = dict.fromkeys(entry.answer for entry in kept if isinstance(entry.answer, str))
    first: dict[str, str] = {}
    for text in texts:
        other = first.setdefault(fold(text), text)
        if other is not text and fold(text):
            pair = f"{visible(repr(other))[:40]} and {visible(repr(text))[:40]}"
            return (f"answers such as {pair} are different predictions: write them alike if they mean the same",)
    return ()
