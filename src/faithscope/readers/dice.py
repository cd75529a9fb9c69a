"""dice-ml's `CounterfactualExplanations`, its `CounterfactualExamples`, and their JSON."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.inputs.checks import is_real
from faithscope.readers.log_entries import has
from faithscope.readers.wanted import Wanted
from faithscope.words import shorten


def recognizes(item: Any) -> bool:
    """Whether this is an example of ``generate_counterfactuals``, or the JSON of all."""
    saved = isinstance(item, Mapping) and {"cfs_list", "test_data"} <= set(item)
    return saved or has(item, "final_cfs_df", "test_instance_df")


def read(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    """The first counterfactual of every row, without the outcome; numbers that are texts are numbers again.

    Of an object that has both, those that were made sparse afterwards count, which dice-ml shows and saves. It keeps
    rows in single precision: a number becomes the shortest one that single precision cannot tell from it, which is
    what was written in the data.
    """
    wanted.refuse("these are counterfactuals", "class_index", "top")
    examples, outcome = _examples(rows)
    lost = [str(row) for row, (_, others) in enumerate(examples) if others is None or not len(others)]
    if lost:
        raise BadInput(
            f"dice-ml found no counterfactual for {len(lost):,} of {len(examples):,} rows ({shorten(lost)}): leave "
            "them out, fs.read([each for each in result.cf_examples_list if each.final_cfs_df is not None]), and leave "
            "the same rows out of the predictions and of X."
        )
    names = [str(name) for name in examples[0][0] if name != outcome]
    features = wanted.features or tuple(names)
    if sorted(features) != sorted(names):
        raise BadInput(f"features= must name the {len(names)} features of dice-ml's rows: {', '.join(names)}.")
    remarks = []
    if several := sum(len(others) > 1 for _, others in examples):
        seen = f"{several:,} of {len(examples):,} rows, and the first counts"
        remarks.append(f"dice-ml gives several counterfactuals for {seen}")
    columns = [[[each[name].tolist()[0] for each in pair] for pair in examples] for name in features]
    always = [name for name, pairs in zip(features, columns, strict=True) if all(one is True for one, _ in pairs)]
    if always:  # it reads the text "False" as True
        told = f"of the rows explained as True, here of {', '.join(always)}: give it such columns as texts"
        remarks.append(f"dice-ml keeps every truth value {told}")
    texts = any(isinstance(value, str) for pairs in columns for pair in pairs for value in pair)
    before, after = zip(*(_as_in_the_data(pairs, texts) for pairs in columns), strict=True)
    points, originals = (list(map(list, zip(*part, strict=True))) for part in (after, before))
    return Counterfactuals(points, originals, names=features)._with(remarks=tuple(remarks))


def _examples(rows: Sequence[Any]) -> tuple[list[tuple[Any, Any]], str]:
    """Tables of each row and of its counterfactuals, which may be none; and the column of the outcome."""
    import pandas as pd

    if not isinstance(rows[0], Mapping):
        return [(each.test_instance_df, frame_of(each)) for each in rows], rows[0].data_interface.outcome_name
    saved = rows[0]
    names, pairs = saved["feature_names_including_target"], zip(saved["test_data"], saved["cfs_list"], strict=True)
    tables = [tuple(pd.DataFrame(part or [], columns=names) for part in pair) for pair in pairs]
    return tables, saved["data_interface"]["outcome_name"]


def frame_of(example: Any) -> Any:
    """The counterfactuals of one row as dice-ml shows them: with few changes if it has made them so; None if none."""
    sparse = getattr(example, "final_cfs_df_sparse", None)
    return example.final_cfs_df if sparse is None else sparse


def _as_in_the_data(pairs: list[list[Any]], texts: bool) -> list[list[Any]]:
    """A feature of rows and of their counterfactuals: numbers that dice-ml made texts or rounded, as they were.

    Parameters
    ----------
    texts : bool
        Whether any feature has texts; if none has, truth values are 0 and 1.

    Examples
    --------
    >>> _as_in_the_data([[float(np.float32(32.249)), "30.5"]], texts=True)
    [[32.249], [30.5]]
    """
    columns = [
        [int(value) if isinstance(value, bool | np.bool_) and not texts else value for value in part]
        for part in zip(*pairs, strict=True)
    ]
    numbers = all(is_real(value) for value in columns[0] if value is not None)
    return [_doubles([_number(value) for value in part]) for part in columns] if numbers else columns


def _number(value: Any) -> Any:
    """The number that a text spells; the value itself if it is no such text."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _doubles(column: list[Any]) -> list[Any]:
    """A column with the shortest decimals of its floats, if all of them are of single precision."""
    known = [(value, isinstance(value, float | np.floating) and isfinite(value)) for value in column]
    floats = np.array([value for value, is_float in known if is_float], np.float64)
    if not np.allclose(floats.astype(np.float32), floats, rtol=1e-10, atol=1e-10):
        return column
    return [float(str(np.float32(value))) if is_float else value for value, is_float in known]
