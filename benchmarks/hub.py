"""The paper's bound on the error of sufficiency, where one row lies under every rule: ``python benchmarks/hub.py``.

Every rule covers its own row and a hub of mass 1/n, and all labels are equal, so the true sufficiency is 1. Without the
hub no row can be checked and the estimate is 0; with it once, only the hub's own row cannot.
"""

import numpy as np
from numpy.random import default_rng

if __name__ == "__main__":
    rng = default_rng(0)
    for n in (100, 1_000, 10_000):
        hubs = rng.binomial(n, 1 / n, 100_000)
        estimates = np.select([hubs == 0, hubs == 1], [0.0, (n - 1) / n], 1.0)
        error = np.mean((1 - estimates) ** 2)
        # The theorem promises 4/n and the square of Σ p exp(-(n - 1) q), where the hub has mass q = 1/n.
        bound = 4 / n + np.exp(-(n - 1) / n) ** 2
        print(f"n = {n:,}: mean squared error {error:.3f}, bound {bound:.3f}")
