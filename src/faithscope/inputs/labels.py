"""Labels, groups, keys and weights: one value per row, of one type, none missing.

Predictions may hold more than a label: scores of a text classifier.
"""

import datetime
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Array, Floats
from faithscope.inputs.arrays import frame_columns, is_frame, is_row, to_objects, to_vector
from faithscope.inputs.checks import same_length
from faithscope.inputs.columns import Column, Rows
from faithscope.inputs.missing import refuse_missing
from faithscope.inputs.numbers import refuse_nonfinite, stack_numbers, to_matrix

_FEWEST = 20  # rows below which nothing looks continuous
_FEWEST_WHOLE = 50  # different whole numbers that may all be classes
_NEARLY_ALL = 0.9
_SPAN = 1e9  # the largest weight over the smallest; beyond it their squares cancel
_CLASSES = "the predicted class, e.g. probabilities.argmax(axis=1); if several labels, [str(row) for row in labels]"
OF_NUMBERS = "agreement=fs.Spread() or fs.Close(eps)"
_NUMBERS = f"{OF_NUMBERS} for numbers (a monitor takes labels alone), or "  # where agreement= is taken
_COMPARABLE = {str, bytes, int, float, bool, Decimal}  # with all of their own kind


def to_keys(column: Array, what: str) -> Array:
    """What `to_vector` gave, if it is one hashable value per row, none missing, and all of one type."""
    if column.ndim != 1:
        raise BadInput(f"{what} must be one value per row; got shape {column.shape}.")
    refuse_missing(column, what)
    if column.dtype.kind in "Mm" and np.datetime_data(column.dtype)[0] == "ns":  # which Python turns into integers
        coarse = column.astype(f"{column.dtype.kind}8[us]")
        column = coarse if (coarse == column).all() else to_objects(list(column))
    if column.dtype == object:
        _refuse_incomparable(column, what)
        refuse_mixed(column, what)
    return column


def _refuse_incomparable(column: Array, what: str) -> None:
    """Raise, naming the first row, if a value has no hash or cannot be compared with those before it."""
    if set(map(type, column)) <= _COMPARABLE:
        return
    seen: dict[Any, int] = {}
    for row, item in enumerate(column):
        own = getattr(type(item), "__hash__", None) is object.__hash__
        why = "which only ever equals itself" if own else ""
        try:
            seen.setdefault(item, row)
        except Exception as error:  # a caller's class may raise anything
            why = f"which raises {type(error).__name__} ({error})"
        if why:
            raise WrongType(
                f"{what} must be hashable and equal by value; row {row} is a {type(item).__name__} ({item!r}), {why}. "
                "Use a tuple, a frozenset or a string of what identifies it."
            )


def refuse_mixed(column: Array, what: str) -> None:
    """Raise, naming both rows, if an object array holds values of different families of types, or days and moments."""
    if len(set(map(type, column))) < 2:
        return
    known = Column("", column)
    families = known.families
    if known.family.startswith("date") and not known.dated:  # a day never equals a moment, not even its midnight
        kinds = ["date with a time" if isinstance(item, datetime.datetime) else "date" for item in column]
        families = {kind: kinds.index(kind) for kind in dict.fromkeys(kinds)}
    if len(families) > 1:
        (first, row), (family, odd) = list(families.items())[:2]
        raise WrongType(
            f"{what} mix types: row {row} is {first} ({column[row]!r}), row {odd} is {family} ({column[odd]!r}). Give "
            "every row the same type, e.g. by str()."
        )


def to_labels(given: Any, what: str = "Predictions", *, numbers: bool = False) -> Array:
    """Labels or groups, one per row, as an array of numbers, booleans, dates or Python objects.

    Parameters
    ----------
    numbers : bool
        Whether the caller may pass `agreement=` in place of labels, as an error message then says.
    """
    predicted = what == "Predictions"
    if predicted:  # without the scores of a text classifier, and dense
        given = given.toarray() if hasattr(given, "tocsr") else of_scores(given) or given
    columns = _columns(given, what)
    if len(columns) != 1:
        spread = "agreement=fs.Spread(), or " if numbers else ""
        advice = f". If these are class probabilities, pass {spread}{_CLASSES}" if predicted else ": pass one column"
        advice += "; if they are explanations, the two are swapped" if predicted else ""
        raise BadInput(f"{what} must be one value per row; got {len(columns)} columns{advice}.")
    return to_keys(columns[0], what)


def _columns(given: Any, what: str) -> list[Array]:
    """The columns of what should be one; of an array of many axes parts that have several themselves."""
    if is_frame(given):
        return frame_columns(given)[1]
    values = to_vector(given, what)
    if values.ndim == 1 and values.dtype == object and len(values) and is_row(values[0]):
        return [column.values for column in Rows(given, what=what).columns]
    return [values] if values.ndim == 1 else list(values.T)


def to_predictions(given: Any, *, part: bool = False) -> Array:
    """The model's predicted labels; refuses numbers that are nearly all different.

    Called once, on all predictions: some rows may look continuous although the whole does not.

    Parameters
    ----------
    part : bool
        Whether these are predictions for a part of the rows, which may all be of different classes.
    """
    return refuse_continuous(to_labels(given, numbers=not part), part=part)


def refuse_continuous(labels: Array, *, part: bool = False) -> Array:
    """Labels that `to_labels` gave, unless they are numbers that are nearly all different."""
    n = len(labels)
    if labels.dtype.kind in "iuf" and n >= _FEWEST:
        # A cheap look at whether nearly all may differ, before they are sorted.
        wide = float(labels.max()) - float(labels.min()) >= _NEARLY_ALL * n - 1
        if wide or (labels.dtype.kind == "f" and int((labels != np.floor(labels)).sum()) > n / 2):
            values, rows = np.unique(labels, return_counts=True)
            refuse_numbers(values, rows, "e.g. np.digitize(predictions, edges)", part=part)
    return labels


def to_number_predictions(given: Any, agreement: str, *, vectors: bool = False) -> Floats:
    """Predictions that are finite numbers, (n,); or (n, k) if `vectors` are taken.

    Parameters
    ----------
    agreement : str
        The name of the agreement that compares them, for error messages.
    """
    columns = _columns(given, "Predictions")
    if not columns or any(column.ndim > 1 for column in columns) or (len(columns) != 1 and not vectors):
        raise BadInput(
            f"{agreement} compares one number per row, and fs.Spread() takes several columns; got predictions of shape "
            f"{np.shape(given)}: choose one output."
        )
    read = [Column("", column) for column in columns]
    for column in read:
        row = column.stray("number")
        if row is not None:
            value = column.values[row]
            raise WrongType(
                f"{agreement} compares numbers, but row {row} of the predictions is {type(value).__name__} "
                f"({value!r}): pass real numbers, or leave agreement out to compare labels."
            )
    names = [None] if len(columns) == 1 else range(len(columns))
    numbers = stack_numbers(read, names, "Predictions").astype(np.float64)
    refuse_nonfinite(numbers, "Predictions")
    return numbers[:, 0] if len(columns) == 1 else numbers


def refuse_numbers(values: Array, rows: Array, bins: str, *, part: bool = False) -> None:
    """Raise if labels are numbers that nearly all differ, from 20 rows on.

    Fractions are refused if the different ones are more than half as many as the rows; whole numbers if more than 50 of
    them are different, and more than 9 in 10 rows.

    Parameters
    ----------
    values, rows : (k,) arrays
        The different numbers, and how many rows have each.
    bins : str
        How to make bins, in words or code.
    part : bool
        Whether whole numbers are accepted, as for an explainer, which takes no `agreement` of all kinds.
    """
    n, fractions = int(rows.sum()), values != np.floor(values)
    if n < _FEWEST:
        return
    broken = fractions.sum() > n / 2 and rows[fractions].sum() > n / 2
    if broken or (not part and len(values) > max(_FEWEST_WHOLE, _NEARLY_ALL * n)):
        odd, what = (values[fractions], "fractions") if broken else (values, "whole numbers")
        raise BadInput(
            f"Predictions look continuous: {len(odd):,} different {what} in {n:,} rows, such as {odd[0]}, and labels "
            f"agree only if they are equal: pass {'' if part else _NUMBERS}labels: the predicted class, "
            f"model.predict(X), bins, {bins}, or codes as texts, [str(code) for code in predictions]."
        )


def to_numbers(values: Any, what: str) -> Floats:
    """One finite number per row, such as weights."""
    return to_matrix(to_labels(values, what)[:, None], what)[0][:, 0].astype(np.float64)


def families_of(labels: Any) -> set[str]:
    """The families of types that labels are of: labels of different families never agree.

    Examples
    --------
    >>> sorted(families_of([1, 2.0, "yes"]))
    ['number', 'text']
    """
    return set(Column("", to_objects(list(labels))).families)


class NumberLabels(Sequence[Any]):
    """The distinct predictions, if they are numbers: a tuple of floats that is kept as an array.

    Examples
    --------
    >>> labels = NumberLabels(np.array([0.5, 2.0]))
    >>> labels[1], labels == (0.5, 2.0), labels
    (2.0, True, (0.5, 2.0))
    """

    def __init__(self, values: Floats) -> None:
        self._values = values.copy()
        self._values.flags.writeable = False

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: Any) -> Any:
        chosen = self._values[place].tolist()
        return tuple(chosen) if isinstance(place, slice) else chosen

    def __iter__(self) -> Iterator[float]:
        return iter(self._values.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._values, dtype, copy=copy)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def of_scores(given: Any) -> list[Any] | None:
    """The labels of a text classifier's answers, as Hugging Face's pipelines give them; None for anything else.

    An answer is a dict with "label" and "score", or a list of them with one per class (``top_k=None``), of which the
    label with the highest score counts.

    Examples
    --------
    >>> of_scores([{"label": "good", "score": 0.9}, [{"label": "good", "score": 0.2}, {"label": "bad", "score": 0.8}]])
    ['good', 'bad']
    """
    if not isinstance(given, list | tuple) or not given or not _scores(given[0]):
        return None
    labels = []
    for row, answer in enumerate(given):
        scores = _scores(answer)
        if not scores:
            raise BadInput(
                f"Predictions are dicts with 'label' and 'score', but row {row} is {answer!r}: pass one answer per row."
            )
        labels.append(max(scores, key=lambda score: float(score["score"]))["label"])
    return labels


def _scores(answer: Any) -> list[dict[str, Any]]:
    """The scored labels of an answer; none if it holds anything else."""
    scores = list(answer) if isinstance(answer, list | tuple) else [answer]
    return scores if all(isinstance(each, dict) and {"label", "score"} <= each.keys() for each in scores) else []


def to_weights(weights: Any, rows: int) -> Floats:
    """One weight per row: finite, none negative, not all zero, of comparable size."""
    mass = to_numbers(weights, "Weights")
    same_length(explanations=rows, weights=len(mass))
    if mass.min() < 0:
        row = int((mass < 0).argmax())
        raise BadInput(f"Weights must not be negative; row {row} has {mass[row]:g}: give rows that do not count 0.")
    if not mass.any():
        raise BadInput("All weights are 0, so no row is left: give the rows of the target population positive weights.")
    least, most = mass[mass > 0].min(), mass.max()
    if most / _SPAN > least or most > 1e100 or least < 1e-100:
        raise BadInput(
            f"Weights from {least:g} to {most:g} cannot be added exactly enough: divide all of them by the largest, "
            f"and keep the largest within {_SPAN:g} times the smallest that is not 0."
        )
    return mass
