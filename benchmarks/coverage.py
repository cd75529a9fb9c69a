"""Do the intervals hold what they promise? Simulations with known truth, and forecasts tried on real rows.

    python benchmarks/coverage.py --only intervals --plot docs/images    # printed: benchmarks/results/coverage.txt
    python benchmarks/coverage.py --only forecasts --plot docs/images    # printed: .../coverage_forecasts.txt
    python benchmarks/coverage.py --only plans                           # printed: .../coverage_plans.txt
    python benchmarks/coverage.py --only attacks                         # printed: .../coverage_attacks.txt
    python benchmarks/coverage.py --only attacks --attack clusters       # only these attacks
    python benchmarks/coverage.py --quick                                # all, in seconds; too few trials to judge
    python benchmarks/coverage.py --only intervals --trial local         # only this trial of `coverage_trials.py`
    python benchmarks/coverage.py --json kept.json                       # also keep every number
    python benchmarks/coverage.py --kept kept.json --plot docs/images    # tell and draw without running again

1. Coverage and width of every interval, nominal .95, over systems and numbers of rows (`coverage_systems.py`,
   `coverage_trials.py`). An interval falls short where its coverage is more than two Monte-Carlo errors below .95.
2. The mean of M̂ beside its expectation by the paper's theorem on the bias, and beside the truth.
3. `plan`: from n rows the unverifiable share at 4 n and 10 n, beside what so many rows gave, on the paper's data sets
   (FAITHSCOPE_DATA names their folder; skipped without).
4. `plan` on systems with known truth: coverage and width of its interval at 2 n, 4 n and 10 n.
5. Attacks: systems on which intervals fail, before and after the remedy (`coverage_attack_lines.py`); and promises on
   one explanation with a few contradictions, computed exactly (`coverage_exact.py`).

Every cell has a seed of its own, made from its name, so that parts can be run alone and give the same numbers.
"""

if __name__ != "__main__":  # numba, if it is installed, looks for the coverage package, and this is not it
    raise ImportError("benchmarks/coverage.py is a script: run it.")

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass
from pathlib import Path

from coverage_attack_lines import ATTACKS, try_all
from coverage_attacks import AttackLine, attack_summary, attack_table
from coverage_engines import engine_gap
from coverage_exact import ExactLine, exact_lines, exact_table
from coverage_forecasts import TABLES, TEXTS, Forecast, foresee_all, table
from coverage_pictures import draw
from coverage_plans import DRAWS, HARD, SYSTEMS, PlanCell, plan_table, simulate
from coverage_study import ROWS, Bias, Cell, biases, grids, study_all, summary
from coverage_trials import STUDIES
from ratios import describe_machine, options

KINDS = [*ATTACKS, "exact", "engines"]  # of attacks


@dataclass(frozen=True)
class Findings:
    """All results of a run."""

    machine: str
    cells: list[Cell]
    bias: list[Bias]
    forecasts: list[Forecast]
    plans: list[PlanCell]
    attacks: list[AttackLine]
    exact: list[ExactLine]
    engine_gap: float | None

    @classmethod
    def read(cls, paths: list[Path]) -> "Findings":
        """What earlier runs have kept, together."""
        kept = [json.loads(path.read_text()) for path in paths]
        parts = {"cells": Cell, "bias": Bias, "forecasts": Forecast, "plans": PlanCell}
        parts |= {"attacks": AttackLine.read, "exact": ExactLine}
        lists = {name: [kind(**each) for run in kept for each in run[name]] for name, kind in parts.items()}
        gaps = [run["engine_gap"] for run in kept if run["engine_gap"] is not None]
        return cls(kept[0]["machine"], **lists, engine_gap=max(gaps, default=None))

    @classmethod
    def make(cls, quick: bool, part: str | None, trials: list[str] | None, attacked: list[str] | None) -> "Findings":
        """A run, of seconds or of minutes; of one part, or of all; of these trials and attacks, or of all."""
        chosen = [study for study in STUDIES if trials is None or study.trial.__name__ in trials]
        studies = tuple(chosen) if part in (None, "intervals") else ()
        results = study_all(studies, ROWS[:2] if quick else ROWS, 2 if quick else None)
        cells = [result for result in results if isinstance(result, Cell)]
        bias = [result for result in results if isinstance(result, Bias)]
        sets, sizes, times = (TABLES[:1], (250,), 2) if quick else (TABLES + TEXTS, (250, 1_000, 4_000), 10)
        forecasts = list(foresee_all(sets, sizes, times)) if part in (None, "forecasts") else []
        draws = {250: 2} if quick else DRAWS
        plans = list(simulate(SYSTEMS | HARD, draws)) if part in (None, "plans") else []
        attacks, exact, gap = attack(quick, attacked) if part in (None, "attacks") else ([], [], None)
        machine = describe_machine(("faithscope", "numpy", "scipy"))
        return cls(machine, cells, bias, forecasts, plans, attacks, exact, gap)

    def tell(self) -> None:
        print(self.machine)
        if self.cells:
            print("\nCoverage, nominal .95. Short: coverage more than two Monte-Carlo errors below it.\n")
            print("\n".join(summary(self.cells)))
            print("\nCoverage and mean width w, system by system; * falls short")
            print("\n".join(grids(self.cells)))
        if self.bias:
            print("\nThe mean of M̂, its expectation by the theorem, and the truth\n")
            print("\n".join(biases(self.bias)))
        if self.forecasts:
            print("\nForecasts of the unverifiable share at 4 n from n rows, on the paper's data sets\n")
            print("\n".join(table(self.forecasts)))
        if self.plans:
            print("\nThe interval of `plan`, nominal .95, on systems with known truth")
            print("\n".join(plan_table(self.plans)))
        if self.attacks:
            print("\nAttacks, nominal .95 unless told. Short: coverage more than two Monte-Carlo errors below it.\n")
            print("\n".join((*attack_summary(self.attacks), *attack_table(self.attacks))))
        if self.exact:
            print("\nOne explanation, two labels, exactly: worst over 1 to 100 expected contradictions (where), mean")
            print("over few (5 to 20) and over many (20 to 100); or over shares of the rarer label (few: .1 to .25)\n")
            print("\n".join(exact_table(self.exact)))
        if self.engine_gap is not None:
            print(f"\nThe same log in DuckDB and in memory: ends of intervals differ by at most {self.engine_gap:.1e}")


def attack(quick: bool, chosen: list[str] | None) -> tuple[list[AttackLine], list[ExactLine], float | None]:
    """Attacks of these kinds, or all; the exact ones are a kind as well, and so is the comparison with engines."""
    kinds = KINDS if chosen is None else chosen
    lines = try_all([kind for kind in kinds if kind in ATTACKS], quick)
    gap = engine_gap(2 if quick else 12) if "engines" in kinds else None
    return lines, exact_lines(quick) if "exact" in kinds else [], gap


def arguments() -> Namespace:
    parser: ArgumentParser = options(__doc__)
    parser.add_argument("--plot", type=Path, metavar="FOLDER", help="also draw the figures of docs/statistics.md here")
    parser.add_argument(
        "--only", choices=("intervals", "forecasts", "plans", "attacks"), help="only this part of the study"
    )
    trials = sorted({study.trial.__name__ for study in STUDIES})
    parser.add_argument("--trial", action="append", choices=trials, help="only this trial of the intervals; repeatable")
    parser.add_argument("--attack", action="append", choices=KINDS, help="only attacks of this kind; repeatable")
    parser.add_argument("--kept", type=Path, metavar="PATH", action="append", help="tell what --json kept; repeatable")
    return parser.parse_args()


def main() -> None:
    chosen = arguments()
    part = "attacks" if chosen.attack else chosen.only
    asked = (chosen.quick, part, chosen.trial, chosen.attack)
    findings = Findings.read(chosen.kept) if chosen.kept else Findings.make(*asked)
    findings.tell()
    if chosen.plot:
        draw(findings.cells, findings.bias, findings.forecasts, chosen.plot)
    if chosen.json:
        chosen.json.write_text(json.dumps(asdict(findings), indent=1) + "\n")


main()
