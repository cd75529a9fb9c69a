"""Values that JSON can hold: what callers name groups and predictions by may be anything."""

import math
from typing import Any

import numpy as np

from faithscope.explanations.base import readable


def for_json(value: Any) -> Any:
    """A value as JSON has it: text, a finite number, true, false, null, or lists and objects of these.

    What has a ``to_dict`` is what that returns; anything else is told as text.

    Examples
    --------
    >>> import datetime
    >>> for_json((1, np.float64(0.5), datetime.date(2026, 3, 1))), for_json(float("inf"))
    ([1, 0.5, '2026-03-01'], 'inf')
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [for_json(item) for item in value]
    if isinstance(value, dict):
        return {str(name): for_json(item) for name, item in value.items()}
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, str):
        return str(value)  # a note is text
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else readable(value)
