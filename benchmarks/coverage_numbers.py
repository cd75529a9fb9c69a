"""Do the intervals of numeric predictions hold what they promise? Simulations with known truth.

    python benchmarks/coverage_numbers.py             # some minutes; exits 1 where the bar is missed
    python benchmarks/coverage_numbers.py --quick     # seconds, some systems; too few trials to judge
    python benchmarks/coverage_numbers.py --json kept.json

Coverage and width of the 95% interval of Close, Tolerance and Spread, for consistency, sufficiency and within, over the
systems of `coverage_number_systems.py`. The bar: from 200 rows on every interval covers at least .93, up to two
Monte-Carlo errors. Spread is not judged on systems in which one row in a hundred holds most of the variance: a sample
of 200 rows lacks those rows one time in seven, and no interval can know what it has not seen.
"""

from dataclasses import replace
from functools import partial, update_wrapper

import numpy as np

import faithscope as fs
from coverage_number_systems import COVERED, EPS, GIVEN, UNSEEN, VECTORS, NumericSystem
from coverage_study import Cell, below_bar, conclude, study_all, summary
from coverage_trials import Answer, Study, Trial
from ratios import describe_machine, options

ROWS = (50, 200, 1_000)
BAR = 0.93
AGREEMENTS = {"close": fs.Close(EPS), "tolerance": fs.Tolerance(EPS), "spread": fs.Spread()}


def measured(
    system: NumericSystem, n: int, rng: np.random.Generator, measure: str, names: tuple[str, ...]
) -> dict[str, Answer]:
    """The intervals of one measure, by several agreements, on the same rows."""
    codes, y = system.draw(n, rng)
    answers = {}
    for name in names:
        truth = getattr(system, name)
        if name == "spread" and np.ptp(y.reshape(n, -1), axis=0).max() == 0:
            continue  # predictions that are all equal are refused
        estimate = ask(system, measure, codes, y, name)
        answers[f"{measure}, {name}"] = estimate.low, estimate.high, truth
    return answers


def ask(system: NumericSystem, measure: str, codes: np.ndarray, y: np.ndarray, name: str) -> fs.Estimate:
    """One estimate."""
    asked, X = {"agreement": AGREEMENTS[name]}, np.column_stack([codes, codes]).astype(float)
    if measure == "consistency":
        return fs.consistency(codes, y, **asked)
    if measure == "within":
        return fs.within(X[:, :1], y, float(system.last[50] - 50) + 0.5, **asked)
    return fs.sufficiency(system.rules.take(codes), y, X[:, :1], **asked)


def trial(measure: str, *names: str) -> Trial:
    """A trial under a name of its own, which its seeds are made from."""
    made = partial(measured, measure=measure, names=names)
    made.__name__ = f"numbers: {measure}"
    return update_wrapper(made, made, assigned=())


SLIDING = {name: system for name, system in COVERED.items() if name.startswith("sliding")}
STUDIES = (
    Study(trial("consistency", *AGREEMENTS), GIVEN | UNSEEN, 1_000),
    Study(trial("consistency", "spread"), VECTORS, 1_000),
    Study(trial("sufficiency", *AGREEMENTS), COVERED, 300),
    Study(trial("within", *AGREEMENTS), SLIDING, 300),
)


def short(cells: list[Cell]) -> list[str]:
    """The cells that miss the bar by more than two Monte-Carlo errors."""
    return below_bar([cell for cell in cells if not (cell.system in UNSEEN and "spread" in cell.interval)], BAR)


def sides(cells: list[Cell]) -> list[str]:
    """On which side intervals miss, where they miss most."""
    worst = sorted((cell for cell in cells if cell.n >= 200), key=lambda cell: cell.covered)[:12]
    return [
        f"  {cell.interval:<24}{cell.system:<26}{cell.n:>6,}{cell.covered:>7.3f} ± {cell.error:.3f}, "
        f"{cell.above:.3f} above and {cell.below:.3f} below the truth"
        for cell in worst
    ]


def main() -> None:
    chosen = options(__doc__).parse_args()
    machine = describe_machine(("faithscope", "numpy", "scipy"))
    print(machine)
    studies = [replace(study, systems=dict([*study.systems.items()][::5])) for study in STUDIES]  # some of them
    cells = study_all(studies, ROWS[:2], 2) if chosen.quick else study_all(STUDIES, ROWS, None)
    systems = {cell.system for cell in cells}
    print(f"\nCoverage, nominal .95, of numbers: {len(systems)} systems. Short: two Monte-Carlo errors below .95.\n")
    print("\n".join(summary(cells)))
    print("\nWhere coverage is lowest from 200 rows on, and on which side intervals miss\n")
    print("\n".join(sides(cells)))
    conclude(chosen, machine, cells, short(cells), BAR)


if __name__ == "__main__":
    main()
