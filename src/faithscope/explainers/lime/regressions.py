"""Weighted ridge regressions of the outputs of shared draws, one per bins that rows have."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.lime.contrasts import Contrasts, count_of
from faithscope.explainers.lime.kernel import roots
from faithscope.explainers.shared.arrays import Bools, Floats, Ints
from faithscope.explainers.shared.blocks import Progress, blocks
from faithscope.inputs.chunks import WORKERS, in_threads
from faithscope.inputs.grouping import group
from faithscope.runtime.blas import one_blas_thread
from faithscope.runtime.memory import need

_BYTES = 16_000_000  # of contrasts at once
_AT_A_TIME = 10_000_000  # bytes of terms that a thread multiplies: threads gain nothing from short calls of NumPy


@dataclass(frozen=True, eq=False)
class Regressions:
    """Linear models of the outputs around any row, all fitted to the same draws.

    Rows that are seen alike share their regression, but for the row itself: it has weight 1 and its own output. The
    coefficients are linear in that output, so they are ``base + slope · output``.

    Attributes
    ----------
    draws : (d, draws) array
        What is seen of the draws: bins, or numbers of deviations.
    binned : (d,) array
        Which features are seen as bins.
    centers, scales : (classes,) arrays
        Middle and reach of the outputs.
    outputs : (classes, draws) array
        Of the draws, less the center, in scales: from -1 to 1.
    """

    draws: Floats
    binned: Bools
    centers: Floats
    scales: Floats
    outputs: Floats

    @classmethod
    def of(cls, draws: Floats, binned: Bools, outputs: Floats) -> "Regressions":
        """Regressions of outputs (draws, classes)."""
        # Clipped, so that a constant output is exactly its center, and gets exactly 0.
        centers = np.clip(outputs.mean(axis=0), outputs.min(axis=0), outputs.max(axis=0))
        reach = np.abs(outputs - centers).max(axis=0)
        scales = np.where(reach > 0, reach, 1.0)
        return cls(draws, binned, centers, scales, np.ascontiguousarray(((outputs - centers) / scales).T))

    def coefficients(self, seen: Floats, own: Floats, progress: Progress | None = None) -> Floats:
        """One vector per row and class: (n, classes, d).

        Parameters
        ----------
        seen : (n, d) array
            What is seen of the rows.
        own : (n, classes) array
            The outputs of the rows themselves.
        """
        n, classes = own.shape
        asked = f"Coefficients of {n:,} rows and {classes:,} classes"
        need(32 * n * classes * len(self.draws), asked, "explain fewer rows at once")
        which, first = group([seen])
        base, slope = self._lines(seen[first], _by_groups(progress, which))
        own = (own - self.centers) / self.scales
        values = base[which] + own[:, :, None] * slope[which]
        return np.asarray(values * self.scales[:, None] + 0.0)  # there is one zero

    def _lines(self, seen: Floats, progress: Progress | None) -> tuple[Floats, Floats]:
        """Base (n, classes, d) and slope (n, 1, d) of rows that are all seen differently."""
        lines, done = np.empty((len(seen), len(self.outputs) + 1, len(self.draws))), 0
        with one_blas_thread():
            for stretch in blocks(len(seen), self._at_once(seen)):
                contrasts, places = Contrasts.of(self.draws, seen[stretch], self.binned)
                for part in self._solve_all(contrasts, places):
                    lines[done : done + len(part)] = part
                    done += len(part)
                    if progress is not None:
                        progress(done, len(seen))
        return lines[:, :-1], lines[:, -1:]

    def _at_once(self, seen: Floats) -> int:
        """How many rows' contrasts are held at once: all, if their different values are few."""
        room = _BYTES // (self.draws.shape[1] * (4 if self.binned.all() else 16))
        return len(seen) if count_of(seen) <= room else room // seen.shape[1]

    def _solve_all(self, contrasts: Contrasts, places: Ints) -> Iterator[Floats]:
        """Solutions in blocks, in order; several threads compute them."""
        most = _AT_A_TIME // (contrasts.columns.itemsize * self.draws.shape[1] * (len(self.draws) + len(self.outputs)))
        step = min(most, -(-len(places) // (2 * WORKERS)))
        parts = [places[block] for block in blocks(len(places), step)]
        solve = partial(self._solve, contrasts)
        return map(solve, parts) if len(parts) == 1 else in_threads(solve, parts)

    def _solve(self, contrasts: Contrasts, places: Ints) -> Floats:
        """Bases and slopes of rows whose contrasts have these places: (n, classes + 1, d)."""
        d = len(self.draws)
        own = contrasts.own[places][:, :, None]
        moments = self._moments(contrasts, places)
        total = moments[:, d:, [d]].copy()
        total[:, 0] += 1
        sums = moments[:, :d, [d]] + own
        of_pairs = moments[:, :d, :d] + own * own.transpose(0, 2, 1) - sums * sums.transpose(0, 2, 1) / total[:, :1]
        of_outputs = moments[:, :d, d + 1 :] - sums * total[:, 1:].transpose(0, 2, 1) / total[:, :1]
        slope = own - sums / total[:, :1]
        solved = np.linalg.solve(of_pairs + np.eye(d), np.concatenate([of_outputs, slope], axis=2))
        return np.asarray(solved.transpose(0, 2, 1) * contrasts.signs[places][:, None])

    def _moments(self, contrasts: Contrasts, places: Ints) -> Floats:
        """Weighted sums over draws of products of all pairs among features, 1 and outputs."""
        d, draws = self.draws.shape
        terms: NDArray[Any] = np.empty((len(places), d + 1 + len(self.outputs), draws), contrasts.columns.dtype)
        terms[:, :d] = contrasts.columns[places]
        terms[:, d] = 1.0
        terms[:, d + 1 :] = self.outputs
        squares = contrasts.squares[places].sum(axis=1, dtype=contrasts.squares.dtype)
        terms *= roots(squares, d)[:, None]
        # One product per regression, whatever the block.
        return np.asarray(terms @ terms.transpose(0, 2, 1), np.float64)


def _by_groups(progress: Progress | None, which: Ints) -> Progress | None:
    """Progress that is told the groups done, and tells the rows in them."""
    if progress is None:
        return None
    rows = np.bincount(which).cumsum()
    return lambda done, _: progress(int(rows[done - 1]), len(which))
