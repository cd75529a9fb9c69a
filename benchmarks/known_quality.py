"""What other libraries answer on explanations whose quality is known: exact Shapley values, and noise.

    python benchmarks/known_quality.py

A linear model of 14 independent features; its exact Shapley values are ``w_j (x_j - E x_j)``. They say everything about
the prediction; standard normal noise says nothing. Quantus 0.6.0 (``Consistency``, ``Sufficiency``) is asked with its
defaults (batches of 64, absolute values, normalised, the five largest) and at its best (all rows in one batch, signs).
Then the same for a regressor, whose single output Quantus takes for the only class.
"""

import importlib
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

import faithscope as fs
from ratios import FEATURES, describe_machine, is_missing, quantus_value

ROWS = 5_000


def system() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Explanations by name, and predictions."""
    rng = np.random.default_rng(0)
    rows, weights = rng.standard_normal((ROWS, FEATURES)), np.geomspace(4, 0.01, FEATURES)
    return {"exact Shapley values": rows * weights, "noise": rng.standard_normal(rows.shape)}, rows @ weights > 0


def regressor() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Explanations by name, and numeric predictions."""
    rng = np.random.default_rng(1)
    rows, weights = rng.standard_normal((ROWS, 4)), np.array([3.0, -2.0, 1.0, 0.5])
    return {"exact Shapley values": rows * weights, "noise": rng.standard_normal(rows.shape)}, rows @ weights


def quantus_on_regressor(values: np.ndarray, predictions: np.ndarray) -> dict[str, float]:
    """What Quantus says of a model with one output, at its best."""
    quantus = importlib.import_module("quantus")
    best = {"abs": False, "normalise": False, "disable_warnings": True}
    sign = quantus.functions.discretise_func.sign
    asked = {
        "Quantus Consistency, signs": partial(quantus.Consistency, discretise_func=sign, **best),
        "Quantus Sufficiency, threshold 1": partial(quantus.Sufficiency, threshold=1.0, **best),
    }
    labels, output = np.zeros(ROWS, int), predictions[:, None]
    return {name: quantus_value(metric, values, labels, outputs=output)() for name, metric in asked.items()}


def quantus_answers(values: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """What Quantus says, by metric and settings."""
    quantus = importlib.import_module("quantus")
    quiet = {"disable_warnings": True}
    best = {"abs": False, "normalise": False, **quiet}
    top = quantus.functions.discretise_func.top_n_sign
    asked: dict[str, tuple[Callable[..., object], int]] = {
        "Quantus Consistency, defaults": (partial(quantus.Consistency, **quiet), 64),
        "Quantus Consistency, at its best": (partial(quantus.Consistency, discretise_func=top, **best), ROWS),
        "Quantus Sufficiency, defaults": (partial(quantus.Sufficiency, **quiet), 64),
        "Quantus Sufficiency, at its best": (partial(quantus.Sufficiency, **best), ROWS),
    }
    return {name: quantus_value(metric, values, labels, batch_size=size)() for name, (metric, size) in asked.items()}


def main() -> None:
    print(describe_machine(["numpy", "quantus"]))
    explanations, labels = system()
    for name, values in explanations.items():
        print(f"\n{name}, {ROWS:,} rows")
        if not is_missing("quantus"):
            for what, value in quantus_answers(values, labels.astype(int)).items():
                print(f"  {what:<36}{value:.3f}")
        print(f"  faithscope  {fs.consistency(values, labels, discretizer=fs.SignOfTop(5))}")
        print(f"  faithscope  {fs.certify(values, labels)}")
    explanations, predictions = regressor()
    for name, values in explanations.items():
        print(f"\n{name} of a regressor, {ROWS:,} rows")
        if not is_missing("quantus"):
            for what, value in quantus_on_regressor(values, predictions).items():
                print(f"  {what:<36}{value:.3f}")
        for agreement in (fs.Spread(), fs.Close(2.0)):
            estimate = fs.consistency(values, predictions, discretizer=fs.Sign(), agreement=agreement)
            print(f"  faithscope, {agreement}  {estimate}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
