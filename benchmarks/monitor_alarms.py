"""Do a monitor's limits and alarms keep what they promise, however often one looks? Simulations with known truth.

    python benchmarks/monitor_alarms.py             # minutes; exits 1 where the bar is missed
    python benchmarks/monitor_alarms.py --quick     # seconds; too few trials to judge

Days of rows are drawn from systems with known consistency, and paired as `fs.Monitor` does. Tables: how often limits
miss the truth on any of 10,000 days; how often an alarm is raised although nothing changed; how many days pass until a
planted drop is known. The bar: at most .05 false alarms, up to two Monte-Carlo errors.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import default_rng
from scipy import stats

from faithscope.monitor.pairing import Rows, pair, sides
from faithscope.monitor.sequential import Draws, changes, log_evidence
from ratios import simulate


def paired(batches, trials, days, rng):
    """Openers, matched and agreeing, shape (3, trials, days), after all batches: the most that limits ever know."""
    sums, waiting = np.zeros((3, trials, days)), None
    for rows in batches:
        part = pair(rows, rows.take(slice(0)) if waiting is None else waiting, rng)
        waiting = part.waiting
        for each, total in zip(
            (rows.take(~rows.closing), part.openers, part.openers.take(part.agreeing)), sums, strict=True
        ):
            np.add.at(total, (each.group, each.day), 1)
    return sums


def counted(n, k):
    """Draws of which k of n are 1, by value."""
    return np.stack([n - k, k], axis=-1)


@dataclass(frozen=True, eq=False)
class Watched:
    """Kinds of rows that arrive day by day, in many trials at once.

    Parameters
    ----------
    p, q
        Chances of kinds, and of label 1 under each, shape (n_kinds,).
    rows
        Per day.
    """

    p: np.ndarray
    q: np.ndarray
    rows: int = 8

    @property
    def truth(self):
        """The consistency."""
        return self.p @ (self.q**2 + (1 - self.q) ** 2)

    def sums(self, days, trials, rng, change=None):
        """What is known after all days; a change is the day from which rows are of another system, and that system."""
        return paired(self.batches(days, trials, rng, *change or (days, self)), trials, days, rng)

    def batches(self, days, trials, rng, changed, later):
        """The rows of some days after the other."""
        first = 0
        while first < days:
            system, end = (self, changed) if first < changed else (later, days)
            size = min(max(1, 2_000_000 // (trials * self.rows)), end - first)
            yield system.arrivals(size, trials, rng, first)
            first += size

    def drawn(self, n, rng):
        """The kinds of rows, and their labels."""
        kind = rng.choice(len(self.p), n, p=self.p / self.p.sum())
        return kind, (rng.random(n) < self.q[kind]).astype(np.int64)

    def arrivals(self, days, trials, rng, first):
        """Rows of many days, one group per trial."""
        kind, label = self.drawn(days * trials * self.rows, rng)
        cell, closing = sides(np.ones(len(kind), np.int64), rng)
        high, place = kind[cell].astype(np.uint64), cell // self.rows
        return Rows(place // days, high, 0 * high, label[cell], first + place % days, closing)


def dropped(system, drop):
    """The same system with noisier labels: what is watched is less by `drop`."""
    low, high = 0.0, 0.5
    for _ in range(60):
        middle = (low + high) / 2
        noisy = replace(system, q=system.q * (1 - middle) + (1 - system.q) * middle)
        low, high = (middle, high) if noisy.truth > system.truth - drop else (low, middle)
    return noisy


def zipf(explanations):
    """A long tail."""
    weights = 1 / np.arange(1, explanations + 1)
    return weights / weights.sum()


ERROR, REFERENCE = 0.05, 30


SYSTEMS = {
    "one explanation, m = .82": Watched(np.ones(1), np.array([0.9])),
    "20 explanations, m = .95": Watched(zipf(20), np.full(20, 0.974)),
    "2,000, long tail, m = .90": Watched(zipf(2000), np.full(2000, 0.947)),
    "20 explanations, m = .999": Watched(zipf(20), np.full(20, 0.9995)),
    "20 explanations, m = 1": Watched(zipf(20), np.ones(20)),
    "20 explanations, m = .50": Watched(zipf(20), np.full(20, 0.5)),
}


def missed(sums, truth):
    """The share of trials in which limits for all looks, and those for a single look, miss the truth on any day."""
    n, matched, k = np.cumsum(sums, axis=2)
    most = k + n - matched
    outside = np.zeros(n.shape, bool)
    for draws, mean, at in ((counted(n, k), truth, k > n * truth), (counted(n, n - most), 1 - truth, most < n * truth)):
        outside[at] |= log_evidence(draws[at], mean) >= np.log(2 / ERROR)
    above, below = stats.binom.sf(k - 1, n, truth), stats.binom.cdf(most, n, truth)
    once = np.minimum(above, below) < ERROR / 2
    return outside.any(axis=1).mean(), once.any(axis=1).mean()


def all_changes(sums):
    """The alarms of each trial."""
    days = np.arange(sums.shape[2])
    return [changes(Draws.of_pairs(days, *trial), REFERENCE, ERROR) for trial in sums.swapaxes(0, 1)]


def alarmed(sums):
    """The share of trials with an alarm on any day: of the sequential test, and of a z-test repeated every day."""
    raised = [len(alarms) > 0 for alarms in all_changes(sums)]
    _, n, k = np.cumsum(sums, axis=2)
    n0, k0 = n[:, [REFERENCE - 1]], k[:, [REFERENCE - 1]]
    seen, k1 = n[:, REFERENCE:] - n0, k[:, REFERENCE:] - k0
    n1 = np.maximum(seen, 1)
    pooled = (k0 + k1) / (n0 + n1)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n0 + 1 / n1))
    z = np.divide(np.abs(k1 / n1 - k0 / n0), error, out=np.zeros_like(error), where=(error > 0) & (seen > 0))
    return np.mean(raised), (z > stats.norm.ppf(1 - ERROR / 2)).any(axis=1).mean()


def delays(system, drop, trials, rng, wait=365):
    """Days from a drop, which comes 30 days after the reference, to the alarm; inf if it is not known after a year."""
    before = 2 * REFERENCE
    sums = system.sums(before + wait, trials, rng, change=(before, dropped(system, drop)))
    drops = ([alarm.day for alarm in alarms if alarm.direction == "drop"] for alarms in all_changes(sums))
    return np.array([days[0] - before + 1.0 if days and days[0] >= before else np.inf for days in drops])


def report(quick):
    """The tables, line by line."""
    looks, trials = (1_000, 40) if quick else (10_000, 400)
    rng = default_rng(0)
    yield f"Missed, or false alarm, on any of {looks:,} days; {trials} trials, nominal {ERROR}"
    yield f"{'system':36s} limits  single look   change  repeated z-test"
    for name, system in [*SYSTEMS.items(), ("draws alone, m = .90", None)]:
        if system is None:  # five per day
            agreeing, truth = rng.binomial(5, 0.9, (trials, looks)).astype(float), 0.9
            sums = np.stack([np.full_like(agreeing, 5), np.full_like(agreeing, 5), agreeing])
        else:
            sums = np.concatenate([system.sums(looks, 40, rng) for _ in range(trials // 40)], axis=1)
            truth = system.truth
        (limits, once), (change, repeated) = missed(sums, truth), alarmed(sums)
        yield f"{name:36s} {limits:8.3f} {once:12.3f} {change:8.3f} {repeated:16.3f}"
    yield ""
    told = f"{10 if quick else 60} trials"
    yield f"Days until a drop is known, from .95: median, nine in ten, share ever known; {told}"
    yield "rows per day   drop   median   nine in ten   known"
    for rows in (100, 1_000):
        for drop in (0.02, 0.05, 0.1, 0.2):
            waits, wait = (10, 120) if quick else (60, 365)
            waited = delays(replace(SYSTEMS["20 explanations, m = .95"], rows=rows), drop, waits, rng, wait)
            half, nine = np.quantile(waited, [0.5, 0.9], method="higher")
            yield f"{rows:12,} {drop:6.2f} {half:8.0f} {nine:13.0f} {np.isfinite(waited).mean():7.2f}"


def worse(lines, columns, trials):
    """Lines with a number, in these columns, that is above the bar of so many trials."""
    bar = ERROR + 2 * np.sqrt(ERROR * (1 - ERROR) / trials)
    return [line for line in lines if max(float(line.split()[column]) for column in columns) > bar]


def beyond(lines):
    """Lines whose limits or alarms are wrong more often than the bar allows."""
    return worse(lines[2 : lines.index("")], (-4, -2), 400)


if __name__ == "__main__":
    simulate(__doc__, report, beyond, "monitor_alarms")
