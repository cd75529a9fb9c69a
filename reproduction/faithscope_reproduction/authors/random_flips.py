"""Counterfactuals as the random method of the dice-ml package finds them, for many rows at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope.inputs.seeds import generators
from faithscope_reproduction.authors.small_changes import SmallChanges, decimals

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NONE = -1e9  # stands in every feature of a counterfactual that was not found
_ASKED = 100_000  # rows in one call of the model
_AT_LEAST = 2  # features are changed before the search may end


@dataclass(frozen=True, eq=False)
class RandomFlips:
    """Explains a row by a random point of another class, few features of which differ from the row's.

    A thousand copies of the row each have one random feature replaced by a value drawn evenly from its range, then
    another one, and so on. Once two features were drawn, and some copy has the wanted class, one of all those that
    have had it is the answer; then small changes are taken back (`SmallChanges`). Where dice-ml drops duplicates
    before it chooses, here every flipped copy is as likely as any other.

    Parameters
    ----------
    model : model
        Anything with ``predict`` from (m, d) arrays to m positions of classes.
    known : (m, d) array
        Training rows, which say what the ranges are and which features are whole numbers.
    wanted : int or None
        The class that all counterfactuals get, even those of rows that have it already, as dice-ml demands if there are
        more than two classes; None for the opposite of two classes.
    fractions : bool
        Whether whole numbers may get a decimal: dice-ml takes 1.0 for a number with one.
    samples : int
    seed : int
        With the row itself it decides what is drawn, so batches change nothing.
    """

    model: Any
    known: Floats
    wanted: int | None = None
    fractions: bool = False
    samples: int = 1_000
    seed: int = 0

    def __repr__(self) -> str:
        return f"RandomFlips(wanted={self.wanted}, samples={self.samples}, seed={self.seed})"

    def explain(self, X: Any, *, progress: Callable[[int, int], None] | None = None) -> fs.Importances:
        """One point per row; `NONE` throughout if none was found."""
        rows = np.asarray(X, np.float64)
        points = np.full(rows.shape, NONE)
        step = max(1, _ASKED // self.samples)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            searched = self._search(part)
            found = np.flatnonzero((searched != NONE).any(axis=1))
            searched[found] = self._finished(searched[found], part[found])
            points[start : start + step] = searched
            if progress is not None:
                progress(min(start + step, len(rows)), len(rows))
        return fs.Importances(points)

    def _finished(self, points: Floats, rows: Floats) -> Floats:
        """The points after small changes were taken back."""
        wanted, forest = self._wanted(rows), getattr(self.model, "forest", None)
        changes = SmallChanges.of(self.known, self.fractions, None if forest is None else forest.edges)
        return changes.take_back(points, rows, lambda asked, of: self._classes(asked) == wanted[of])

    def _wanted(self, rows: Floats) -> Ints:
        return 1 - self._classes(rows) if self.wanted is None else np.full(len(rows), self.wanted)

    def _search(self, rows: Floats) -> Floats:
        """A random one of all copies that ever were flipped, for each row."""
        wanted, (n, d) = self._wanted(rows), rows.shape
        rngs = generators(self.seed, rows)
        values = self._drawn(np.array([rng.random((self.samples, d)) for rng in rngs]))
        copies = np.repeat(rows[:, None, :], self.samples, axis=1)
        points, best, left = np.full(rows.shape, NONE), np.full(n, -1.0), np.arange(n)
        for changed in range(1, d + 1):
            # One more feature of each copy is changed; it may have been changed before.
            place = np.array([rngs[row].integers(d, size=self.samples) for row in left])[:, :, None]
            part = copies[left]
            np.put_along_axis(part, place, np.take_along_axis(values[left], place, axis=2), axis=2)
            copies[left] = part
            flipped = self._classes(part.reshape(-1, d)).reshape(part.shape[:2]) == wanted[left, None]
            luck = np.where(flipped, [rngs[row].random(self.samples) for row in left], -1.0)
            pick, luckiest = luck.argmax(axis=1), luck.max(axis=1)
            better = luckiest > best[left]
            points[left[better]], best[left[better]] = part[better, pick[better]], luckiest[better]
            if changed >= _AT_LEAST:
                left = left[best[left] < 0]
            if not len(left):
                break
        return points

    def _drawn(self, shares: Floats) -> Floats:
        """Values at these shares of each range, which ends one step above the greatest value, as dice-ml has it."""
        low, high, places = self.known.min(axis=0), self.known.max(axis=0), decimals(self.known, self.fractions)
        values = low + shares * (high - low + 10.0**-places)
        rounded = [np.round(values[..., j], many) for j, many in enumerate(places.tolist())]
        return np.where(places > 0, np.stack(rounded, axis=-1), np.floor(values))

    def _classes(self, rows: Floats) -> Ints:
        return np.asarray(self.model.predict(rows), np.int64)


def discretized(points: Floats, rows: Floats) -> dict[str, fs.Importances]:
    """The points under each discretization, by the paper's names; rows without a counterfactual share one explanation.

    Parameters
    ----------
    points : (n, d) array
        One counterfactual per row; `NONE` throughout if there is none.
    rows : (n, d) array
    """
    none = (points == NONE).all(axis=1)[:, None]
    change = (points - rows).round(9)  # what differs by rounding alone is the same change
    values = {"original": points, "delta": change, "delta-sign": np.sign(change), "is-feature-modified": change != 0}
    return {word: fs.Importances(np.where(none, NONE, vectors)) for word, vectors in values.items()}
