"""The paper's bound on the error of sufficiency, where one row lies under every rule: ``python benchmarks/hub.py``.

Every rule covers its own row and a hub of mass 1/n, and all labels are equal, so the true sufficiency is 1. Without the
hub no row can be checked and the estimate is 0; with it once, only the hub's own row cannot.
"""

import numpy as np

ROWS = (100, 1_000, 10_000)
SAMPLES = 100_000


def squared_error(n, rng):
    """Mean squared error of the estimate over many samples of n rows."""
    hubs = rng.binomial(n, 1 / n, SAMPLES)
    estimates = np.select([hubs == 0, hubs == 1], [0.0, (n - 1) / n], 1.0)
    return float(np.mean((1 - estimates) ** 2))


def bound(n):
    """What the theorem promises: 4/n and the square of Σ p exp(-(n - 1) q), where the hub has mass q = 1/n."""
    return float(4 / n + np.exp(-(n - 1) / n) ** 2)


def main():
    rng = np.random.default_rng(0)
    for n in ROWS:
        print(f"n = {n:,}: mean squared error {squared_error(n, rng):.3f}, bound {bound(n):.3f}")


if __name__ == "__main__":
    main()
