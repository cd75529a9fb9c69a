"""What other libraries answer on explanations whose quality is known: exact Shapley values, and noise.

    python benchmarks/known_quality.py

A linear model of 14 independent features; its exact Shapley values are ``w_j (x_j - E x_j)``. They say everything about
the prediction; standard normal noise says nothing. Quantus 0.6.0 (``Consistency``, ``Sufficiency``) is asked with its
defaults (batches of 64, absolute values, normalised, the five largest) and at its best (all rows in one batch, signs).
"""

import warnings
from functools import partial

import numpy as np
from numpy.random import default_rng

import faithscope as fs
from ratios import FEATURES, describe_machine, is_missing, quantus_value

ROWS = 5_000


def quantus_metrics():
    """Metrics by name and settings, and how many rows they take at once."""
    import quantus

    quiet = {"disable_warnings": True}
    best = {"abs": False, "normalise": False, **quiet}
    top = quantus.functions.discretise_func.top_n_sign
    return {
        "Quantus Consistency, defaults": (partial(quantus.Consistency, **quiet), 64),
        "Quantus Consistency, at its best": (partial(quantus.Consistency, discretise_func=top, **best), ROWS),
        "Quantus Sufficiency, defaults": (partial(quantus.Sufficiency, **quiet), 64),
        "Quantus Sufficiency, at its best": (partial(quantus.Sufficiency, **best), ROWS),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(describe_machine(["numpy", "quantus"]))
    rng = default_rng(0)
    rows, weights = rng.standard_normal((ROWS, FEATURES)), np.geomspace(4, 0.01, FEATURES)
    labels = rows @ weights > 0
    for name, values in {"exact Shapley values": rows * weights, "noise": rng.standard_normal(rows.shape)}.items():
        print(f"\n{name}, {ROWS:,} rows")
        for what, (metric, size) in () if is_missing("quantus") else quantus_metrics().items():
            print(f"  {what:<36}{quantus_value(metric, values, labels.astype(int), size)():.3f}")
        print(f"  faithscope  {fs.consistency(values, labels, discretizer=fs.SignOfTop(5))}")
        print(f"  faithscope  {fs.certify(values, labels)}")
