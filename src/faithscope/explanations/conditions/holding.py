"""The rows on which a condition holds, by the column that it is on; and categories that rows hold as numbers."""

from collections.abc import Mapping
from functools import reduce
from math import inf
from typing import Any

import numpy as np

from faithscope.errors import Incompatible, WrongType
from faithscope.explanations.conditions.condition import Condition, with_article
from faithscope.inputs.array_types import Bools
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.columns import Column
from faithscope.inputs.dates import Moment

Categories = Mapping[str, Mapping[int, str]]

_COMPARE = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def holds(condition: Condition, column: Column, arranged: Column) -> Bools:
    """Whether a condition holds on each row.

    Parameters
    ----------
    condition : Condition
    column : Column
        All rows; one that holds a value of another family than the condition is refused.
    arranged : Column
        The rows that are asked about, in their order: the column itself, or some of it.
    """
    family = condition.family
    row = None if family is None else column.stray(family)
    if family is not None and row is not None:
        seen = column.values[row]
        kind = f"{type(seen).__name__}{' with a time zone' * column.zoned}"
        raise WrongType(
            f"Column {condition.feature!r} holds {seen!r} ({kind}) at "
            f"row {row}, which {str(condition)!r} would compare with {with_article(family)}. Convert the column or the "
            "condition."
        )
    if family is None:
        mask = np.full(len(arranged.values), condition.among is None)
    elif family == "text":
        codes, places = arranged.coded
        listed = [places[value] for value in condition.among or condition.without if value in places]
        table = np.full(len(places) + 1, condition.among is None)
        table[listed] = condition.among is not None
        mask = table[codes]
    elif condition.among is not None:
        mask = reduce(np.logical_or, (_compare(arranged, "==", value) for value in condition.among))
    else:
        tests = [*(("!=", value) for value in condition.without), *condition.bounds()]
        mask = reduce(np.logical_and, (_compare(arranged, *test) for test in tests))
    if family != "number" or not (condition.bounds() or condition.among):
        mask &= ~arranged.missing  # a missing date or text has some number, and NaN differs from everything
    return mask | arranged.missing if condition.missing else mask


def _compare(column: Column, operator: str, value: Any) -> Bools:
    """Compare exactly: whole numbers with integers as integers, integers beyond 2**53 with anything in Python."""
    if isinstance(value, Moment):
        numbers, unit = column.ticks
        test = value.in_unit(operator, unit)
        if isinstance(test, bool):
            return np.full(len(numbers), test)
        operator, value = test
    else:
        kind = column.numbers.dtype.kind
        if kind in "iu" and -inf < value < inf and value == int(value):
            value = int(value)
        numbers = column.exact if kind not in "iu" and isinstance(value, int) else column.numbers
    with np.errstate(invalid="ignore"):  # NaN as a Python object
        mask: Bools = _COMPARE[operator](numbers, value)
    return mask


def decoded(column: Column, texts: Mapping[int, str]) -> Column:
    """A column of codes with the texts that they stand for; any other column as it is.

    A code that stands for nothing known becomes a text that equals no category.

    Examples
    --------
    >>> codes = {0: "clerk", 1: "cook"}
    >>> decoded(Column("job", np.array([1.0, 0.0, np.nan])), codes).values.tolist()
    ['cook', 'clerk', None]
    >>> decoded(Column("job", np.array(["cook"], object)), codes).values.tolist()
    ['cook']
    """
    if not texts or column.family not in ("number", "") or column.values.dtype == bool:
        return column
    codes, places = column.coded
    words = [texts.get(code, f"\0{code}") for code in places]
    return Column(column.name, to_objects([*words, None])[codes])


def joined_categories(first: Categories, second: Categories) -> Categories:
    """The codes of both; raises if one code stands for two texts."""
    both = {feature: {**first.get(feature, {}), **second.get(feature, {})} for feature in {**first, **second}}
    for feature, texts in first.items():
        for code, text in texts.items():
            if both[feature][code] != text:
                raise Incompatible(
                    f"{feature} = {code} is {text!r} in some rules and {both[feature][code]!r} in others: explain both "
                    "with the same codes."
                )
    return both
