"""Differences of two measures: what their intervals are made of, and intervals that hold for many pairs together."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, Self, TypeVar

from faithscope.measures.intervals.margins import check_confidence

MANY = 10  # with more pairs, a report shows intervals that hold for all of them together


class Apart(NamedTuple):
    """What the interval of a difference is made of, at any confidence.

    Attributes
    ----------
    least, most : float
        The lower end of a's bracket less the upper end of b's, and the upper end of a's less the lower end of b's.
    margins : function of the confidence
        How far the truth may lie below the one and above the other.
    confidence : float
        The confidence that was asked for.
    """

    least: float
    most: float
    margins: Callable[[float], tuple[float, float]]
    confidence: float

    def interval(self, confidence: float) -> tuple[float, float]:
        """The interval at this confidence."""
        below, above = self.margins(confidence)
        return clipped(self.least - below), clipped(self.most + above)


def known_margins(margin: float, _: float) -> tuple[float, float]:
    """The same margin at any confidence: 0 for what is known exactly, 1 for what is not known."""
    return margin, margin


def clipped(difference: float) -> float:
    """A difference of two measures lies between -1 and 1, though estimates by `Spread` may be below 0."""
    return min(1.0, max(-1.0, difference))


class HasInterval(Protocol):
    """A difference that can be told at another confidence."""

    @property
    def apart(self) -> Apart: ...

    def at(self, confidence: float) -> Self:
        """The same difference with its interval at this confidence."""


Differs = TypeVar("Differs", bound=HasInterval)


def together(pairs: Sequence[Differs], many: int | None = None) -> list[Differs]:
    """Differences whose intervals hold for all pairs together: each misses with a chance of at most δ / m.

    These are Bonferroni's. Holm's test would call a few more pairs different, but no intervals that agree with it hold
    together: he spends all of δ on pairs that do not differ, and what the intervals of the other pairs miss comes on
    top.

    Parameters
    ----------
    pairs : sequence of differences
    many : int, optional
        The number of pairs that were compared, m, if `pairs` are only some of them.
    """
    m = max(len(pairs), many or 0)
    return [pair.at(1 - check_confidence(pair.apart.confidence) / m) for pair in pairs]
