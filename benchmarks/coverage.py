"""Do the intervals hold what they promise? Simulations with known truth, and forecasts tried on real rows.

    python benchmarks/coverage.py --only intervals --plot docs/images    # printed: benchmarks/results/coverage.txt
    python benchmarks/coverage.py --only forecasts --plot docs/images    # printed: .../coverage_forecasts.txt
    python benchmarks/coverage.py --quick                                # both, in seconds; too few trials to judge
    python benchmarks/coverage.py --json kept.json                       # also keep every number
    python benchmarks/coverage.py --kept kept.json --plot docs/images    # tell and draw without running again

1. Coverage and width of every interval, nominal .95, over systems and numbers of rows (`coverage_systems.py`,
   `coverage_trials.py`). An interval falls short where its coverage is more than two Monte-Carlo errors below .95.
2. The mean of M̂ beside its expectation by the paper's theorem on the bias, and beside the truth.
3. `plan`: from n rows the unverifiable share at 4 n, beside what 4 n rows gave, on the paper's data sets
   (FAITHSCOPE_DATA names their folder; skipped without).

Every cell has a seed of its own, made from its name, so that parts can be run alone and give the same numbers.
"""

if __name__ != "__main__":  # numba, if it is installed, looks for the coverage package, and this is not it
    raise ImportError("benchmarks/coverage.py is a script: run it.")

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass
from pathlib import Path

from coverage_forecasts import TABLES, TEXTS, Forecast, foresee_all, table
from coverage_pictures import draw
from coverage_study import ROWS, Bias, Cell, biases, grids, study_all, summary
from coverage_trials import STUDIES
from ratios import describe_machine, options


@dataclass(frozen=True)
class Findings:
    """All results of a run."""

    machine: str
    cells: list[Cell]
    bias: list[Bias]
    forecasts: list[Forecast]

    @classmethod
    def read(cls, path: Path) -> "Findings":
        """What an earlier run has kept."""
        kept = json.loads(path.read_text())
        parts = {"cells": Cell, "bias": Bias, "forecasts": Forecast}
        return cls(**kept | {name: [kind(**fields) for fields in kept[name]] for name, kind in parts.items()})

    @classmethod
    def make(cls, quick: bool, part: str | None) -> "Findings":
        """A run, of seconds or of minutes; of one part, or of both."""
        studies = STUDIES if part != "forecasts" else ()
        results = study_all(studies, ROWS[:2] if quick else ROWS, 2 if quick else None)
        cells = [result for result in results if isinstance(result, Cell)]
        bias = [result for result in results if isinstance(result, Bias)]
        sets, sizes, times = (TABLES[:1], (250,), 2) if quick else (TABLES + TEXTS, (250, 1_000, 4_000), 10)
        forecasts = list(foresee_all(sets, sizes, times)) if part != "intervals" else []
        return cls(describe_machine(("faithscope", "numpy", "scipy")), cells, bias, forecasts)

    def tell(self) -> None:
        print(self.machine)
        if self.cells:
            print("\nCoverage, nominal .95. Short: coverage more than two Monte-Carlo errors below it.\n")
            print("\n".join(summary(self.cells)))
            print("\nCoverage and mean width w, system by system; * falls short")
            print("\n".join(grids(self.cells)))
            print("\nThe mean of M̂, its expectation by the theorem, and the truth\n")
            print("\n".join(biases(self.bias)))
        if self.forecasts:
            print("\nForecasts of the unverifiable share at 4 n from n rows, on the paper's data sets\n")
            print("\n".join(table(self.forecasts)))


def arguments() -> Namespace:
    parser: ArgumentParser = options(__doc__)
    parser.add_argument("--plot", type=Path, metavar="FOLDER", help="also draw the figures of docs/statistics.md here")
    parser.add_argument("--only", choices=("intervals", "forecasts"), help="only this part of the study")
    parser.add_argument("--kept", type=Path, metavar="PATH", help="tell and draw what an earlier --json kept instead")
    return parser.parse_args()


def main() -> None:
    chosen = arguments()
    findings = Findings.read(chosen.kept) if chosen.kept else Findings.make(chosen.quick, chosen.only)
    findings.tell()
    if chosen.plot:
        draw(findings.cells, findings.bias, findings.forecasts, chosen.plot)
    if chosen.json:
        chosen.json.write_text(json.dumps(asdict(findings), indent=1) + "\n")


main()
