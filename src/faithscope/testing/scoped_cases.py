"""Rules whose consistency and sufficiency are known exactly, row by row."""

from dataclasses import dataclass
from typing import Any

Conditions = list[tuple[str, str, Any]]


@dataclass(frozen=True)
class ScopedCase:
    """A few rows under rules, worked out by hand.

    Attributes
    ----------
    name : str
    catches : str
    rules : list of lists of conditions
        One conjunction per row, as `Rules.from_conditions` takes them.
    rows : list of float
        Value of the only feature, ``x``, per row.
    predictions : list
    consistency, sufficiency : list of float or None
        Local value of each row, leaving the row itself out; None if there is no other row to compare with.

    Examples
    --------
    >>> from faithscope.testing import SCOPED_CASES
    >>> SCOPED_CASES[0].rules[0], SCOPED_CASES[0].sufficiency[0]
    ([('x', '<=', 10.0)], 0.3333333333333333)
    """

    name: str
    catches: str
    rules: list[Conditions]
    rows: list[float]
    predictions: list[Any]
    consistency: list[float | None]
    sufficiency: list[float | None]

    @property
    def global_consistency(self) -> float:
        """M̂ of consistency: rows without any other row to compare with count 0."""
        return sum(agreement or 0.0 for agreement in self.consistency) / len(self.rows)

    @property
    def global_sufficiency(self) -> float:
        """M̂ of sufficiency."""
        return sum(agreement or 0.0 for agreement in self.sufficiency) / len(self.rows)


WIDE: Conditions = [("x", "<=", 10.0)]
LOW: Conditions = [("x", "<=", 2.0)]
HIGH: Conditions = [("x", ">", 2.0)]

SCOPED_CASES = (
    ScopedCase(
        "local consistency above local sufficiency",
        "measuring only rows that were given the rule: the first two rows agree, yet their rule covers two others",
        [WIDE, WIDE, HIGH, HIGH],
        [1.0, 2.0, 3.0, 4.0],
        [0, 0, 1, 1],
        [1.0, 1.0, 1.0, 1.0],
        [1 / 3, 1 / 3, 1.0, 1.0],
    ),
    ScopedCase(
        "local consistency equal to local sufficiency",
        "nothing more than the formula: rules that partition the rows",
        [LOW, LOW, HIGH, HIGH, HIGH],
        [1.0, 2.0, 3.0, 4.0, 5.0],
        [0, 1, 1, 1, 0],
        [0.0, 0.0, 0.5, 0.5, 0.0],
        [0.0, 0.0, 0.5, 0.5, 0.0],
    ),
    ScopedCase(
        "local consistency below local sufficiency",
        "taking one measure for a bound on the other: the rule's own rows disagree, those it covers besides agree",
        [WIDE, WIDE, LOW, LOW],
        [1.0, 5.0, 1.5, 2.0],
        [0, 1, 0, 0],
        [0.0, 0.0, 1.0, 1.0],
        [2 / 3, 0.0, 1.0, 1.0],
    ),
    ScopedCase(
        "a rule that does not cover its own row",
        "subtracting the row from a count it is not in",
        [HIGH, HIGH, HIGH],
        [1.0, 3.0, 4.0],
        [0, 0, 1],
        [0.5, 0.5, 0.0],
        [0.5, 0.0, 0.0],
    ),
    ScopedCase(
        "a rule that covers nobody else",
        "0.0, or 1.0, where the sample is silent",
        [LOW, HIGH, HIGH],
        [1.0, 3.0, 4.0],
        [0, 1, 1],
        [None, 1.0, 1.0],
        [None, 1.0, 1.0],
    ),
    ScopedCase(
        "the empty rule covers everything",
        "no condition read as no row",
        [[], [], [], []],
        [1.0, 2.0, 3.0, 4.0],
        [0, 0, 0, 1],
        [2 / 3, 2 / 3, 2 / 3, 0.0],
        [2 / 3, 2 / 3, 2 / 3, 0.0],
    ),
    ScopedCase(
        "a hub under every rule",
        "rules counted as if they did not overlap: each covers its own row and the first",
        [[("x", "<=", 0.0)], [("x", "<=", 1.0)], [("x", "<=", 2.0)], [("x", "<=", 3.0)]],
        [0.0, 1.0, 2.0, 3.0],
        [1, 0, 1, 1],
        [None, None, None, None],
        [None, 0.0, 0.5, 2 / 3],
    ),
    ScopedCase(
        "a bound that is met exactly",
        "< where <= is meant",
        [LOW, LOW, LOW],
        [2.0, 2.0, 1.0],
        [0, 0, 0],
        [1.0, 1.0, 1.0],
        [1.0, 1.0, 1.0],
    ),
)
