"""Labels of mixtures of rows and background rows, averaged over the background: what Kernel SHAP asks a model for."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.shap.coded_rows import CodedRows
from faithscope.explainers.shap.mixtures import MixtureAnswers
from faithscope_reproduction.models.forest import Forest

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Ints = NDArray[np.int64]

_ASKED = 200_000  # mixtures in one call of the model
_FEW_FEATURES = 10  # of which rows share nearly all their coalitions
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
    return isinstance(model, Forest) and model.roots.size >= _MANY_TREES and features <= _FEW_FEATURES


def _by_asking(model: Any, rows: Floats, background: Floats, members: Masks) -> Floats:
    """Asks the model about each different mixture once."""
    own, others = CodedRows.pair(rows, background)
    keys = np.where(members, own.codes[:, None, :], np.uint64(0)).sum(axis=2)
    keys = keys[:, :, None] + others.sums(~members.reshape(-1, rows.shape[1])).T.reshape(*keys.shape, -1)
    mixtures = np.where(members[:, :, None, :], rows[:, None, None, :], background)
    answers = MixtureAnswers(
        lambda asked: np.asarray(model.predict(asked), np.float64)[:, None], _differ, own.domain, keys.size, 1
    )
    return np.asarray(answers(mixtures.reshape(-1, rows.shape[1]), keys.ravel()).reshape(keys.shape).mean(axis=2))


def _differ(labels: Floats, others: Floats) -> Masks:
    return np.asarray((labels != others).any(axis=1))


def _by_leaves(forest: Forest, rows: Floats, background: Floats, members: Masks) -> Floats:
    """A mixture reaches a leaf where the row meets its conditions on members, and the background row all others.

    So for one coalition the margins of all rows with all background rows are a product of two matrices. Sums are in
    single precision; where that leaves doubt about a label, the trees are followed.
    """
    best = np.full((*members.shape[:2], len(background)), -np.inf, np.float32)
    second, labels = best.copy(), np.zeros(best.shape, np.int64)
    coalitions = list(_shared(members))
    for label, (value, missed, missed_by_background) in enumerate(_leaves(forest, rows, background)):
        start = np.float32(forest.start[label])
        for code, at in coalitions:
            reached = ((missed[at[0]] & code) == 0).astype(np.float32)
            adds = np.where((missed_by_background & ~code) == 0, value, np.float32(0))
            margin = reached @ adds.T + start
            first = best[at]
            labels[at] = np.where(margin > first, label, labels[at])
            second[at] = np.maximum(second[at], np.minimum(margin, first))
            best[at] = np.maximum(first, margin)
    lead = (best - second).astype(np.float64).ravel()

    def mixtures(places: Ints) -> Floats:
        row, slot, other = np.unravel_index(places, best.shape)
        return np.where(members[row, slot], rows[row], background[other])

    sizes = np.broadcast_to(forest.largest_size, lead.shape)
    return np.asarray(forest.settled(labels.ravel(), lead, sizes, mixtures).reshape(best.shape).mean(axis=2))


def _shared(members: Masks) -> Iterator[tuple[np.uint16, tuple[Ints, Ints]]]:
    """Each different coalition as bits, and where it stands: rows and places among their coalitions."""
    codes = (members * (1 << np.arange(members.shape[2]))).sum(axis=2)
    order = codes.ravel().argsort(kind="stable")
    different, first = np.unique(codes.ravel()[order], return_index=True)
    for code, places in zip(different, np.split(order, first[1:]), strict=True):
        yield np.uint16(code), (places // members.shape[1], places % members.shape[1])


def _leaves(
    forest: Forest, rows: Floats, background: Floats
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.uint16], NDArray[np.uint16]]]:
    """Of each label's leaves: what they add, and which features (as bits) do not meet their conditions, by row."""
    low, high = forest.regions
    cells = forest.cells(rows), forest.cells(background)
    stops = np.append(forest.roots.ravel(), len(forest.left))[1:].reshape(forest.roots.shape)
    for label in range(forest.roots.shape[1]):
        nodes = np.concatenate([np.arange(*ends) for ends in zip(forest.roots[:, label], stops[:, label], strict=True)])
        nodes = nodes[forest.is_leaf[nodes]]
        missed, missed_by_background = (_missed(part, low[nodes], high[nodes]) for part in cells)
        yield forest.value[nodes].astype(np.float32), missed, missed_by_background


def _missed(cells: NDArray[np.int32], low: NDArray[np.int32], high: NDArray[np.int32]) -> NDArray[np.uint16]:
    """Bits of the features whose cell is outside of a leaf's region: (n, leaves)."""
    bits = np.zeros((len(cells), len(low)), np.uint16)
    for j in range(cells.shape[1]):
        own = cells[:, j, None]
        bits |= ((own < low[:, j]) | (own > high[:, j])) * np.uint16(1 << j)
    return bits
