"""Many trials of every interval, and what they add up to: coverage, width, bias, each with its Monte-Carlo error."""

import argparse
import json
import sys
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coverage_trials import Study, Trial

NOMINAL = 0.95
ROWS = (50, 200, 1_000, 5_000)
_EXACT = 1e-9  # what rounding may add to a truth of 0 or 1


@dataclass(frozen=True)
class Cell:
    """An interval on one system at one number of rows.

    Attributes
    ----------
    covered : float
        Share of intervals that hold the truth; `error` is its Monte-Carlo standard error.
    above, below : float
        Shares that lie wholly above the truth, and wholly below it.
    width : float
        Mean of high - low.
    """

    interval: str
    system: str
    n: int
    times: int
    covered: float
    error: float
    above: float
    below: float
    width: float

    @property
    def short(self) -> bool:
        """Whether coverage is below nominal by more than two Monte-Carlo errors."""
        return self.covered < NOMINAL - 2 * self.error


@dataclass(frozen=True)
class Bias:
    """The mean of M̂ over trials, beside E[M̂] by the theorem and beside the truth."""

    measure: str
    system: str
    n: int
    times: int
    mean: float
    error: float
    theorem: float
    truth: float

    @property
    def errors_off(self) -> float:
        """How far the mean is from the theorem, in Monte-Carlo errors; NaN where all trials gave the same M̂."""
        off = self.mean - self.theorem
        return off / self.error if self.error > 0 else 0.0 if abs(off) < _EXACT else float("nan")


def repeat(trial: Trial, name: str, system: Any, n: int, times: int) -> Iterator[Cell | Bias]:
    """The trial so many times; its chance depends on the trial, the system and n alone."""
    rng = np.random.default_rng([zlib.crc32(f"{trial.__name__} {name}".encode()), n])
    kept: dict[str, list[tuple[float, float, float, float]]] = {}
    for _ in range(times):
        for interval, (low, high, truth) in trial(system, n, rng).items():
            over, under = np.mean(low > truth + _EXACT), np.mean(high < truth - _EXACT)
            kept.setdefault(interval, []).append((over, under, np.mean(np.subtract(high, low)), np.mean(low)))
    for interval, answers in kept.items():
        above, below, width, low = np.array(answers, float).T
        if interval == "M̂":
            measure = "consistency" if trial.__name__ == "consistent" else "sufficiency"
            mean, error = low.mean(), low.std(ddof=1) / np.sqrt(times)
            yield Bias(measure, name, n, times, mean, error, system.expected(n), system.truth)
            continue
        error = (above + below).std(ddof=1) / np.sqrt(times)
        covered = 1 - above.mean() - below.mean()
        yield Cell(interval, name, n, times, covered, error, above.mean(), below.mean(), width.mean())


def study_all(studies: tuple[Study, ...], rows: tuple[int, ...], times: int | None) -> list[Cell | Bias]:
    """All cells of all studies; `times` replaces how often each trial is made."""
    return [
        cell
        for study in studies
        for name, system in study.systems.items()
        for n in rows
        if n <= study.most
        for cell in repeat(study.trial, name, system, n, times or study.times_at(n))
    ]


def by_interval(cells: list[Cell]) -> dict[str, list[Cell]]:
    """Cells by interval, in the order in which they were asked."""
    return {
        name: [cell for cell in cells if cell.interval == name] for name in dict.fromkeys(c.interval for c in cells)
    }


def summary(cells: list[Cell]) -> Iterator[str]:
    """A line an interval: how often it falls short, and where most."""
    yield f"{'interval':<42}{'cells':>6}{'short':>6}{'mean':>7}{'worst':>7}{'± MC':>6}  {'where it is worst'}"
    for name, chosen in by_interval(cells).items():
        worst = min(chosen, key=lambda cell: (cell.covered, cell.n))
        mean, short = np.mean([cell.covered for cell in chosen]), sum(cell.short for cell in chosen)
        place = f"{worst.system}, n = {worst.n:,} ({worst.above:.3f} above, {worst.below:.3f} below the truth)"
        place = place if worst.covered < 1 else "nowhere: it always held the truth"
        yield f"{name:<42}{len(chosen):>6}{short:>6}{mean:>7.3f}{worst.covered:>7.3f}{worst.error:>6.3f}  {place}"


def grids(cells: list[Cell]) -> Iterator[str]:
    """Coverage and mean width of every interval on every system; a * marks coverage that falls short."""
    for name, chosen in by_interval(cells).items():
        rows = sorted({cell.n for cell in chosen})
        times = {n: max(cell.times for cell in chosen if cell.n == n) for n in rows}
        yield f"\n{name} ({', '.join(f'{n:,}: {most:,} times' for n, most in times.items())})"
        yield f"  {'':<24}" + "".join(f"{'n = ' + format(n, ','):>18}" for n in rows)
        for system in dict.fromkeys(cell.system for cell in chosen):
            line = {cell.n: cell for cell in chosen if cell.system == system}
            shown = (f"{cell.covered:.3f}{'*' if cell.short else ' '} w {cell.width:.3f}" for cell in line.values())
            yield f"  {system:<24}" + "".join(f"{text:>18}" for text in shown)


def biases(cells: list[Bias]) -> Iterator[str]:
    """Mean M̂ beside the theorem and the truth."""
    head = f"{'mean M̂':>10}{'± MC':>8}{'theorem':>9}{'off by':>8}{'truth':>8}{'bias':>8}"  # the hat takes no room
    yield f"{'measure':<13}{'system':<24}{'n':>6}{head}"
    for cell in cells:
        numbers = f"{cell.mean:>9.4f}{cell.error:>8.4f}{cell.theorem:>9.4f}{cell.errors_off:>6.1f}SE{cell.truth:>8.4f}"
        yield f"{cell.measure:<13}{cell.system:<24}{cell.n:>6,}{numbers}{cell.mean - cell.truth:>8.4f}"
    off = np.abs([cell.errors_off for cell in cells])
    yield (
        f"{len(cells)} cells: {np.sum(off > 2)} more than 2 Monte-Carlo errors from the theorem (by chance: "
        f"{0.0455 * len(cells):.1f}), {np.sum(off > 3)} more than 3; most {np.nanmax(off):.1f}"
    )


def below_bar(cells: list[Cell], bar: float) -> list[str]:
    """The cells from 200 rows on that miss the bar by more than two Monte-Carlo errors."""
    below = [cell for cell in cells if cell.n >= 200 and cell.covered + 2 * cell.error < bar]
    return [f"{cell.interval} on {cell.system}, n = {cell.n:,}: {cell.covered:.3f}" for cell in below]


def conclude(chosen: argparse.Namespace, machine: str, cells: list[Cell], missed: list[str], bar: float) -> None:
    """Print every system, keep the cells if that is wanted, and stop with an error if the bar is missed."""
    print("\nCoverage and mean width w, system by system; * falls short")
    print("\n".join(grids(cells)))
    if chosen.json:
        chosen.json.write_text(json.dumps({"machine": machine, "cells": [asdict(c) for c in cells]}, indent=1) + "\n")
    print(f"\nThe bar of {bar} from 200 rows on: " + ("met" if not missed else "; ".join(missed)))
    if missed and not chosen.quick:
        sys.exit("Missed: " + "; ".join(missed))
