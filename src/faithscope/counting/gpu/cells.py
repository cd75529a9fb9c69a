"""Cells that a GPU has counted: they stay there for the interval, and are fetched meanwhile."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from faithscope.counting.terms import cell_losses
from faithscope.inputs.array_types import Bools, Ints


class PairCells(NamedTuple):
    """Counts of covered rows: one entry per (explanation, label) pair that occurs."""

    explanation: Ints
    label: Ints
    given: Ints
    covered: Ints
    missed: Ints
    own: Bools  # whether each row is covered by its own explanation
    close: int  # pairs of an explanation and a row whose distance is within CLOSE of the radius


@dataclass(frozen=True, eq=False)
class DeviceCells:
    """The same on a GPU.

    Attributes
    ----------
    table : (5, m) tensor
        Explanation, label, given, covered and missed of each cell, in order.
    own : (n,) tensor
    close : int
    """

    table: Tensor
    own: Tensor
    close: int

    def fetch(self) -> "Fetching":
        """Begin to copy them to the CPU, while the GPU goes on."""
        return Fetching(self.table, self.own, self.close)

    def weighed(self) -> tuple[Tensor, Tensor, Tensor]:
        """The explanation, the label and the weights (4, k) of those k cells to which a row belongs: `cell_losses`."""
        explanation, label, given, covered, missed = self.table
        total = torch.zeros(int(explanation[-1]) + 1, dtype=torch.int64, device=covered.device)
        total = total.index_add_(0, explanation, covered)[explanation]
        occupied = given.nonzero()[:, 0]
        lost = cell_losses(given[occupied], covered[occupied], missed[occupied], total[occupied], _ratio)
        weights = [weight.double() for weight in lost]
        return explanation[occupied], label[occupied], torch.stack(weights)


class Fetching:
    """Cells on their way to the CPU."""

    def __init__(self, table: Tensor, own: Tensor, close: int) -> None:
        self._copies, self._close = [part.to("cpu", non_blocking=True) for part in (table, own)], close
        self._arrived: Any = torch.cuda.Event() if table.is_cuda else None
        if self._arrived is not None:
            self._arrived.record()

    def result(self) -> PairCells:
        """The cells, once they are here; from any thread."""
        if self._arrived is not None:
            self._arrived.synchronize()
        table, own = (part.numpy().copy() for part in self._copies)  # these lie in memory that only a GPU needs
        explanation, label, given, covered, missed = table
        return PairCells(explanation, label, given, covered, missed, own, self._close)


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """Elementwise part / whole; 0 if the whole is 0 or the part is not positive."""
    return torch.where((whole > 0) & (part > 0), part.double() / whole, 0.0)
