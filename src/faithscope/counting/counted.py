"""What is counted of explanations that cover rows, whoever counted it: a pass over rows, or an engine."""

from dataclasses import dataclass
from typing import NamedTuple

from faithscope.counting.compared import LabelCells, NumberTable
from faithscope.counting.counts import Counts
from faithscope.counting.cover import Asked
from faithscope.counting.leave_out import LeftOut, Sums
from faithscope.counting.moments import SpreadCounts
from faithscope.counting.terms import GapSums, NecessityTerms
from faithscope.explanations.base import Explanations
from faithscope.inputs.array_types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Coverage:
    """Counts of the rows that explanations cover, and what the interval needs in addition."""

    counts: Counts
    codes: Ints  # the explanation of each row, among the distinct ones
    own: Bools  # whether each row is covered by its own explanation
    idle: tuple[str, ...] = ()  # conditions that hold on no row, such as unknown categories
    left_out: LeftOut | None = None  # None for a single row, and if no interval was asked for
    block: Ints | None = None  # the block of each row; None if single rows were left out
    alike: bool = True  # whether every other explainer of these rows has the same blocks
    sums: Sums | None = None  # the sums of weighted terms; None if rows are not weighted: counts give them
    spread: SpreadCounts | None = None  # of `Spread`
    asked: Asked | None = None  # the pairs of which it is known whether one covers the other; None if all are
    necessity: "NecessityCounts | None" = None  # if it was counted in the same pass
    strangers: Floats | None = None  # of clustered rows, (3, n): as `Kinds.met`
    chance: float | None = None  # of rows that ask beside everybody: their agreement with any row
    chance_left_out: Floats | None = None  # the same without each block; None if all rows ask
    further: int = 0  # rows that were looked at without their predictions, and that the sample lacks


@dataclass(frozen=True, eq=False)
class NecessityCounts:
    """The terms of necessity, the counts behind them, and which rows were left out together.

    Attributes
    ----------
    counts : Counts
    terms : NecessityTerms
    own : (n,) array of bool
        Whether each row is covered by its own explanation.
    idle : tuple of str
        Conditions that hold on no row.
    block : (n,) array or None
        The block of each row; None if single rows were left out.
    alike : bool
        Whether every other explainer of these rows has the same blocks.
    others : (n,) array or None
        Of numbers, the weight of the other rows, each by its agreement with the row.
    """

    counts: Counts
    terms: NecessityTerms
    own: Bools
    idle: tuple[str, ...] = ()
    block: Ints | None = None
    alike: bool = True
    others: Floats | None = None


class Encoded(NamedTuple):
    """All that encoding reads of a sample.

    Attributes
    ----------
    sums : GapSums
    explanations : Explanations
        The distinct ones, by number.
    labels : tuple
        The distinct predictions; empty for numbers.
    both : (k,) array of bool
        Whether some row with each explanation can be tested.
    tables : LabelCells or NumberTable
    n, missed : int
        Rows, and those that their own explanation does not cover.
    effective_n : float
        As how many independent rows that count alike they are.
    """

    sums: GapSums
    explanations: Explanations
    labels: tuple[object, ...]
    both: Bools
    tables: LabelCells | NumberTable
    n: int
    missed: int
    effective_n: float
