"""Distances between rows: any metric of SciPy's cdist, and Gower's for rows of numbers and categories."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.checks import check_function, is_real
from faithscope.inputs.columns import Column
from faithscope.inputs.missing import is_missing
from faithscope.words import readable

_ALIASES = {"l2": "euclidean", "l1": "cityblock", "manhattan": "cityblock"}
_DIAGONAL = 16  # rows at a time whose square of distances is computed for its diagonal


@dataclass(frozen=True)
class Gower:
    """Gower's distance, from 0 to 1: the mean over features of |x - y| / range, or of x != y for categories.

    Dates count as numbers. Two missing values are at distance 0 from each other, and a missing value is at distance 1,
    the largest, from any known one; no feature is left out of the mean. A category that was never seen differs from all
    others. The ranges are learned once, so that a distance does not depend on the rows it is computed with; a value
    outside its range is at distance 1 at most, and an infinite one at distance 1 from all but itself.

    Parameters
    ----------
    ranges : tuple of float or None
        For each feature the range of its numbers; None for categories.

    Examples
    --------
    >>> age, job = np.array([20.0, 40.0, 60.0]), np.array(["clerk", "nurse", "clerk"], object)
    >>> gower = Gower.fit([age, job])
    >>> columns = gower.read([age, job])
    >>> gower.between(columns, [column[:1] for column in columns]).tolist()
    [0.0, 0.75, 0.5]
    """

    ranges: tuple[float | None, ...]

    @classmethod
    def fit(cls, columns: list[Array]) -> "Gower":
        """Learn the ranges from columns of numbers, dates or objects."""
        return cls(tuple(None if column.dtype == object else _range(column.astype(np.float64)) for column in columns))

    def read(self, columns: list[Array]) -> list[Array]:
        """Each column ready for comparison: numbers as floats, categories as text."""
        if len(columns) != len(self.ranges):
            learned = len(self.ranges)
            raise BadInput(f"Rows have {len(columns)} features, but this distance was learned on {learned}.")
        pairs = enumerate(zip(columns, self.ranges, strict=True))
        return [_codes(column) if width is None else floats(j, column) for j, (column, width) in pairs]

    def between(self, a: list[Array], b: list[Array]) -> Floats:
        """Distances of columns that were read, broadcast against each other."""
        total: Floats = np.zeros(np.broadcast(a[0], b[0]).shape)
        for x, y, width in zip(a, b, self.ranges, strict=True):
            total += (x != y) if width is None else gap(x, y, width or 1.0)
        return total / len(self.ranges)


def gap(x: Floats, y: Floats, width: float | Floats) -> Floats:
    """What numbers add to Gower's distance, at most 1, if their range is `width`, which is not 0."""
    # The difference first: equal differences are then equal distances, as an open ball needs.
    with np.errstate(invalid="ignore", over="ignore"):
        gaps = np.abs(x - y) / width
    unknown = np.isnan(gaps)
    if unknown.any():  # missing, or infinite
        gaps = np.where(unknown, (x != y) & ~(np.isnan(x) & np.isnan(y)), gaps)
    return np.minimum(gaps, 1.0)


def _range(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(np.ptp(known)) if len(known) else 0.0


def _codes(column: Array) -> Ints:
    """Each category as a number that equal ones share in every process (`Column.coded`); missing has one of its own."""
    try:
        codes, places = Column("", column).coded
        digests = np.array([*map(_digest, places), _digest(None)], np.int64)
        return digests[codes]
    except TypeError:  # lists among them, which have no hash
        return np.array([_digest(None if is_missing(item) else item) for item in column], np.int64)


def _digest(item: Any) -> int:
    """Of a text, and of anything else by how it reads: 1, 1.0 and True alike."""
    word = item if isinstance(item, str) else readable(int(item) if isinstance(item, bool | np.bool_) else item)
    kind = b"" if isinstance(item, str) else b"\0"
    digest = hashlib.blake2b(kind + word.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def floats(j: int, column: Array) -> Floats:
    """A column as numbers, of which one may miss all; raises if it holds anything else."""
    if column.dtype != object:
        return column.astype(np.float64)
    others = [item for item in column if not (is_missing(item) or is_real(item))]
    if others:
        raise WrongType(
            f"Column {j} of the rows holds {others[0]!r}, which is not a number, as {len(others):,} of its "
            f"{len(column):,} values are not: convert or drop them, or use metric='gower' from the start."
        )
    return np.full(len(column), np.nan)


def to_metric_name(metric: Any) -> Any:
    """A metric by its canonical name; raises for one that depends on more than two rows, and for what is none."""
    if not isinstance(metric, str | Gower):
        return check_function(metric, "metric, if it is no name such as 'euclidean',", "a", "b")
    if metric in ("seuclidean", "mahalanobis"):
        raise BadInput(f"metric={metric!r} depends on all rows at once: scale or whiten the rows, and use euclidean.")
    return _ALIASES.get(metric, metric) if isinstance(metric, str) else metric


def pairwise(a: Floats, b: Floats, metric: Any) -> Floats:
    """Distances between all rows of a and all rows of b; NaN if either row misses a number."""
    from scipy.spatial.distance import cdist  # here, since it would double the time to import faithscope

    try:
        distances = np.asarray(cdist(a, b, to_metric_name(metric)), np.float64)
    except (ValueError, TypeError) as problem:
        raise BadInput(f"metric={metric!r} could not be used: {str(problem).splitlines()[0][:160]}") from problem
    distances[np.isnan(a).any(axis=1)] = np.nan
    distances[:, np.isnan(b).any(axis=1)] = np.nan
    return distances


def paired(a: Floats, b: Floats, metric: Any) -> Floats:
    """Distance of row i of a to row i of b, rounded exactly as `pairwise` rounds it."""
    parts = [
        np.diagonal(pairwise(a[start : start + _DIAGONAL], b[start : start + _DIAGONAL], metric))
        for start in range(0, len(a), _DIAGONAL)
    ]
    return np.concatenate(parts) if parts else np.empty(0)
