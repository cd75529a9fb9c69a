"""Draw from a system with known truth, ask for an interval, count how often it holds: the one loop of all studies.

A `Line` of a study names what is asked, of which systems, with how many rows and how often. What is asked is a function
``(system, n, chance)`` that draws n rows and answers by name: ``(low, high, truth)``, arrays where a sample has many
intervals, such as one per row, and perhaps a fourth number, by how much rounding may miss; or a plain number, of which
the mean is told. That something was said, or not said, is an answer too: `said`.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, islice, repeat
from typing import Any

import numpy as np

NOMINAL = 0.95
ROUNDING = 1e-9
Answers = dict[str, Any]
Ask = Callable[[Any, int, Any], Answers]
Seeds = Callable[[str, int], Iterator[Any]]


@dataclass(frozen=True)
class Cell:
    """An interval on one system at one number of rows.

    Attributes
    ----------
    held, above, below : float
        Shares of intervals that hold the truth, lie wholly above it, and wholly below it.
    error : float
        Monte-Carlo standard error of `held`.
    truth : float
        Its mean, where samples differ in it; NaN for a number that has none, whose mean is `low`.
    low, low_error : float
        Mean of the lower ends, and its standard error.
    width : float
        Mean of high - low.
    bar : float or None
        What `held` must reach, up to two binomial errors; None where nothing is promised.
    values : list of float or None
        Of a number that has no truth, what each sample gave.
    """

    study: str
    line: str
    interval: str
    system: str
    n: int
    times: int
    held: float
    error: float
    above: float
    below: float
    truth: float
    low: float
    low_error: float
    width: float
    nominal: float = NOMINAL
    bar: float | None = None
    values: list[float] | None = None

    @property
    def short(self) -> bool:
        """Whether coverage is below nominal by more than two Monte-Carlo errors."""
        return self.held < self.nominal - 2 * self.error

    @property
    def missed(self) -> bool:
        """Whether coverage is below the bar by more than two binomial errors; fewer than 20 samples are not judged."""
        if self.bar is None or self.times < 20:
            return False
        return self.held < self.bar - 2 * np.sqrt(self.bar * (1 - self.bar) / self.times)

    def __str__(self) -> str:
        place = f"  {self.system:<46}{self.n:>7,}{self.times:>7,}"
        if np.isnan(self.truth):
            return f"{place}  mean {self.low:.4f} ± {self.low_error:.4f}"
        sides = f"{self.above:>7.3f}{self.below:>7.3f}{self.width:>8.4f}{self.truth:>8.4f}{self.low:>8.4f}"
        end = f"  below the bar of {self.bar}" if self.missed else ""
        return (
            f"{place}{self.held:>8.3f}{'*' if self.short else ' '}{self.error:>6.3f}{sides} ± {self.low_error:.4f}{end}"
        )


def no_bar(system: str, interval: str, n: int) -> float | None:
    """Nothing is promised."""


def from_200(system: str, interval: str, n: int) -> float | None:
    """The bar of most studies: .93 from 200 rows on."""
    return 0.93 if n >= 200 else None


def always(system: str, interval: str, n: int) -> float | None:
    """The same at any number of rows."""
    return 0.93


@dataclass(frozen=True)
class Line:
    """What is asked, of which systems, with how many rows and how often (by rows, where that differs).

    `quick` names the systems that are judged by ``--quick --gate``, and with how many rows; `seeds` gives the chance of
    each sample by the system's name and the number of rows, so that every cell can be run alone.
    """

    study: str
    name: str
    ask: Ask
    systems: Mapping[str, Any]
    rows: tuple[int, ...]
    times: int | Mapping[int, int]
    seeds: Seeds
    bar: Callable[[str, str, int], float | None] = no_bar
    quick: tuple[str, ...] = ()
    quick_rows: int = 200
    nominal: float = NOMINAL

    def cells(self, quick: bool = False) -> Iterator[Cell]:
        """All cells; quickly: 100 samples of the systems that are named for it, else two of a small one."""
        if not quick:
            asked = [(name, n, self.times_at(n)) for name in self.systems for n in self.rows]
        elif self.quick:
            asked = [(name, self.quick_rows, 100) for name in self.quick]
        else:
            asked = [(next(iter(self.systems)), n, 2) for n in self.rows[:1] if n <= 1_000]
        for name, n, times in asked:
            yield from self.repeat(name, n, times)

    def times_at(self, n: int) -> int:
        """How often n rows are drawn."""
        return self.times if isinstance(self.times, int) else self.times[n]

    def repeat(self, system: str, n: int, times: int) -> Iterator[Cell]:
        """The cells of one system: so many samples of n rows."""
        kept: dict[str, list[tuple[float, ...]]] = {}
        for chance in islice(self.seeds(system, n), times):
            for interval, answer in self.ask(self.systems[system], n, chance).items():
                kept.setdefault(interval, []).append(_judged(answer))
        for interval, answers in kept.items():
            above, below, truth, low, width = np.array(answers, float).T
            root = np.sqrt(len(answers))
            errors = [each.std(ddof=1) / root if root > 1 else 0.0 for each in (above + below, low)]
            a, b, t, end, w = (float(each.mean()) for each in (above, below, truth, low, width))
            shares = (1 - a - b, float(errors[0]), a, b, t, end, float(errors[1]), w)
            place = (self.study, self.name, interval, system, n, len(answers))
            values = low.tolist() if np.isnan(t) else None
            yield Cell(*place, *shares, self.nominal, self.bar(system, interval, n), values)


def _judged(answer: Any) -> tuple[float, ...]:
    """Whether the interval is above the truth, and below; the truth, the lower end, the width."""
    low, high, truth, slack = (*answer, ROUNDING)[:4] if isinstance(answer, tuple) else (answer, answer, np.nan, 0.0)
    above, below = np.mean(np.asarray(low) > truth + slack), np.mean(np.asarray(high) < truth - slack)
    return (
        float(above),
        float(below),
        float(np.mean(truth)),
        float(np.mean(low)),
        float(np.mean(np.subtract(high, low))),
    )


def said(what: bool) -> tuple[float, float, float]:
    """An answer that holds if something was said."""
    return 1.0 - what, 1.0, 0.0


def ends(result: Any, truth: Any) -> tuple[Any, Any, Any]:
    """The answer of a result with limits."""
    return result.low, result.high, truth


def named(prefix: str) -> Seeds:
    """One stream per system and number of rows, by their names."""
    return lambda system, n: repeat(np.random.default_rng([zlib.crc32(f"{prefix} {system}".encode()), n]))


def spelled(*parts: int) -> Seeds:
    """One stream per system and number of rows, by the letters of its name."""
    return lambda system, n: repeat(np.random.default_rng([n, *parts, *map(ord, system)]))


def sample_by_sample(system: str, n: int) -> Iterator[np.random.Generator]:
    """A stream per sample."""
    return (np.random.default_rng([sample, n]) for sample in count())


def numbered(system: str, n: int) -> Iterator[int]:
    """0, 1, 2, …: for systems that make a stream of a seed themselves."""
    return count()


def summary(cells: Iterable[Cell]) -> Iterator[str]:
    """A line per interval: how often it falls short, and where most."""
    yield f"{'interval':<90}{'cells':>6}{'short':>6}{'mean':>7}{'worst':>7}{'± MC':>6}  where it is worst"
    for (line, interval), chosen in by_interval(cell for cell in cells if not np.isnan(cell.truth)).items():
        worst = min(chosen, key=lambda cell: (cell.held, cell.n))
        mean, short = np.mean([cell.held for cell in chosen]), sum(cell.short for cell in chosen)
        place = f"{worst.system}, n = {worst.n:,} ({worst.above:.3f} above, {worst.below:.3f} below the truth)"
        place = place if worst.held < 1 else "nowhere: it always held the truth"
        name = f"{line}: {interval}"
        yield f"{name:<90}{len(chosen):>6}{short:>6}{mean:>7.3f}{worst.held:>7.3f}{worst.error:>6.3f}  {place}"


def table(cells: Iterable[Cell]) -> Iterator[str]:
    """Every cell; a * marks coverage that falls short."""
    for (line, interval), chosen in by_interval(cells).items():
        head = f"{'n':>7}{'times':>7}{'held':>8}{'± MC':>7}{'above':>7}{'below':>7}{'width':>8}{'truth':>8}{'low':>8}"
        yield f"\n{line}: {interval}\n  {'':<46}{head}"
        yield from map(str, chosen)


def by_interval(cells: Iterable[Cell]) -> dict[tuple[str, str], list[Cell]]:
    """Cells by line and interval, in the order in which they were asked."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.line, cell.interval), []).append(cell)
    return groups


def verdict(cells: Iterable[Cell]) -> list[str]:
    """The cells that miss their bar."""
    return [f"{cell.interval} on {cell.system}, n = {cell.n:,}: {cell.held:.3f}" for cell in cells if cell.missed]
