"""Seeds of rows, of which no two are alike even if the rows are: as if each row were drawn for anew."""

from collections import Counter
from typing import Any

import numpy as np

from faithscope.explainers.anchors.answers import Keys, mix
from faithscope.explainers.shared.seeds import row_digests


def line_seeds(seed: int, X: Any) -> Keys:
    """A seed per row, from the row itself and how often it came before."""
    before: Counter[bytes] = Counter()
    seeds = []
    for digest in row_digests(seed, X):
        seeds.append((int.from_bytes(digest, "little"), before[digest]))
        before[digest] += 1
    numbers = np.array(seeds, np.uint64).reshape(-1, 2)
    return mix(numbers[:, 0] ^ mix(numbers[:, 1]))
