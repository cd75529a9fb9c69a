"""The ends of a window around a number, decided exactly as ``y - y' <= eps`` on doubles decides them."""

from typing import NamedTuple

import numpy as np

from faithscope.tables.engine.expressions import literal
from faithscope.tables.engine.protocol import Expression

LAST = 1  # a question after all rows at its place; -1 before them


class End(NamedTuple):
    """A place in the order of numbers: a double, and whether rows exactly there come before it."""

    at: Expression
    after: Expression  # 1 if rows at this place come before it, else -1


def window_ends(value: Expression, eps: float) -> tuple[End, End]:
    """Before the lowest and after the highest number that differs from the value by at most eps.

    A difference of doubles is rounded, to at most eps exactly if the true one is at most the middle between eps and the
    next double; of a tie, if the last bit of eps is even. So the true ends are ``value ± (eps + half)``, which are sums
    of two doubles each: the nearest double, and a rest whose sign says on which side of it the end lies.
    """
    half = float(np.spacing(eps)) / 2
    even = int(np.array(eps).view(np.int64)) % 2 == 0
    low, low_rest = _sum_of_three(value, literal(-eps), literal(-half))
    high, high_rest = _sum_of_three(value, literal(eps), literal(half))
    inside_low = (low_rest <= 0) if even else (low_rest < 0)
    inside_high = (high_rest >= 0) if even else (high_rest > 0)
    return End(low, _sign(~inside_low)), End(high, _sign(inside_high))


def _sign(after: Expression) -> Expression:
    return after.ifelse(LAST, -LAST)


def _sum_of_three(a: Expression, b: Expression, small: Expression) -> tuple[Expression, Expression]:
    """The double nearest to a sum, and a number with the sign of what is left; `small` is half a unit of b."""
    first, rest = _two_sum(a, b)
    rest, error = _two_sum(rest, small)
    total, left = _two_sum(first, rest)
    return total, left + error


def _two_sum(a: Expression, b: Expression) -> tuple[Expression, Expression]:
    """The rounded sum of two doubles and its exact error (Knuth)."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)
