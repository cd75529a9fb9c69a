"""Ends of intervals as texts: a lower end is never told higher than it is, an upper end never lower."""

import math

_TINY = 1e-9  # 0.57 is a little less than 57 hundredths in binary, which no reader means


def down(share: float) -> str:
    """A lower end, with three decimals.

    Examples
    --------
    >>> down(0.6909), up(0.6991), down(0.57)
    ('0.690', '0.700', '0.570')
    """
    return f"{math.floor(share * 1000 + _TINY) / 1000:.3f}"


def up(share: float) -> str:
    """An upper end, with three decimals."""
    return f"{math.ceil(share * 1000 - _TINY) / 1000:.3f}"


def percent_down(share: float) -> str:
    """A lower end in percent, with one decimal.

    Examples
    --------
    >>> percent_down(0.6909), percent_up(0.6991)
    ('69.0%', '70.0%')
    """
    return f"{math.floor(share * 1000 + _TINY) / 10:.1f}%"


def percent_up(share: float) -> str:
    """An upper end in percent, with one decimal."""
    return f"{math.ceil(share * 1000 - _TINY) / 10:.1f}%"
