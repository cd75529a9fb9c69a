"""Does a monitor of customers who come back keep what it promises? Simulations with known truth.

    python benchmarks/monitor_returning.py             # minutes; exits 1 where the bar is missed
    python benchmarks/monitor_returning.py --quick     # seconds; too few trials to judge

Customers keep their explanation and label when they come back. The table: how often, on any of 1,000 days, limits miss
the truth or an alarm is raised although nothing changes, if all rows count and if each customer counts once, as with
`clusters=`. The truth is the consistency of customers' first rows. The bar, where customers are new when they come
first: at most .05 each, up to two Monte-Carlo errors. The last line is a state that begins in the middle of a log: what
it sees first are customers who came before, among them more of those who come back, and so alarms against a reference
are not promised.
"""

from functools import partial

import numpy as np
from numpy.random import default_rng

from faithscope.monitor.pairing import Rows, sides
from monitor_alarms import ERROR, alarmed, missed, paired, worse, zipf
from ratios import simulate

MIDDLE = "declined return, begun in the middle"


def pool(size, replaced, trials, days, rng, rows=20, fresh=0):
    """Trial, day and customer of rows of a pool, of which some are replaced every day; `fresh` rows are of new ones."""
    held, known = np.tile(np.arange(size), (trials, 1)), size
    trial, parts = np.arange(trials)[:, None], []
    for day in range(days):
        came = held[trial, rng.integers(0, size, (trials, rows - fresh))]
        new = known + np.tile(np.arange(fresh + replaced), (trials, 1))
        parts.append(np.stack(np.broadcast_arrays(trial, day, np.hstack([came, new[:, :fresh]]))).reshape(3, -1))
        held[trial, rng.integers(0, size, (trials, replaced))] = new[:, fresh:]
        known += fresh + replaced
    return np.concatenate(parts, axis=1)


def returning(labels, trials, days, rng, again=0.8, at_once=1, rows=10, before=0):
    """So many new customers a day; those with label 0 come back every day until a coin says no, or `at_once`."""
    many = (days + before) * rows
    first = np.tile(np.repeat(np.arange(days + before), rows), (trials, 1))
    times = np.where(labels[:, :many] == 0, rng.geometric(1 - again, (trials, many)) if again else at_once, 1)
    place = np.repeat(np.arange(trials * many), times.ravel())
    turn = np.arange(len(place)) - np.repeat(np.cumsum(times.ravel()) - times.ravel(), times.ravel())
    trial, customer = np.divmod(place, many)
    day = first.ravel()[place] + (turn if again else 0) - before
    return np.stack([trial, day, customer])[:, (day >= 0) & (day < days)]


SYSTEMS = {  # from labels of customers, numbers of trials and days, and chance
    "pool of 200, 5 a day replaced": lambda _, *how: pool(200, 5, *how),
    "pool of 1,000": lambda _, *how: pool(1000, 0, *how),
    "pool of 200, half of rows new": lambda _, *how: pool(200, 5, *how, fresh=10),
    "declined return": returning,
    "declined ask five times a day": partial(returning, again=0, at_once=5),
    MIDDLE: partial(returning, before=50),
}


def arrived(name, trials, days, rng):
    """Trial, day, customer, explanation and label of rows; and the consistency of customers."""
    q = np.full(20, 0.5 if name.startswith("pool") else 0.75)
    explanations = rng.choice(20, (trials, 40_000), p=zipf(20))
    labels = (rng.random(explanations.shape) < q[explanations]).astype(np.int64)
    trial, day, customer = SYSTEMS[name](labels, trials, days, rng)
    rows = trial, day, customer, explanations[trial, customer], labels[trial, customer]
    return rows, zipf(20) @ (q**2 + (1 - q) ** 2)


def once(trial, day, customer, rng):
    """The places of one row of each customer, of its first day."""
    order = np.lexsort((rng.random(len(day)), day, customer, trial))
    return order[np.unique(trial[order] * (customer.max() + 1) + customer[order], return_index=True)[1]]


def sums(trial, day, explanation, label, trials, days, rng):
    """Openers, matched and agreeing by trial and day, of rows in order of days, 50 days at a time."""

    def batch(first):
        here = np.flatnonzero((day >= first) & (day < first + 50))
        closing, high = sides(np.ones(len(here), np.int64), rng)[1], explanation[here].astype(np.uint64)
        return Rows(trial[here], high, high, label[here], day[here], closing)

    return paired(map(batch, range(0, days, 50)), trials, days, rng)


def report(quick):
    """The table, line by line."""
    days, trials = (300, 20) if quick else (1_000, 200)
    rng = default_rng(0)
    yield f"Missed, or false alarm, on any of {days:,} days; {trials} trials, nominal {ERROR}"
    yield f"{'':38s} all rows count   each customer once"
    yield f"{'system':38s} limits  alarm   customers  limits  alarm"
    for name in SYSTEMS:
        (trial, day, customer, explanation, label), truth = arrived(name, trials, days, rng)
        all_rows = sums(trial, day, explanation, label, trials, days, rng)
        kept = once(trial, day, customer, rng)
        each = sums(trial[kept], day[kept], explanation[kept], label[kept], trials, days, rng)
        told = [missed(all_rows, truth)[0], alarmed(all_rows)[0]]
        told += [len(kept) / trials, missed(each, truth)[0], alarmed(each)[0]]
        yield "{:38s} {:6.3f} {:6.3f} {:11,.0f} {:7.3f} {:6.3f}".format(name, *told)


def beyond(lines):
    """Lines in which limits or alarms of customers who count once are wrong more often than the bar allows."""
    return worse([line for line in lines[3:] if line and not line.startswith(MIDDLE)], (-2, -1), 200)


if __name__ == "__main__":
    simulate(__doc__, report, beyond, "monitor_returning")
