"""Anything a caller handed over, as text that can be shown: no control characters, no hidden order, not too long."""

import math
from typing import Any

import numpy as np

from faithscope.visible import visible
from faithscope.words import readable

_LONGEST = 400


def wording(value: object, longest: int = _LONGEST) -> str:
    r"""A value as text; characters that would change how a page or a terminal is read are written as their codes.

    Examples
    --------
    >>> wording("a\x1b[31mb"), wording(3.0)
    ('a\\x1b[31mb', '3')
    """
    text = visible(readable(value))
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… ({len(text) - longest:,} more characters)"


def two_values(a: Any, b: Any, longest: int = _LONGEST) -> tuple[str, str]:
    """Two values to be read side by side: rounded, unless rounding would make different values look alike.

    Examples
    --------
    >>> two_values((0.123456, 0.5), (0.25, 0.75))
    ('(0.1235, 0.5)', '(0.25, 0.75)')
    """
    short = _rounded(a, longest), _rounded(b, longest)
    return short if short[0] != short[1] or readable(a) == readable(b) else (wording(a, longest), wording(b, longest))


def _rounded(value: Any, longest: int) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_rounded(part, longest) for part in value)})"
    if isinstance(value, float | np.floating) and math.isfinite(value):
        value = float(f"{value:.4g}")
    return wording(value, longest)


def plain(value: Any) -> Any:
    """A value ready for JSON: numpy scalars as Python's own, and None for NaN and infinities."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
