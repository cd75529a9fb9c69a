"""Does `fs.encoding` find explainers that encode, leave the others alone, and take seconds on many rows?

    python benchmarks/encoding.py             # some minutes; exits 1 where a bar is missed
    python benchmarks/encoding.py --quick     # seconds; too few systems to judge

The bars: encoders are found with probability at least .9 at 1,000 rows, and of systems that do not encode at most 5%
are flagged, up to two Monte-Carlo errors, over 3,200 samples of eight kinds.
"""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

import faithscope as fs
from encoding_systems import ENCODERS, HONEST, Chance, Drawn
from ratios import describe_machine

KEPT = Path(__file__).parent / "results" / "encoding.txt"
ROWS, POWER, ALARMS = 1_000, 0.9, 0.05
FEWER = (60, 200)


def found(draw: Callable[[int, Chance], Drawn], n: int, samples: int) -> tuple[float, float]:
    """The share of samples that are said to encode, and the mean of the value."""
    said, values = 0, []
    for seed in range(samples):
        drawn = draw(n, np.random.default_rng([seed, n]))
        encoding = fs.encoding(drawn.rules, drawn.predictions, drawn.X)
        said += bool(encoding.encodes)
        values.append(0.0 if encoding.value is None else encoding.value)
    return said / samples, float(np.mean(values))


def powers(samples: int) -> tuple[list[str], bool]:
    """How often encoders are found, and whether that is often enough."""
    lines = [f"{'encoder, found in so many samples':38} {'n=60':>7} {'n=200':>7} {'n=1,000':>8} {'value':>7}"]
    good = True
    for name, draw in ENCODERS.items():
        few = [found(draw, n, samples)[0] for n in FEWER]
        share, value = found(draw, ROWS, samples)
        good &= share >= POWER
        lines.append(f"{name:38} {few[0]:7.3f} {few[1]:7.3f} {share:8.3f} {value:7.3f}")
    return lines, good


def alarms(samples: int) -> tuple[list[str], bool]:
    """How often systems that do not encode are flagged, and whether that is rare enough."""
    lines = [f"{'no encoding, flagged in so many samples':38} {'n=60':>7} {'n=200':>7} {'n=1,000':>8} {'value':>7}"]
    most, good = ALARMS + 2 * math.sqrt(ALARMS * (1 - ALARMS) / samples), True
    for name, draw in HONEST.items():
        few = [found(draw, n, samples)[0] for n in FEWER]
        share, value = found(draw, ROWS, samples)
        good &= max(*few, share) <= most
        lines.append(f"{name:38} {few[0]:7.3f} {few[1]:7.3f} {share:8.3f} {value:7.3f}")
    return lines, good


def many_rules(n: int, rules: int, rng: Chance) -> Drawn:
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
    return Drawn(fs.Rules.from_conditions(given, features=names), (3 * X[:, 0]).astype(int).astype(object), X)


def speeds(sizes: list[tuple[int, int]]) -> list[str]:
    """Seconds for many rows and rules, beside those of sufficiency."""
    lines = [f"{'rows':>9} {'rules':>7} {'labels, s':>10} {'sufficiency, s':>15}"]
    for n, rules in sizes:
        drawn = many_rules(n, rules, np.random.default_rng(0))
        given, times = (drawn.rules, drawn.predictions, drawn.X), []
        for measure in (fs.encoding, fs.sufficiency):
            start = perf_counter()
            measure(*given)
            times.append(perf_counter() - start)
        lines.append(f"{n:9,} {rules:7,} {times[0]:10.2f} {times[1]:15.2f}")
    return lines


def main() -> None:
    """Print the tables, and keep them."""
    quick, start = "--quick" in sys.argv, perf_counter()
    samples = 20 if quick else 400
    fast = speeds([(10_000, 1_000)] if quick else [(10_000, 1_000), (100_000, 1_000), (100_000, 5_000)])
    strong, found_all = powers(samples // 2)
    false, few_alarms = alarms(samples)
    end = f"{samples // 2} samples of every encoder, {samples:,} of every other; {perf_counter() - start:.0f} s"
    lines = [describe_machine(["numpy", "scipy"]), "", *fast, "", *strong, "", *false, "", end]
    print("\n".join(lines))
    if not quick:
        KEPT.write_text("\n".join([*lines, ""]))
    sys.exit(0 if quick or (found_all and few_alarms) else 1)


if __name__ == "__main__":
    main()
