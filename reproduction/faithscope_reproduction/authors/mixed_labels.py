"""Labels of mixtures of rows and background rows, averaged over the background: what Kernel SHAP asks a model for."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.shap.coalitions import once
from faithscope_reproduction.models import Boosted

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Ints = NDArray[np.int64]

_ASKED = 200_000  # mixtures in one call of the model
_FEW_FEATURES = 10  # of which rows share nearly all their coalitions
_ROUNDING = 1e-3  # of the largest margin: far more than sums in single precision can be off
_MANY_TREES = 1_000  # from which on products of leaves take less time than following the trees


def mean_labels(model: Any, rows: Floats, background: Floats, members: Masks) -> Floats:
    """Mean label over the background where only members have the row's values: (n, coalitions).

    Parameters
    ----------
    model : model
        With ``predict``, from rows to numbers.
    rows, background : (n, d), (b, d) arrays
    members : (n, coalitions, d) array of bool
    """
    if by_leaves(model, rows.shape[1]):
        return _by_leaves(model, rows, background, members)
    snapped = getattr(model, "snapped", np.asarray)
    rows, background = snapped(rows), snapped(background)
    step = max(1, _ASKED // (members.shape[1] * len(background)))
    parts = [slice(at, at + step) for at in range(0, len(rows), step)]
    return np.concatenate([_by_asking(model, rows[part], background, members[part]) for part in parts])


def by_leaves(model: Any, features: int) -> bool:
    """Whether labels are found from the leaves of many trees over few features."""
    return isinstance(model, Boosted) and len(model.trees) >= _MANY_TREES and features <= _FEW_FEATURES


def _by_asking(model: Any, rows: Floats, background: Floats, members: Masks) -> Floats:
    """Asks the model about each different mixture once."""
    mixtures = np.where(members[:, :, None, :], rows[:, None, None, :], background)
    labels = once(lambda asked: np.asarray(model.predict(asked), np.float64))(mixtures.reshape(-1, rows.shape[1]))
    return np.asarray(labels.reshape(mixtures.shape[:3]).mean(axis=2))


def _by_leaves(model: Boosted, rows: Floats, background: Floats, members: Masks) -> Floats:
    """A mixture reaches a leaf where the row meets its conditions on members, and the background row all others.

    So for one coalition the margins of all rows with all background rows are a product of two matrices. They add in
    another order than the model, which is asked where that leaves doubt about a label.
    """
    best = np.full((*members.shape[:2], len(background)), -np.inf, np.float32)
    second, labels = best.copy(), np.zeros(best.shape, np.int64)
    coalitions, cells, leaves = list(_shared(members)), (model.cells(rows), model.cells(background)), model.leaves()
    for label, start in enumerate(model.start.astype(np.float32)):
        low, high, value = map(np.array, zip(*(box[1:] for box in leaves if box[0] == label), strict=True))
        missed, missed_by_background = (_missed(part, low, high) for part in cells)
        for code, at in coalitions:
            reached = ((missed[at[0]] & code) == 0).astype(np.float32)
            adds = np.where((missed_by_background & ~code) == 0, value.astype(np.float32), np.float32(0))
            margin = reached @ adds.T + start
            first = best[at]
            labels[at] = np.where(margin > first, label, labels[at])
            second[at] = np.maximum(second[at], np.minimum(margin, first))
            best[at] = np.maximum(first, margin)
    doubtful = np.nonzero(best - second <= _ROUNDING * np.abs(best))
    row, slot, other = doubtful
    labels[doubtful] = model.predict(np.where(members[row, slot], rows[row], background[other]))
    return np.asarray(labels.mean(axis=2))


def _shared(members: Masks) -> Iterator[tuple[np.uint16, tuple[Ints, Ints]]]:
    """Each different coalition as bits, and where it stands: rows and places among their coalitions."""
    codes = (members * (1 << np.arange(members.shape[2]))).sum(axis=2)
    order = codes.ravel().argsort(kind="stable")
    different, first = np.unique(codes.ravel()[order], return_index=True)
    for code, places in zip(different, np.split(order, first[1:]), strict=True):
        yield np.uint16(code), (places // members.shape[1], places % members.shape[1])


def _missed(cells: Ints, low: Ints, high: Ints) -> NDArray[np.uint16]:
    """Bits of the features whose cell is outside of a leaf's region: (n, leaves)."""
    bits = np.zeros((len(cells), len(low)), np.uint16)
    for j in range(cells.shape[1]):
        own = cells[:, j, None]
        bits |= ((own < low[:, j]) | (own > high[:, j])) * np.uint16(1 << j)
    return bits
