"""Cells that a GPU has counted: they stay there for the interval, and are fetched meanwhile."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from faithscope.counting.terms import cell_losses
from faithscope.inputs.array_types import Bools, Ints


@dataclass(frozen=True, eq=False)
class DeviceCells:
    """Counts of covered rows: one entry per (explanation, label) pair that occurs.

    Attributes
    ----------
    table : (5, m) tensor
        Explanation, label, given, covered and missed of each cell, in order.
    own : (n,) tensor
        Whether each row is covered by its own explanation.
    close : int
        Pairs of an explanation and a row whose distance is within CLOSE of the radius.
    """

    table: Tensor
    own: Tensor
    close: int

    def fetch(self) -> Callable[[], tuple[Ints, Bools]]:
        """Begin to copy `table` and `own` to the CPU, while the GPU goes on; what is returned waits, in any thread."""
        copies = [part.to("cpu", non_blocking=True) for part in (self.table, self.own)]
        arrived = torch.cuda.Event() if self.table.is_cuda else None
        if arrived is not None:
            arrived.record()

        def result() -> tuple[Ints, Bools]:
            if arrived is not None:
                arrived.synchronize()
            table, own = (part.numpy().copy() for part in copies)  # these lie in memory that only a GPU needs
            return table, own

        return result

    def weighed(self) -> tuple[Tensor, Tensor, Tensor]:
        """The explanation, the label and the weights (4, k) of those k cells to which a row belongs: `cell_losses`."""
        explanation, label, given, covered, missed = self.table
        total = torch.zeros(int(explanation[-1]) + 1, dtype=torch.int64, device=covered.device)
        total = total.index_add_(0, explanation, covered)[explanation]
        occupied = given.nonzero()[:, 0]
        lost = cell_losses(given[occupied], covered[occupied], missed[occupied], total[occupied], divide=_ratio)
        weights = [weight.double() for weight in lost]
        return explanation[occupied], label[occupied], torch.stack(weights)


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """Elementwise part / whole; 0 if the whole is 0 or the part is not positive."""
    return torch.where((whole > 0) & (part > 0), part.double() / whole, 0.0)
