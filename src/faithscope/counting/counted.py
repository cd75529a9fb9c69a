"""What is counted of explanations that cover rows, whoever counted it: a pass over rows, or an engine."""

from dataclasses import dataclass
from typing import NamedTuple

from faithscope.counting.compared import LabelCells, NumberTable
from faithscope.counting.counts import Counts
from faithscope.counting.cover import Asked
from faithscope.counting.leave_out import LeftOut, Sums
from faithscope.counting.moments import SpreadCounts
from faithscope.counting.terms import GapSums
from faithscope.inputs.array_types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Coverage:
    """Counts of the rows that explanations cover, and what the interval needs in addition.

    Those of necessity are the same of its own terms: of rows with a prediction, whom the explanation of one covers.
    """

    counts: Counts
    codes: Ints  # the explanation of each row, among the distinct ones
    own: Bools  # whether each row is covered by its own explanation
    idle: tuple[str, ...] = ()  # conditions that hold on no row, such as unknown categories
    left_out: LeftOut | None = None  # None for a single row, and if no interval was asked for
    block: Ints | None = None  # the block of each row; None if single rows were left out
    alike: bool = True  # whether every other explainer of these rows has the same blocks
    sums: Sums | None = None  # the sums of terms; None if they are those of sufficiency, which counts give
    spread: SpreadCounts | None = None  # of `Spread`
    asked: Asked | None = None  # the pairs of which it is known whether one covers the other; None if all are
    necessity: "Coverage | None" = None  # if it was counted in the same pass
    strangers: Floats | None = None  # of clustered rows, (3, n): as `Kinds.met`
    chance: float | None = (
        None  # if it does not follow from counts: of necessity, and of rows that ask beside everybody
    )
    chance_left_out: Floats | None = None  # the same without each row or block
    further: int = 0  # rows that were looked at without their predictions, and that the sample lacks
    others: Floats | None = None  # of numbers and necessity, per row the weight of the others, each by its agreement


class Encoded(NamedTuple):
    """All that encoding reads of a sample.

    Attributes
    ----------
    counts : Counts
    sums : GapSums
    both : (k,) array of bool
        Whether some row with each explanation can be tested.
    tables : LabelCells or NumberTable
    """

    counts: Counts
    sums: GapSums
    both: Bools
    tables: LabelCells | NumberTable
