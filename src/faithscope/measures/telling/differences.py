"""Tables of differences: of explainers, of populations, of windows of time."""

from collections.abc import Sequence
from typing import Any, Protocol

from faithscope.explanations.base import readable
from faithscope.sinks.card import Table
from faithscope.visible import visible

_MOST_PAIRS = 15  # above that, only those that differ are shown


class AnyDifference(Protocol):
    """A difference a - b with its interval: of two explainers, two populations, or a window and its reference."""

    @property
    def a(self) -> Any: ...
    @property
    def b(self) -> Any: ...
    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def differ(self) -> bool: ...


def differ_word(pair: AnyDifference) -> str:
    """Whether two measures differ, in words; of an interval [0, 0], what it is known for: these rows."""
    if pair.low == pair.high == 0:
        return "the same on these rows"
    return "yes" if pair.differ else "cannot tell"


def difference_tables(pairs: Sequence[AnyDifference], title: str = "Differences", together: int = 0) -> list[Table]:
    """Differences with their intervals; of many, those whose interval excludes zero. No table if there is no pair.

    Parameters
    ----------
    together : int
        Of how many differences the intervals hold together; 0 if each holds by itself.
    """
    if not pairs:
        return []
    differing = [pair for pair in pairs if pair.differ]
    shown = pairs if len(pairs) <= _MOST_PAIRS else differing
    hold = f"the intervals of {together:,} differences hold together" if together else "each interval holds by itself"
    below = f"{len(differing):,} of {len(pairs):,} exclude zero; {hold}"
    rows = tuple(
        (
            visible(readable(pair.a)),
            visible(readable(pair.b)),
            f"{pair.value:+.3f}",
            f"{pair.low:+.3f} to {pair.high:+.3f}",
            differ_word(pair),
        )
        for pair in shown
    )
    return [Table(("of", "less that of", "difference", "interval", "differ"), rows, 2, title, below)]
