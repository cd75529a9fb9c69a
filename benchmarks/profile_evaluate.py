"""What one `evaluate` goes through: modules that it enters, returns to, and how often arrays are checked or converted.

    python benchmarks/profile_evaluate.py

Counts calls, not seconds: the numbers are the same on every machine. A *return* is a call into a module that had been
left for another one before. A *conversion* is a call of a function that turns what a caller holds into arrays.
"""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import faithscope as fs

CONVERSIONS = ("to_labels", "to_predictions", "to_keys", "to_vector", "to_matrix", "as_explanations", "to_weights")
CHECKS = ("same_length", "same_rows")
ROOT = str(Path(fs.__file__).parent)


class Profile:
    """Calls into modules of the package, in their order."""

    def __init__(self) -> None:
        self.modules: list[str] = []
        self.functions: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """What `sys.setprofile` calls."""
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(ROOT):
            return
        self.functions[frame.f_code.co_name] += 1
        module = name[len(ROOT) + 1 :]
        if not self.modules or self.modules[-1] != module:
            self.modules.append(module)

    @property
    def returns(self) -> int:
        """Times that a module was entered again after it had been left."""
        return len(self.modules) - len(set(self.modules))


def profile(**options: Any) -> Profile:
    """The profile of one evaluation of importances, or of rules, whose model and explainer answered before."""
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(1000, 3)), rng.integers(0, 2, 1000)
    rules = fs.Rules.from_conditions([[("a", "<=", round(float(x), 1))] for x in X[:, 0]], features=["a", "b", "c"])
    explanations = rules if options.pop("rules", False) else np.round(X, 1)
    fs.evaluate(labels, explanations, X, progress=False, **options)  # what is imported when first used
    calls = Profile()
    sys.setprofile(calls)
    try:
        fs.evaluate(labels, explanations, X, progress=False, **options)
    finally:
        sys.setprofile(None)
    return calls


def main() -> None:
    """Print a table of three evaluations."""
    print(f"{'evaluate':<24}{'modules':>9}{'returns':>9}{'calls':>8}{'conversions':>13}{'checks':>8}")
    cases: dict[str, dict[str, Any]] = {
        "importances": {},
        "importances, weights": {"weights": np.arange(1, 1001)},
        "rules": {"rules": True},
    }
    for name, options in cases.items():
        calls = profile(**options)
        conversions = sum(calls.functions[function] for function in CONVERSIONS)
        checks = sum(calls.functions[function] for function in CHECKS)
        modules, total = len(set(calls.modules)), sum(calls.functions.values())
        print(f"{name:<24}{modules:>9}{calls.returns:>9}{total:>8}{conversions:>13}{checks:>8}")


if __name__ == "__main__":
    main()
