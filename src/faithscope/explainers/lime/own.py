"""Draws of each row's own, as in the ``lime`` package: the model is asked about `samples` rows per row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.lime.drawing import ADVICE, VALUES, Drawing
from faithscope.explainers.lime.draws import draw_places
from faithscope.explainers.lime.kernel import KERNEL
from faithscope.explainers.shared.arrays import Floats
from faithscope.explainers.shared.blocks import Progress, blocks
from faithscope.explainers.shared.seeds import generators
from faithscope.explainers.shared.table import Unseen
from faithscope.runtime.blas import one_blas_thread
from faithscope.runtime.memory import in_memory


@dataclass(frozen=True, eq=False)
class OwnDraws(Drawing):
    """Draws by a generator per row, whose seed is a hash of the seed and of the row."""

    def coefficients(self, rows: Floats, unseen: Unseen, progress: Progress | None) -> Floats:
        step = VALUES // (self.samples * rows.shape[1])
        parts = [self._of_block(rows[block], unseen.take(block)) for block in blocks(len(rows), step, progress)]
        return np.concatenate(parts)

    @in_memory(ADVICE)
    def _of_block(self, rows: Floats, unseen: Unseen) -> Floats:
        columns, gaps = self._draw(rows, unseen)
        outputs = self.outputs([column.ravel() for column in columns], columns[0].size)
        outputs = outputs.reshape(*columns[0].shape, -1)
        return _fit(gaps, self.choose(outputs.transpose(0, 2, 1), outputs[:, 0]).transpose(0, 2, 1))

    def _draw(self, rows: Floats, unseen: Unseen) -> tuple[list[NDArray[Any]], NDArray[Any]]:
        """Rows drawn around each row, itself first: one column (n, samples) per feature, and gaps (d, n, samples)."""
        n, d = rows.shape
        self.need_memory(n)
        drawn = np.empty((d, n, self.samples), np.uint16)
        for row, generator in enumerate(generators(self.seed, rows)):
            drawn[:, row] = draw_places(generator, (d, self.samples), len(self.features[0].values))
        columns = [np.take(feature.values, drawn[j], mode="wrap") for j, feature in enumerate(self.features)]
        gaps = np.stack([feature.gaps(drawn[j], rows[:, j]) for j, feature in enumerate(self.features)])
        for j, column in enumerate(columns):
            columns[j] = _with_first(column, self.table.decode_column(j, rows[:, j], unseen))
        gaps[:, :, 0] = 0
        return columns, gaps


def _with_first(column: NDArray[Any], own: NDArray[Any]) -> NDArray[Any]:
    """Draws (n, samples) of which the first is replaced by the row's own value, whatever its type."""
    if column.dtype != own.dtype and column.dtype.kind != "O":
        kind = object if own.dtype.kind == "O" else np.result_type(column, own)
        column = column.astype(kind)
    column[:, 0] = own
    return column


def _fit(gaps: NDArray[Any], outputs: Floats) -> Floats:
    """Coefficients of weighted ridge regressions with an intercept, one regression per row and output.

    A feature that never differs has gap 0 in all draws, and gets exactly 0. To be like the row is the opposite of a
    gap, so the coefficient has the opposite sign.

    Parameters
    ----------
    gaps : (d, n, samples) array
        Whether draws differ from the row, or how much smaller they are.
    outputs : (n, samples, classes) array

    Returns
    -------
    (n, classes, d) array
    """
    d, n, samples = gaps.shape
    terms = np.empty((n, d + 1 + outputs.shape[2], samples))
    terms[:, :d] = gaps.transpose(1, 0, 2)
    terms[:, d] = 1.0
    terms[:, d + 1 :] = (outputs - outputs[:, :1]).transpose(0, 2, 1)  # a constant model gets exactly 0
    terms *= _roots(gaps)[:, None]
    with one_blas_thread():
        moments = terms @ terms.transpose(0, 2, 1)
    moments -= moments[:, :, [d]] * moments[:, [d]] / moments[:, [d]][:, :, [d]]
    solved = np.linalg.solve(moments[:, :d, :d] + np.eye(d), moments[:, :d, d + 1 :])
    return 0.0 - solved.transpose(0, 2, 1)


def _roots(gaps: NDArray[Any]) -> Floats:
    """Square roots of the weights by a kernel of width 0.75 √d; a draw that differs in k features is at distance √k."""
    d = len(gaps)
    if gaps.dtype != bool:
        return np.asarray(np.exp(np.einsum("dns,dns->ns", gaps, gaps) / (-4 * KERNEL**2 * d)))
    roots = np.exp(np.arange(d + 1) / (-4 * KERNEL**2 * d))
    count = np.add.reduce(gaps, axis=0, dtype=np.min_scalar_type(d))
    return np.asarray(roots[count])
