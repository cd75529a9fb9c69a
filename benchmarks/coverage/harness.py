"""Draw from a system with known truth, ask for an interval, count how often it holds: the one loop of all studies.

A `Line` of a study names what is asked, of which systems, with how many rows and how often. What is asked is a function
``(system, n, chance)`` that draws n rows and answers by name: ``(low, high, truth)``, arrays where a sample has many
intervals, such as one per row, and perhaps a fourth number, by how much rounding may miss; or a plain number, of which
the mean is told. That something was said, or not said, is an answer too: `said`.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng

import faithscope as fs

NOMINAL = 0.95
ROUNDING = 1e-9


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
    values: list | None = None

    @property
    def short(self):
        """Whether coverage is below nominal by more than two Monte-Carlo errors."""
        return self.held < self.nominal - 2 * self.error

    @property
    def missed(self):
        """Whether coverage is below the bar by more than two binomial errors; fewer than 20 samples are not judged."""
        if self.bar is None or self.times < 20:
            return False
        return self.held < self.bar - 2 * np.sqrt(self.bar * (1 - self.bar) / self.times)

    def __str__(self):
        place = f"  {self.system:<46}{self.n:>7,}{self.times:>7,}"
        if np.isnan(self.truth):
            return f"{place}  mean {self.low:.4f} ± {self.low_error:.4f}"
        mark, end = "*" if self.short else " ", f"  below the bar of {self.bar}" if self.missed else ""
        sides = f"{self.above:>7.3f}{self.below:>7.3f}{self.width:>8.4f}{self.truth:>8.4f}{self.low:>8.4f}"
        return f"{place}{self.held:>8.3f}{mark}{self.error:>6.3f}{sides} ± {self.low_error:.4f}{end}"


def from_200(system, interval, n):
    """The bar of most studies: .93 from 200 rows on."""
    return 0.93 if n >= 200 else None


def always(*_):
    """The bar of studies that must reach it with any number of rows."""
    return 0.93


def none(*_):
    """No bar."""


@dataclass(frozen=True)
class Line:
    """What is asked, of which systems, with how many rows and how often (by rows, where that differs).

    Its name is a path: the study, and what it asks there. Chance depends on it, the system's name and the number of
    rows, so that every cell can be run alone. `bar` is by system, interval and number of rows; `quick` names the
    systems that are judged by ``--quick --gate``, and with how many rows.
    """

    name: str
    ask: Callable
    systems: Mapping
    times: int | Mapping
    quick: tuple = ()
    bar: Callable = from_200
    rows: tuple = (50, 200, 1_000)
    quick_rows: int = 200
    nominal: float = NOMINAL

    def asked(self, quick=False):
        """Its systems, with rows and times; quickly: 100 samples of those named for it, else two of a small one."""
        often = self.times if isinstance(self.times, Mapping) else dict.fromkeys(self.rows, self.times)
        asked = [(name, *each) for name in self.systems for each in often.items()]
        if quick:
            asked = [(name, self.quick_rows, 100) for name in self.quick]
            asked = asked or [(next(iter(self.systems)), n, 2) for n in list(often)[:1] if n <= 1_000]
        return asked

    def chance(self, system, n):
        """The chance of all samples of a cell."""
        return default_rng([zlib.crc32(f"{self.name} {system}".encode()), n])

    def repeat(self, system, n, times):
        """The cells of one system: so many samples of n rows."""
        kept, chance = {}, self.chance(system, n)
        for _ in range(times):
            for interval, answer in self.ask(self.systems[system], n, chance).items():
                kept.setdefault(interval, []).append(_judged(answer))
        for interval, judged in kept.items():
            answers = np.array(judged)
            above, below, truth, low, width = answers.mean(axis=0).tolist()
            spread = np.std([answers[:, :2].sum(axis=1), answers[:, 3]], axis=1, ddof=int(len(answers) > 1))
            error, low_error = (spread / np.sqrt(len(answers))).tolist()
            shares = (1 - above - below, error, above, below, truth, low, low_error, width)
            values = answers[:, 3].tolist() if np.isnan(truth) else None
            place = (self.name, interval, system, n, len(answers))
            yield Cell(*place, *shares, self.nominal, self.bar(system, interval, n), values)


def _judged(answer):
    """Whether the interval is above the truth, and below; the truth, the lower end, the width."""
    low, high, truth, slack = (*answer, ROUNDING)[:4] if isinstance(answer, tuple) else (answer, answer, np.nan, 0.0)
    low, high = np.asarray(low), np.asarray(high)
    return [np.mean(each) for each in (low > truth + slack, high < truth - slack, truth, low, high - low)]


def said(what):
    """An answer that holds if something was said."""
    return 1.0 - what, 1.0, 0.0


def ends(result, truth):
    """The answer of a result with limits."""
    return result.low, result.high, truth


def columns_of(table, name):
    """The ends of intervals that a table has in two columns."""
    return table[f"{name}_low"].to_numpy(), table[f"{name}_high"].to_numpy()


def in_bins(lower, upper, features):
    """One rule per row: every feature within its bin, ``lower < x <= upper``; an infinite end is no bound."""
    rows = []
    for bin_ends in zip(np.asarray(lower, float).tolist(), np.asarray(upper, float).tolist(), strict=True):
        bounds = zip(features, *bin_ends, strict=True)
        rows.append([(name, *end) for name, low, high in bounds for end in ((">", low), ("<=", high))])
    return fs.Rules.from_conditions([[bound for bound in row if np.isfinite(bound[2])] for row in rows], features)


def summary(cells):
    """A line per interval: how often it falls short, and where most."""
    yield f"{'interval':<90}{'cells':>6}{'short':>6}{'mean':>7}{'worst':>7}{'± MC':>6}  where it is worst"
    for (line, interval), chosen in by_interval(cell for cell in cells if not np.isnan(cell.truth)).items():
        worst = min(chosen, key=lambda cell: (cell.held, cell.n))
        mean, short = np.mean([cell.held for cell in chosen]), sum(cell.short for cell in chosen)
        place = f"{worst.system}, n = {worst.n:,} ({worst.above:.3f} above, {worst.below:.3f} below the truth)"
        place = place if worst.held < 1 else "nowhere: it always held the truth"
        name = f"{line}: {interval}"
        yield f"{name:<90}{len(chosen):>6}{short:>6}{mean:>7.3f}{worst.held:>7.3f}{worst.error:>6.3f}  {place}"


def table(cells):
    """Every cell; a * marks coverage that falls short."""
    for (line, interval), chosen in by_interval(cells).items():
        head = f"{'n':>7}{'times':>7}{'held':>8}{'± MC':>7}{'above':>7}{'below':>7}{'width':>8}{'truth':>8}{'low':>8}"
        yield f"\n{line}: {interval}\n  {'':<46}{head}"
        yield from map(str, chosen)


def by_interval(cells):
    """Cells by line and interval, in the order in which they were asked."""
    groups = {}
    for cell in cells:
        groups.setdefault((cell.line, cell.interval), []).append(cell)
    return groups
