"""Answers of a judge: to which rows explanations apply, as a table of rows by explanations or as a list of pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.arrays import frame_column, frame_names, frame_width, is_frame, to_array, to_vector
from faithscope.inputs.missing import missing_values
from faithscope.inputs.queries import refuse_query

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

LONG = ("row", "explanation", "applies")  # the columns of a list of pairs
TEXT = "text"  # a column that says which explanation a number stands for
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
_ROUND = "say first which probabilities mean yes, (p >= 0.5)"


@dataclass(frozen=True, eq=False)
class JudgeAnswers:
    """What a judge answered, pair by pair.

    Attributes
    ----------
    row, column, applies : (k,) arrays
        The row, the number of the explanation or of its column, and the answer of each pair that was asked.
    shape : pair of int or None
        Rows and columns of the table; None for a list of pairs.
    names : sequence of str or None
        The names of the table's columns, if it has any.
    texts : (k,) array or None
        The text of the explanation of each pair, if the list has them.
    table : object
        The table itself, if it has row labels.
    """

    row: Ints
    column: Ints
    applies: Bools
    shape: tuple[int, int] | None = None
    names: tuple[str, ...] | None = None
    texts: NDArray[Any] | None = None
    table: Any = None


def read_answers(answers: Any) -> JudgeAnswers:
    """The answers that a caller hands over, checked; of pairs that were asked only."""
    refuse_query(answers, "Answers")
    if hasattr(answers, "tocsr"):
        raise WrongType(
            "Answers came as a sparse matrix, which does not tell a pair that was not asked from one to which the "
            f"answer is no: pass a table of the pairs that were asked, with columns {_named(LONG)}."
        )
    names = (
        tuple(map(str, answers)) if isinstance(answers, Mapping) else frame_names(answers) if is_frame(answers) else ()
    )
    if set(LONG) <= set(names):
        return _read_pairs(answers, names)
    if isinstance(answers, Mapping):
        raise WrongType(f"Answers came as a mapping with keys {_named(names)}: it needs {_named(LONG)}.")
    read = _read_frame(answers, names) if is_frame(answers) else _read_array(_to_grid(answers))
    return _refuse_unanswered(read)


def _read_pairs(answers: Any, names: Sequence[str]) -> JudgeAnswers:
    def column(name: str) -> NDArray[Any]:
        place = names.index(name)
        values = list(answers.values())[place] if isinstance(answers, Mapping) else frame_column(answers, place)
        return to_vector(values, f"The column {name!r}")

    row, explanation, applies = map(column, LONG)
    if not len(row) == len(explanation) == len(applies):
        raise BadInput(f"The columns {_named(LONG)} differ in length: {len(row)}, {len(explanation)}, {len(applies)}.")
    asked, yes = _decided(applies, "applies")
    texts = column(TEXT) if TEXT in names else None
    places = [_whole(values[asked], name) for name, values in zip(LONG, (row, explanation), strict=False)]
    return _refuse_unanswered(
        JudgeAnswers(places[0], places[1], yes[asked], texts=None if texts is None else texts[asked])
    )


def _whole(values: NDArray[Any], name: str) -> Ints:
    """Whole numbers of at least 0: positions of rows, numbers of explanations."""
    numbers = values
    if values.dtype == object and all(isinstance(item, _NUMBERS) for item in values):
        numbers = np.array([float(item) for item in values])
    fits = numbers.dtype.kind in "iuf"
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers == np.floor(numbers)) & (numbers < 2**53))) if fits else [0]
    if len(wrong) and len(values):
        what = "positions of rows" if name == "row" else "numbers of explanations, in order of first appearance"
        raise BadInput(
            f"The column {name!r} must hold {what}, whole numbers from 0 on, as fs.pairs_to_ask gives them; got "
            f"{values[wrong[0]]!r}."
        )
    return np.asarray(numbers.astype(np.int64) if len(values) else np.empty(0, np.int64))


def _read_frame(frame: Any, names: tuple[str, ...]) -> JudgeAnswers:
    columns = [to_vector(frame_column(frame, j), f"The column {names[j]!r}") for j in range(frame_width(frame))]
    read = [_decided(column, name) for column, name in zip(columns, names, strict=True)]
    rows = [np.flatnonzero(asked) for asked, _ in read]
    which = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
    yes = [answer[part] for (_, answer), part in zip(read, rows, strict=True)]
    shape = (int(frame.shape[0]), len(columns))
    empty = np.empty(0, np.int64)
    row, applies = np.concatenate([empty, *rows]), np.concatenate([empty.astype(bool), *yes])
    return JudgeAnswers(row, which, applies, shape, names, table=frame)


def _read_array(grid: NDArray[Any]) -> JudgeAnswers:
    if grid.ndim != 2:
        raise WrongType(
            f"Answers must be a table of rows by explanations, or a table of pairs with columns {_named(LONG)}; got "
            f"shape {grid.shape}."
        )
    asked, yes = _decided(grid.reshape(-1), "answers", grid.shape[1])
    place = np.flatnonzero(asked)
    row, column = np.divmod(place, max(1, grid.shape[1]))
    return JudgeAnswers(row, column, yes[place], (int(grid.shape[0]), int(grid.shape[1])))


def _to_grid(answers: Any) -> NDArray[Any]:
    if isinstance(answers, np.ma.MaskedArray):  # masked: not asked
        grid = np.asarray(answers.data).astype(object)
        grid[np.ma.getmaskarray(answers)] = None
        return grid
    array = to_array(answers, "Answers")
    if array is not None:
        return array
    if isinstance(answers, str | bytes) or not hasattr(answers, "__iter__"):
        raise WrongType(
            f"Answers must be a table of rows by explanations, 1 if the explanation applies, 0 if not, NaN if not "
            f"asked; got a single {type(answers).__name__}."
        )
    rows = [to_vector(row, "Answers, of which each is a row,") for row in answers]
    deep = next((row for row in rows if row.ndim > 1), None)
    if deep is not None:
        raise WrongType(f"Answers must be a table of rows by explanations; got a row of shape {deep.shape}.")
    if len({len(row) for row in rows}) > 1:
        short, long = (at(map(len, rows)) for at in (min, max))
        raise BadInput(f"Answers must have one column per explanation in every row; rows have {short} to {long}.")
    return np.array([row.astype(object) for row in rows], object).reshape(len(rows), len(rows[0]) if rows else 0)


def _decided(values: NDArray[Any], name: str, width: int = 0) -> tuple[Bools, Bools]:
    """Which answers were given, and which of them are yes; `width` is that of the table that the values are rows of."""
    if values.ndim != 1:
        raise WrongType(f"The column {name!r} must hold one answer per row; got shape {values.shape}.")
    asked = ~missing_values(values)
    if values.dtype.kind == "b":
        return asked, values.astype(bool)
    if values.dtype.kind in "iuf":
        yes, wrong = values == 1, asked & (values != 0) & (values != 1)
    else:
        known = np.fromiter((isinstance(item, _NUMBERS) for item in values), bool, len(values))
        yes = np.fromiter((sure and item == 1 for item, sure in zip(values, known, strict=True)), bool, len(values))
        no = np.fromiter((sure and item == 0 for item, sure in zip(values, known, strict=True)), bool, len(values))
        wrong = asked & ~yes & ~no
    if wrong.any():
        _refuse(values, int(wrong.argmax()), name, width)
    return asked, yes


def _refuse(values: NDArray[Any], at: int, name: str, width: int) -> None:
    place = f"row {at // width}, column {at % width}" if width else f"row {at} of column {name!r}"
    value = values[at]
    number = isinstance(value, _NUMBERS)
    advice = _ROUND if number and 0 < value < 1 else "map other words or numbers to these first"
    shown = value.item() if isinstance(value, np.generic) else value
    raise BadInput(
        "Answers are 1 or True if the explanation applies to the row, 0 or False if not, NaN or None if that was not "
        f"asked; got {shown!r} at {place}: {advice}."
    )


def _refuse_unanswered(answers: JudgeAnswers) -> JudgeAnswers:
    """The answers; raises if there are none."""
    if not len(answers.row):
        raise BadInput("No pair has an answer: fill in True or False for the pairs that the judge was asked about.")
    return answers


def _named(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:6])) or "none"
