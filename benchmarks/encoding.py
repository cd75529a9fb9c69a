"""How long does `fs.encoding` take on many rows and rules, beside `fs.sufficiency`?

    python benchmarks/encoding.py             # a minute
    python benchmarks/encoding.py --quick     # seconds

Whether it finds explainers that encode, and leaves the others alone: `python benchmarks/coverage --only encoders`.
"""

from functools import partial

import numpy as np

import faithscope as fs
from ratios import clock, describe_machine, options

SIZES = ((10_000, 1_000), (100_000, 1_000), (100_000, 5_000))  # rows, rules


def many_rules(n: int, rules: int, rng: np.random.Generator) -> tuple[fs.Rules, np.ndarray, np.ndarray]:
    """So many rules of two conditions; every row is given one of those that hold on it."""
    X = rng.random((n, 10))
    names = [f"x{j}" for j in range(10)]
    features, bounds = rng.integers(0, 10, (rules, 2)), rng.uniform(0.5, 1.0, rules).round(4)
    chosen, holds = np.full(n, -1), X[:, features[:, 0]] <= bounds
    for _ in range(20):  # a random rule, until one holds; rule 0 otherwise
        tried = rng.integers(0, rules, n)
        chosen = np.where((chosen < 0) & holds[np.arange(n), tried], tried, chosen)
    conditions = [
        [(names[a], "<=", float(b)), (names[c], "<=", 2.0)] for (a, c), b in zip(features, bounds, strict=True)
    ]
    given = [conditions[j] for j in np.maximum(chosen, 0)]
    return fs.Rules.from_conditions(given, features=names), (3 * X[:, 0]).astype(int).astype(object), X


def main() -> None:
    """Print the seconds."""
    chosen = options(__doc__).parse_args()
    print(describe_machine(("numpy", "scipy")))
    print(f"{'rows':>9} {'rules':>7} {'labels, s':>10} {'sufficiency, s':>15}")
    for n, rules in SIZES[:1] if chosen.quick else SIZES:
        given = many_rules(n, rules, np.random.default_rng(0))
        times = [clock(partial(measure, *given))[0] for measure in (fs.encoding, fs.sufficiency)]
        print(f"{n:9,} {rules:7,} {times[0]:10.2f} {times[1]:15.2f}")


if __name__ == "__main__":
    main()
