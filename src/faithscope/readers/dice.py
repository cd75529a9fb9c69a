"""dice-ml's `CounterfactualExplanations`, its `CounterfactualExamples`, and the JSON of either version."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.inputs.checks import is_real
from faithscope.inputs.hints import hint
from faithscope.inputs.missing import is_missing
from faithscope.readers.wanted import Wanted, first_of, one_per_row

_SHOWN = 10  # rows that an error lists
Rows = list[list[Any]]
Table = Mapping[str, Sequence[Any]]  # columns by name


@dataclass(frozen=True)
class Examples:
    """What dice-ml made for one row: its features and values, and those of the counterfactuals, outcomes last."""

    names: list[str]
    original: list[Any]
    others: Rows


def recognizes(thing: Any) -> bool:
    """Whether this is what ``generate_counterfactuals`` gives, a list of its examples, or the JSON of it."""
    return hasattr(thing, "cf_examples_list") or _is_example(first_of(thing)) or _as_saved(thing) is not None


def read(thing: Any, wanted: Wanted) -> Explanations:
    """The first counterfactual of every row, without the outcome; numbers that are texts are numbers again.

    Of an object that has both, those that were made sparse afterwards count, which dice-ml shows and saves. It keeps
    rows in single precision: a number becomes the shortest one that single precision cannot tell from it, which is
    what was written in the data.
    """
    if wanted.class_index is not None or wanted.top is not None:
        raise BadInput("Counterfactuals have no classes and no tokens to choose from: leave class_index= and top= out.")
    examples = _examples(thing)
    if not examples:
        raise BadInput("There are no counterfactuals in this object of dice-ml: explain at least one row.")
    _refuse_without(examples)
    names = examples[0].names[:-1]
    originals = _in_order([example.original for example in examples], names, wanted)
    points = _in_order([example.others[0] for example in examples], names, wanted)
    after, before = _as_in_the_data(points, originals)
    remarks = (*_remarks(examples), *_lost_truth(examples))
    return Counterfactuals(after, before, names=wanted.features or names)._with(remarks=remarks)


def frame_of(example: Any) -> Any:
    """The counterfactuals of one row as dice-ml shows them: with few changes if it has made them so; None if none."""
    sparse = getattr(example, "final_cfs_df_sparse", None)
    return example.final_cfs_df if sparse is None else sparse


def _is_example(thing: Any) -> bool:
    return hasattr(thing, "final_cfs_df") and hasattr(thing, "test_instance_df")


def _as_saved(thing: Any) -> Mapping[str, Any] | None:
    """The dict that ``to_json()`` writes; None for anything else."""
    if isinstance(thing, str) and thing.lstrip().startswith("{") and ('"cfs_list"' in thing or "cf_examples" in thing):
        try:
            thing = json.loads(thing)
        except ValueError:
            return None
    known = isinstance(thing, Mapping) and ({"cfs_list", "test_data"} <= set(thing) or "cf_examples_list" in thing)
    return thing if known else None


def _examples(thing: Any) -> list[Examples]:
    saved = _as_saved(thing)
    if saved is not None and "cf_examples_list" not in saved:
        names, outcome = saved["feature_names_including_target"], saved["data_interface"]["outcome_name"]
        rows = zip(saved["test_data"], saved["cfs_list"], strict=True)
        return [_example(_columns(names, row), _columns(names, others or ()), outcome) for row, others in rows]
    if saved is not None:  # of the first version
        items = [json.loads(text) for text in saved["cf_examples_list"]]
        told = [
            (item["test_instance_df"], item["final_cfs_df"], item["data_interface"]["outcome_name"]) for item in items
        ]
    else:
        listed = getattr(thing, "cf_examples_list", None)
        items = one_per_row(thing) if listed is None else listed
        told = [(item.test_instance_df, frame_of(item), item.data_interface.outcome_name) for item in items]
    return [_example(_table(given), _table(found), outcome) for given, found, outcome in told]


def _columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    return dict(zip(names, zip(*rows, strict=True), strict=False))  # none of no rows


def _table(frame: Any) -> Table:
    """The columns of a table of pandas, or of its JSON, by name; none of None."""
    if isinstance(frame, str):
        return {name: list(column.values()) for name, column in json.loads(frame).items()}
    return {} if frame is None else {name: frame.iloc[:, j].tolist() for j, name in enumerate(frame.columns)}


def _example(given: Table, found: Table, outcome: str) -> Examples:
    """What was made for one row, whose columns are those of the row explained, the outcome after them."""
    order = [name for name in given if name != outcome] + [outcome]
    others = [list(row) for row in zip(*(found[name] for name in order), strict=True)] if found else []
    return Examples(list(map(str, order)), [given[name][0] for name in order], others)


def _refuse_without(examples: Sequence[Examples]) -> None:
    rows = [row for row, example in enumerate(examples) if not example.others]
    if rows:
        shown = ", ".join(map(str, rows[:_SHOWN])) + (", …" if len(rows) > _SHOWN else "")
        raise BadInput(
            f"dice-ml found no counterfactual for {len(rows):,} of {len(examples):,} rows ({shown}): leave them out, "
            "fs.read([each for each in result.cf_examples_list if each.final_cfs_df is not None]), and leave the same "
            "rows out of the predictions and of X."
        )


def _in_order(rows: Rows, names: Sequence[str], wanted: Wanted) -> Rows:
    """The rows without the outcome, their features in the order that the caller asks for."""
    features = wanted.features or tuple(names)
    unknown = next((name for name in features if name not in names), None)
    if unknown is not None or len(features) < len(names):
        what = f"names {unknown!r}, which dice-ml's rows lack" if unknown else f"has {len(features)} names"
        raise BadInput(f"features= {what}, of {len(names)} features: {hint(str(unknown or ''), names)}")
    places = [names.index(name) for name in features]
    return [[row[place] for place in places] for row in rows]


def _remarks(examples: Sequence[Examples]) -> tuple[str, ...]:
    several = sum(len(example.others) > 1 for example in examples)
    kept = sum(_same(example.original[-1], example.others[0][-1]) for example in examples)
    told = [f"dice-ml gives several counterfactuals for {several:,} of {len(examples):,} rows, and the first counts"]
    unchanged = [f"in {kept:,} of {len(examples):,} rows the outcome of the counterfactual is that of the row"]
    return (*told * bool(several), *unchanged * bool(kept))


def _lost_truth(examples: Sequence[Examples]) -> tuple[str, ...]:
    """What to say of truth values: dice-ml reads the text "False" as True in the rows that it explains."""
    columns = zip(examples[0].names[:-1], *(example.original[:-1] for example in examples), strict=True)
    lost = [name for name, *values in columns if all(value is True for value in values)]
    if not lost:
        return ()
    return (
        f"dice-ml keeps every truth value of the rows explained as True, here of {', '.join(lost)}: give it such "
        "columns as texts",
    )


def _same(first: Any, second: Any) -> bool:
    try:
        return bool(np.float64(first) == np.float64(second))
    except (TypeError, ValueError):
        return bool(first == second)


def _as_in_the_data(points: Rows, originals: Rows) -> tuple[Rows, Rows]:
    """Counterfactuals and the rows that they are of: numbers that dice-ml made texts or rounded, as they were.

    Examples
    --------
    >>> _as_in_the_data([["30.5", "clerk"]], [[float(np.float32(32.249)), "cook"]])
    ([[30.5, 'clerk']], [[32.249, 'cook']])
    """
    count = len(points)
    rows = [*points, *originals]
    if not any(isinstance(value, str) for row in rows for value in row):  # truth values among numbers alone are 0 and 1
        rows = [[int(value) if isinstance(value, bool | np.bool_) else value for value in row] for row in rows]
    columns = [list(column) for column in zip(*rows, strict=True)]
    for place, column in enumerate(columns):
        present = [value for value in column[count:] if not is_missing(value)]
        if present and all(map(is_real, present)):
            after = [float(value) if _is_number(value) else value for value in column[:count]]
            columns[place] = [*_doubles(after), *_doubles(column[count:])]
    rows = [[column[row] for column in columns] for row in range(2 * count)]
    return rows[:count], rows[count:]


def _is_number(value: Any) -> bool:
    """Whether a text is that of a number."""
    try:
        return isinstance(value, str) and float(value) is not None
    except ValueError:
        return False


def _doubles(column: list[Any]) -> list[Any]:
    """A column with the shortest decimals of its floats, if all of them are of single precision."""
    floats = [isinstance(value, float | np.floating) and bool(np.isfinite(value)) for value in column]
    for value, is_float in zip(column, floats, strict=True):
        if is_float and abs(float(np.float32(value)) - float(value)) > 1e-10 * max(1.0, abs(float(value))):
            return column
    return [float(str(np.float32(one))) if known else one for one, known in zip(column, floats, strict=True)]
