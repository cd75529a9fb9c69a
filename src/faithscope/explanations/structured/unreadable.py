"""What happens to rows whose rationale cannot be read: an error, or an explanation that covers no row."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from faithscope.errors import BadInput
from faithscope.explanations.base import several

CHOICES = ("error", "uncovered")


class Unreadable(Exception):
    """One rationale cannot be read; its message says why."""


@dataclass
class Problems:
    """Why rows could not be read, and what else a reader of the result should know.

    Attributes
    ----------
    rows : dict from int to str
        The reason of each row that cannot be read.
    habits : Counter
        How many conditions or quotes were read in a way that is to be told, by the sentence that tells it.
    """

    rows: dict[int, str] = field(default_factory=dict)
    habits: Counter[str] = field(default_factory=Counter)

    def settle(self, total: int, unreadable: str, advice: str) -> tuple[str, ...]:
        """The remarks on what could not be read; raises if that is an error, or if nothing could be read at all."""
        if not self.rows:
            return ()
        first = next(iter(self.rows))
        count = several(len(self.rows), "rationale", "rationales")
        seen = f"{count} of {total:,} cannot be read; the first is row {first}: {self.rows[first]}"
        if unreadable == "error":
            raise BadInput(f"{seen}. {advice}")
        if len(self.rows) == total:
            raise BadInput(f"{seen}. None is left to measure: {advice[0].lower()}{advice[1:]}")
        told = "such rows cover no row: sufficiency cannot check them, and consistency takes them for one explanation"
        return (f"{seen}; {told}",)


def listed(names: Sequence[str], most: int = 3) -> str:
    """The first few of these names, in quotes."""
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most:,} more" if len(names) > most else "")
