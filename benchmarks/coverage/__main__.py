"""Do the intervals hold what they promise? Samples of systems with known truth; `--gate` exits 1 where a bar is missed.

    python benchmarks/coverage --only intervals                      # kept in results/coverage.txt, coverage_many.txt
    python benchmarks/coverage --only local --only sampled           # lines of the intervals by name
    python benchmarks/coverage --only attacks                        # coverage_attacks.txt; a kind: --only clusters
    python benchmarks/coverage --only exact                          # the end of the same
    python benchmarks/coverage --only plans                          # coverage_plans.txt
    python benchmarks/coverage --only forecasts                      # coverage_forecasts.txt; needs FAITHSCOPE_DATA
    python benchmarks/coverage --only necessity --gate               # coverage_necessity.txt; and so do the others:
        # beside, numbers, judged, simulatability, draws (populations), encoding, reasons, repeatability, agreement,
        # direction, naming, encoders
    python benchmarks/coverage --only shortcuts --gate               # coverage_shortcuts.txt
    python benchmarks/coverage --quick --gate                        # some systems of each, in two minutes

Every cell has a seed of its own, made from its name, so that parts can be run alone, or by several ``--workers`` at
once, and give the same numbers. An interval falls short (*) where its coverage is more than two Monte-Carlo errors
below what is nominal, and it misses its bar, which most measures have at .93, where it is more than two binomial errors
below it.
"""

import sys
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # at the end, so that this folder hides no package

import attacks
import exact
import forecasts
import intervals
import plans
import shortcuts
import studies
from harness import summary, table

from ratios import describe_machine, options

_lines = []  # what is asked for; workers know it from before they were forked, since functions cannot be sent to them


def chosen_lines(only):
    """The lines of these studies, or with these names, or all."""
    lines = [line for part in (intervals, attacks, plans, shortcuts, studies) for line in part.lines()]
    words = {word for line in lines for word in line.name.split("/")}
    if unknown := only - words - {"forecasts", "exact"}:
        sys.exit(f"No study or line is named {', '.join(sorted(unknown))}.")
    if not only or "forecasts" in only:
        yield from forecasts.lines()
    yield from (line for line in lines if not only or only & set(line.name.split("/")))


def _cells(asked):
    place, *how = asked
    return list(_lines[place].repeat(*how))


def main(words=None):
    """Run, tell and keep what is asked for; 1 if the gate is closed."""
    chosen = options(__doc__, words, only=[], quick=False, gate=False, workers=1)
    only, quick = set(chosen.only), chosen.quick
    _lines[:] = chosen_lines(only)
    asked = [(place, *each) for place, line in enumerate(_lines) for each in line.asked(quick)]
    if chosen.workers > 1:
        with get_context("fork").Pool(chosen.workers) as pool:
            cells = list(chain.from_iterable(pool.imap(_cells, asked)))
    else:
        cells = list(chain.from_iterable(map(_cells, asked)))
    print(
        describe_machine(("faithscope", "numpy", "scipy")),
        "",
        *summary(cells),
        *table(cells),
        "",
        *forecasts.by_part(cells),
        sep="\n",
    )
    if not only or {"attacks", "exact"} & only:
        print("", *exact.table(quick), sep="\n")
    missed = [f"{cell.interval} on {cell.system}, n = {cell.n:,}: {cell.held:.3f}" for cell in cells if cell.missed]
    print("\nThe bar: " + ("; ".join(missed) or "met"))
    return int(chosen.gate and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
