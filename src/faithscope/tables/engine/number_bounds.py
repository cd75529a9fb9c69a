"""Which numbers of a type count as equal to a rule's number: the smallest and the largest, so that none is rounded.

If none is equal, these are the smallest that is larger and the largest that is smaller. In every case
``x <= v`` is ``x <= largest``, ``x < v`` is ``x < smallest``, and ``x == v`` is ``smallest <= x <= largest``.
"""

from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, floor, inf, nextafter

DIGITS = Context(prec=2000)  # a double has at most 767 digits, and the middle of two a few more


def among_integers(value: float) -> tuple[int, int]:
    """Integers are compared exactly, of whatever size.

    Examples
    --------
    >>> among_integers(3.0), among_integers(0.5)
    ((3, 3), (1, 0))
    """
    return ceil(value), floor(value)


def among_doubles(value: float) -> tuple[float, float]:
    """A rule's integer may lie between two doubles.

    Examples
    --------
    >>> among_doubles(2**53 + 1)
    (9007199254740994.0, 9007199254740992.0)
    """
    try:
        nearest = float(value)
    except OverflowError:
        nearest = inf if value > 0 else -inf
    if nearest == value:
        return nearest, nearest
    return (nearest, nextafter(nearest, -inf)) if nearest > value else (nextafter(nearest, inf), nearest)


def among_decimals(value: float, scale: int) -> tuple[Decimal, Decimal]:
    """A decimal is compared as its nearest double; with an integer that no double holds, exactly.

    Parameters
    ----------
    value : finite number
    scale : int
        Digits after the point.

    Examples
    --------
    >>> among_decimals(0.3, 2), among_decimals(0.3, 17)
    ((Decimal('0.30'), Decimal('0.30')), (Decimal('0.29999999999999997'), Decimal('0.30000000000000001')))
    """
    low = high = Fraction(value)
    closed = True
    if isinstance(value, float):
        low, high = ((Fraction(value) + _beside(value, side)) / 2 for side in (-inf, inf))
        closed = not int(Fraction(value) / _step(value)) % 2  # the middle of two doubles is rounded to the even one
    units = 10**scale
    first, last = ceil(low * units), floor(high * units)
    first += not closed and first == low * units
    last -= not closed and last == high * units
    return _scaled(first, scale), _scaled(last, scale)


def _beside(value: float, side: float) -> Fraction:
    """The next double towards a side; beyond the largest double, the number from which infinity begins."""
    neighbor = nextafter(value, side)
    return Fraction(neighbor) if -inf < neighbor < inf else 2 * Fraction(value) - Fraction(nextafter(value, -side))


def _step(value: float) -> Fraction:
    """The distance from one double to the next larger one in size."""
    return _beside(abs(value), inf) - Fraction(abs(value))


def _scaled(units: int, scale: int) -> Decimal:
    return Decimal(units).scaleb(-scale, DIGITS)
