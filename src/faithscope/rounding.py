"""Numbers as they are read: a share with two decimals, and ends of intervals, which are rounded outward."""

import math
from collections.abc import Callable

_TINY = 1e-9  # 0.57 is a little less than 57 hundredths in binary, which no reader means
_MOST = 6  # decimals


def told_share(value: float) -> str:
    """A share with two decimals; more, if it would be told as all or nothing and is not.

    Examples
    --------
    >>> told_share(0.913), told_share(0.9964), told_share(1.0), told_share(0.0004)
    ('0.91', '0.996', '1.00', '0.0004')
    """
    for digits in range(2, 6):
        told = f"{value:.{digits}f}"
        if float(told) not in (0.0, 1.0) or float(told) == value:
            return told
    return f"{value:.2f}"


def down(end: float, digits: int = 3, *, signed: bool = False) -> str:
    """A lower end with so many decimals, never told higher than it is; `up` is that of upper ends.

    Of a difference, `signed`, an end beside 0 is told with more decimals: whether it is above 0 is what is asked.

    Examples
    --------
    >>> down(0.6909), up(0.6991), down(0.57), down(-0.0504, 2, signed=True), up(-0.0004, 2, signed=True)
    ('0.690', '0.700', '0.570', '-0.06', '-0.0004')
    """
    return _rounded(end, math.floor, _TINY, digits, signed)


def up(end: float, digits: int = 3, *, signed: bool = False) -> str:
    """An upper end with so many decimals, never told lower than it is."""
    return _rounded(end, math.ceil, -_TINY, digits, signed)


def _rounded(end: float, rounding: Callable[[float], int], nudge: float, digits: int, signed: bool) -> str:
    told = rounding(end * 10**digits + nudge) / 10**digits
    if signed and told == 0 and end != 0 and digits < _MOST:
        return _rounded(end, rounding, nudge, digits + 1, signed)
    return f"{told + 0.0:{'+' if signed else ''}.{digits}f}"


def in_brackets(low: float, high: float, digits: int = 2, *, signed: bool = False) -> str:
    """Both ends of an interval, rounded outward.

    Examples
    --------
    >>> in_brackets(0.803, 0.857), in_brackets(-0.174, 0.031, signed=True)
    ('[0.80, 0.86]', '[-0.18, +0.04]')
    """
    return f"[{down(low, digits, signed=signed)}, {up(high, digits, signed=signed)}]"


def percent(share: float) -> str:
    """A share in whole percent; never 0% or 100% for what is not none or all.

    Examples
    --------
    >>> percent(0.5), percent(0.001), percent(0.0)
    ('50%', 'less than 1%', '0%')
    """
    told = f"{share:.0%}"
    return {"0%": "less than 1%", "100%": "more than 99%"}.get(told, told) if 0 < share < 1 else told


def percent_down(share: float) -> str:
    """A lower end in percent, with one decimal.

    Examples
    --------
    >>> percent_down(0.6909), percent_up(0.6991)
    ('69.0%', '70.0%')
    """
    return f"{down(100 * share, 1)}%"


def percent_up(share: float) -> str:
    """An upper end in percent, with one decimal."""
    return f"{up(100 * share, 1)}%"
