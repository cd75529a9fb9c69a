"""Categories that rows hold as whole numbers: the texts that the numbers stand for."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from faithscope.errors import Incompatible
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.missing import missing_values

Categories = Mapping[str, Mapping[int, str]]


def decoded(values: NDArray[Any], texts: Mapping[int, str]) -> NDArray[Any]:
    """A column of codes as the texts that they stand for; any other column as it is.

    A code that stands for nothing known becomes a text that equals no category.

    Examples
    --------
    >>> import numpy as np
    >>> decoded(np.array([1.0, 0.0, np.nan]), {0: "clerk", 1: "cook"}).tolist()
    ['cook', 'clerk', None]
    >>> decoded(np.array(["cook"], object), {0: "clerk", 1: "cook"}).tolist()
    ['cook']
    """
    if not texts or values.dtype.kind not in "iufO" or not _are_numbers(values):
        return values
    absent = missing_values(values)
    return to_objects(
        [None if gone else _text(value, texts) for value, gone in zip(values.tolist(), absent.tolist(), strict=True)]
    )


def _text(value: Any, texts: Mapping[int, str]) -> str:
    known = texts.get(int(value)) if value == int(value) else None
    return f"\0{value}" if known is None else known  # equal to no category


def _are_numbers(values: NDArray[Any]) -> bool:
    return values.dtype != object or all(isinstance(item, int | float) for item in values[~missing_values(values)])


def joined_categories(first: Categories, second: Categories) -> Categories:
    """The codes of both; raises if one code stands for two texts."""
    both = {feature: dict(texts) for feature, texts in first.items()}
    for feature, texts in second.items():
        known = both.setdefault(feature, {})
        for code, text in texts.items():
            if known.setdefault(code, text) != text:
                raise Incompatible(
                    f"{feature} = {code} is {known[code]!r} in some rules and {text!r} in others: explain both with "
                    "the same codes."
                )
    return both
