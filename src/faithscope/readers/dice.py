"""dice-ml's `CounterfactualExplanations`, its `CounterfactualExamples`, and their JSON."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.inputs.checks import is_real
from faithscope.inputs.missing import is_missing
from faithscope.readers.wanted import Wanted, first_of, one_per_row

_SHOWN = 10  # rows that an error lists


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
    examples, outcome = _examples(thing)
    if not examples:
        raise BadInput("There are no counterfactuals in this object of dice-ml: explain at least one row.")
    _refuse_without([others for _, others in examples])
    names = [name for name in examples[0][0] if name != outcome]
    features = wanted.features or tuple(map(str, names))
    if sorted(features) != sorted(map(str, names)):
        raise BadInput(
            f"features= must name the {len(names)} features of dice-ml's rows: {', '.join(map(str, names))}."
        )
    remarks = []
    several = sum(len(others) > 1 for _, others in examples)
    if several:
        told = f"{several:,} of {len(examples):,} rows, and the first counts"
        remarks.append(f"dice-ml gives several counterfactuals for {told}")
    kept = sum(_number(given[outcome].iloc[0]) == _number(others[outcome].iloc[0]) for given, others in examples)
    if kept:
        remarks.append(f"in {kept:,} of {len(examples):,} rows the outcome of the counterfactual is that of the row")
    columns = {str(name): [[each[name].tolist()[0] for each in pair] for pair in examples] for name in names}
    lost = [name for name, pairs in columns.items() if all(before is True for before, _ in pairs)]
    if lost:  # it reads the text "False" as True
        remarks.append(
            f"dice-ml keeps every truth value of the rows explained as True, here of {', '.join(lost)}: give it such "
            "columns as texts"
        )
    texts = any(isinstance(value, str) for pairs in columns.values() for pair in pairs for value in pair)
    before, after = (
        np.array([*part], object).T
        for part in zip(*(_as_in_the_data(columns[name], texts) for name in features), strict=True)
    )
    return Counterfactuals(after.tolist(), before.tolist(), names=features)._with(remarks=tuple(remarks))


def _is_example(thing: Any) -> bool:
    return hasattr(thing, "final_cfs_df") and hasattr(thing, "test_instance_df")


def _as_saved(thing: Any) -> Mapping[str, Any] | None:
    """The dict that ``to_json()`` writes; None for anything else."""
    if isinstance(thing, str) and thing.lstrip().startswith("{") and '"cfs_list"' in thing:
        try:
            thing = json.loads(thing)
        except ValueError:
            return None
    return thing if isinstance(thing, Mapping) and {"cfs_list", "test_data"} <= set(thing) else None


def _examples(thing: Any) -> tuple[list[tuple[Any, Any]], str]:
    """Tables of each row and of its counterfactuals, which may be none; and the column of the outcome."""
    import pandas as pd

    saved = _as_saved(thing)
    if saved is not None:
        names, outcome = saved["feature_names_including_target"], saved["data_interface"]["outcome_name"]
        rows = zip(saved["test_data"], saved["cfs_list"], strict=True)
        return [tuple(pd.DataFrame(part or [], columns=names) for part in pair) for pair in rows], outcome
    listed = getattr(thing, "cf_examples_list", None)
    items = one_per_row(thing) if listed is None else listed
    return [(each.test_instance_df, frame_of(each)) for each in items], items[
        0
    ].data_interface.outcome_name if items else ""


def frame_of(example: Any) -> Any:
    """The counterfactuals of one row as dice-ml shows them: with few changes if it has made them so; None if none."""
    sparse = getattr(example, "final_cfs_df_sparse", None)
    return example.final_cfs_df if sparse is None else sparse


def _refuse_without(found: list[Any]) -> None:
    rows = [row for row, others in enumerate(found) if others is None or not len(others)]
    if rows:
        shown = ", ".join(map(str, rows[:_SHOWN])) + (", …" if len(rows) > _SHOWN else "")
        raise BadInput(
            f"dice-ml found no counterfactual for {len(rows):,} of {len(found):,} rows ({shown}): leave them out, "
            "fs.read([each for each in result.cf_examples_list if each.final_cfs_df is not None]), and leave the same "
            "rows out of the predictions and of X."
        )


def _as_in_the_data(pairs: list[list[Any]], texts: bool) -> tuple[list[Any], list[Any]]:
    """A feature of rows and of their counterfactuals: numbers that dice-ml made texts or rounded, as they were.

    Parameters
    ----------
    texts : bool
        Whether any feature has texts; if none has, truth values are 0 and 1.

    Examples
    --------
    >>> _as_in_the_data([[float(np.float32(32.249)), "30.5"]], texts=True)
    ([32.249], [30.5])
    """
    before, after = (
        [int(value) if isinstance(value, bool | np.bool_) and not texts else value for value in part]
        for part in zip(*pairs, strict=True)
    )
    present = [value for value in before if not is_missing(value)]
    if not present or not all(map(is_real, present)):
        return before, after
    return _doubles(before), _doubles([_number(value) if isinstance(value, str) else value for value in after])


def _number(value: Any) -> Any:
    """The number that a value is or spells; the value itself if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _doubles(column: list[Any]) -> list[Any]:
    """A column with the shortest decimals of its floats, if all of them are of single precision."""
    known = [isinstance(value, float | np.floating) and isfinite(value) for value in column]
    floats = np.array([value for value, is_float in zip(column, known, strict=True) if is_float], np.float64)
    if not np.allclose(floats.astype(np.float32), floats, rtol=1e-10, atol=1e-10):
        return column
    return [float(str(np.float32(one))) if is_float else one for one, is_float in zip(column, known, strict=True)]
