"""Clusters: reasons by which cluster of embeddings they belong to."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.discretizers.base import Discretizer
from faithscope.discretizers.reasons import keys_of, text_digest, to_reasons
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.keys import Plain
from faithscope.explanations.reasons import shown
from faithscope.inputs.alignment import index_of, same_rows
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.checks import check_whole
from faithscope.inputs.grouping import group, hash_rows
from faithscope.inputs.numbers import to_matrix

_STARTS = 4  # of k-means, of which the best counts
_SEED_BITS = 2**32


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Clusters(Discretizer):
    """The cluster of a reason's embedding, by k-means.

    Equal texts are one point, the mean of their embeddings, which counts as often as they occur; so the cluster is a
    function of the text, whatever the order of the rows. An embedding should be made of the reason alone: one that has
    seen the input or the prediction says more than the reason does. Predictions are not looked at.

    Parameters
    ----------
    embeddings : (n, d) array or table
        One row of numbers per reason, in the order of the reasons.
    k : int
        How many clusters; fewer if there are fewer different texts.
    seed : int
        Of the starts of k-means.

    Examples
    --------
    >>> from faithscope import Reasons
    >>> reasons = Reasons(["It rains.", "It is raining.", "He sleeps."])
    >>> Clusters([[0.0, 1.0], [0.1, 1.0], [5.0, 0.0]], k=2)(reasons).values.tolist()
    ['cluster 0: "It is raining."', 'cluster 0: "It is raining."', 'cluster 1: "He sleeps."']
    """

    embeddings: Array
    k: int
    seed: int
    index: Any  # the row labels of embeddings in a pandas table; None of others

    reads_beyond_text = True

    def __init__(self, embeddings: Any, k: int, seed: int = 0) -> None:
        matrix = to_matrix(embeddings, "Embeddings")[0]
        if not matrix.size:
            raise BadInput(f"Embeddings must have one row per reason; got shape {matrix.shape}.")
        k = check_whole(k, "k, the number of clusters,", 1, 100_000)
        seed = check_whole(seed, "seed", 0, _SEED_BITS - 1)
        self._fill(embeddings=matrix.astype(np.float64), index=index_of(embeddings), k=k, seed=seed)

    def __call__(self, explanations: Explanations) -> Plain:
        reasons = to_reasons(self, explanations)
        if len(reasons) != len(self.embeddings):
            raise BadInput(
                f"{self!r} has embeddings of {len(self.embeddings):,} reasons, but there are {len(reasons):,} here: "
                "pass the embeddings of these reasons, in their order; for a part of the rows, those of that part."
            )
        labels_differ = same_rows(embeddings=self, reasons=reasons)
        codes, first = group([reasons.folded])
        texts, place = np.unique(reasons.folded[first], return_inverse=True)  # the same in any order of the rows
        text = place[codes]
        cluster, nearest = self._clustered(text, len(texts))
        # One text for all that are equal once folded: the first in order of their letters, which is kept last.
        written = dict(sorted(zip(reasons.folded, reasons.texts, strict=True), reverse=True))
        names = [f'cluster {j}: "{shown(written[texts[near]])}"' for j, near in enumerate(nearest.tolist())]
        return keys_of(to_objects(names)[cluster[text]], reasons, labels_differ)

    def _clustered(self, text: Ints, many: int) -> tuple[Ints, Ints]:
        """The cluster of each different text, and the text nearest to the center of each cluster."""
        from sklearn.cluster import KMeans

        rows = np.bincount(text, minlength=many).astype(np.float64)
        points = _means(self.embeddings, text, rows)
        k = min(self.k, len(np.unique(points, axis=0)))
        fitted = KMeans(k, n_init=_STARTS, random_state=self.seed).fit(points, sample_weight=rows)
        gaps = np.linalg.norm(points - fitted.cluster_centers_[fitted.labels_], axis=1)
        ranked = np.lexsort((gaps, fitted.labels_))
        begins = np.searchsorted(fitted.labels_[ranked], np.arange(k))
        return fitted.labels_.astype(np.int64), ranked[begins]

    def __repr__(self) -> str:
        rows, width = self.embeddings.shape
        held = f"{rows:,} embeddings of {width:,} numbers; digest {self._digest}"
        return f"Clusters(<{held}>, k={self.k}, seed={self.seed})"

    @cached_property
    def _digest(self) -> str:
        return text_digest(np.ascontiguousarray(self.embeddings + 0.0).tobytes())


def _means(embeddings: Floats, text: Ints, rows: Floats) -> Floats:
    """The mean embedding of each different text."""
    # Sums round by their order, which must not be that of the rows.
    order = np.lexsort((hash_rows([embeddings]), *embeddings.T[:3], text))
    sums = np.add.reduceat(embeddings[order], np.searchsorted(text[order], np.arange(len(rows))), axis=0)
    return sums / rows[:, None]
