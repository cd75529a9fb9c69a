"""Do the intervals hold what they promise? Samples of systems with known truth; `--gate` exits 1 where a bar is missed.

    python benchmarks/coverage --only intervals --plot docs/images   # kept in results/coverage.txt, coverage_many.txt
    python benchmarks/coverage --only local --only sampled           # lines of the intervals by name
    python benchmarks/coverage --only attacks                        # coverage_attacks.txt; a kind: --only clusters
    python benchmarks/coverage --only exact                          # the end of the same
    python benchmarks/coverage --only plans                          # coverage_plans.txt
    python benchmarks/coverage --only forecasts --plot docs/images   # coverage_forecasts.txt; needs FAITHSCOPE_DATA
    python benchmarks/coverage --only necessity --gate               # coverage_necessity.txt; and so do the others:
        # numbers, judged, simulatability, draws (populations), encoding, reasons, repeatability, agreement; encoders
    python benchmarks/coverage --quick --gate                        # some systems of each, in two minutes
    python benchmarks/coverage --json kept.json                      # also keep every number
    python benchmarks/coverage --kept kept.json --plot docs/images   # tell and draw without running again

Every cell has a seed of its own, made from its name, so that parts can be run alone and give the same numbers. An
interval falls short (*) where its coverage is more than two Monte-Carlo errors below what is nominal, and it misses its
bar, which most measures have at .93, where it is more than two binomial errors below it.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # at the end, so that this folder hides no package

import attacks
import exact
import figures
import forecasts
import intervals
import plans
import studies
from harness import Cell, Line, summary, table

from ratios import describe_machine


def chosen_lines(only: set[str]) -> Iterator[Line]:
    """The lines of these studies, or with these names, or all."""
    lines = [line for part in (intervals, attacks, plans, studies) for line in part.lines()]
    words = [set(line.name.split("/")) for line in lines]
    if unknown := only - {"forecasts", "exact"}.union(*words):
        sys.exit(f"No study or line is named {', '.join(sorted(unknown))}.")
    if not only or "forecasts" in only:
        yield from forecasts.lines()
    yield from (line for line, known in zip(lines, words, strict=True) if not only or known & only)


def main(words: list[str] | None = None) -> int:
    """Run, tell, keep and draw what is asked for; 1 if the gate is closed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="only this study, or line of one; repeatable")
    parser.add_argument("--quick", action="store_true", help="some systems, and fewer samples")
    parser.add_argument("--gate", action="store_true", help="exit with 1 where a bar is missed")
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--kept", type=Path, action="append", help="tell what --json kept; repeatable")
    parser.add_argument("--plot", type=Path, help="also draw the figures of docs/statistics.md into this folder")
    chosen = parser.parse_args(words)
    only = set(chosen.only)
    if chosen.kept:
        cells = [Cell(**cell) for path in chosen.kept for cell in json.loads(path.read_text())["cells"]]
    else:
        cells = [cell for line in chosen_lines(only) for cell in line.cells(chosen.quick)]
    machine = describe_machine(("faithscope", "numpy", "scipy"))
    print(machine, "", *summary(cells), *table(cells), "", *forecasts.by_part(cells), sep="\n")
    if not chosen.kept and (not only or {"attacks", "exact"} & only):
        print("", *exact.table(chosen.quick), sep="\n")
    if chosen.json:
        chosen.json.write_text(json.dumps({"machine": machine, "cells": list(map(asdict, cells))}, indent=1) + "\n")
    if chosen.plot:
        figures.draw(cells, chosen.plot)
    missed = [f"{cell.interval} on {cell.system}, n = {cell.n:,}: {cell.held:.3f}" for cell in cells if cell.missed]
    print("\nThe bar: " + ("; ".join(missed) or "met"))
    return int(chosen.gate and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
