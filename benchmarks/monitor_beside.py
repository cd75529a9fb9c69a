"""Rows of a day beside those of the reference: do limits and alarms hold, and how soon is a fault in a group known?

    python benchmarks/monitor_beside.py             # minutes; exits 1 where the bar is missed
    python benchmarks/monitor_beside.py --quick     # seconds; too few trials to judge

The first table has systems with known truth in which nothing changes: how often, on any of 500 days after a reference
of 30 days, limits of the agreement with the reference miss the truth (that of a further row, given the closers), and
how often there is ever an alarm. The second has the log of `planted_slices.py`, whose reasons are random in one of five
regions since March: 3,000 decisions of half a year. How often the fault is known by the end of June, and how
many days it takes in the median of all draws; by days and groups among themselves, as without a settled reference, and
with `Monitor(reference=59)`; and how often another group, or all rows of a log without a fault, are alarmed. The bar:
at most .05 wrong limits and false alarms, up to two Monte-Carlo errors.
"""

import numpy as np
from numpy.random import default_rng

import faithscope as fs
from faithscope.monitor.moments import to_date
from faithscope.monitor.sequential import PARTS, Draws, changes, log_evidence
from monitor_alarms import ERROR, worse, zipf
from planted_slices import FAULTS, decisions, shuffled
from ratios import simulate

REFERENCE, OPENERS = 30, 0.75
SYSTEMS = {  # chances of explanations, chances of label 1, rows of a day
    "one explanation, q = .9": (np.ones(1), np.array([0.9]), 8),
    "20 explanations, q = .97": (zipf(20), np.where(np.arange(20) % 2, 0.97, 0.03), 8),
    "20 explanations, coins": (zipf(20), np.full(20, 0.5), 8),
    "500 explanations, long tail": (zipf(500), np.where(np.arange(500) % 3, 0.95, 0.1), 8),
    "72 explanations, 2 rows a day": (zipf(72), np.where(np.arange(72) % 4, 0.07, 0.85), 2),
}


def trial(p, q, rows, days, rng):
    """Draws of the reference and of each later day by value, and the mean of a further one given the closers."""

    def arrived(n):
        explanation = rng.choice(len(p), n, p=p)
        return explanation, (rng.random(n) < q[explanation]).astype(np.int64)

    given, label = arrived(REFERENCE * rows)
    opens = rng.random(len(given)) < OPENERS
    closers = np.zeros((len(p), 2))
    np.add.at(closers, (given[~opens], label[~opens]), 1)
    total = closers.sum(axis=1)
    part = np.floor(PARTS * closers / np.maximum(total, 1)[:, None] + 0.5).astype(np.int64)

    def counted(explanation, label, day, many):
        table = np.zeros((many, PARTS + 1))
        seen = total[explanation] > 0
        np.add.at(table, (day[seen], part[explanation, label][seen]), 1)
        return table

    before = counted(given[opens], label[opens], np.zeros(opens.sum(), np.int64), 1)[0]
    after = counted(*arrived(days * rows), np.repeat(np.arange(days), rows), days)
    seen = total > 0
    means = (q * part[:, 1] + (1 - q) * part[:, 0]) / PARTS
    return before, after, float(p[seen] @ means[seen] / p[seen].sum())


def wrong(name, trials, days, rng):
    """The shares of trials in which limits ever miss the truth, and in which there is ever an alarm."""
    limits = alarms = 0
    later = np.append(0, REFERENCE + np.arange(days))
    for _ in range(trials):
        before, after, truth = trial(*SYSTEMS[name], days, rng)
        seen = np.cumsum(after, axis=0)
        above, below = log_evidence(seen, truth), log_evidence(seen[:, ::-1], 1 - truth)
        limits += bool(max(above.max(), below.max()) >= -np.log(ERROR / 2))
        draws = np.concatenate([before[None], after])
        alarms += bool(changes(Draws(later, draws, draws), REFERENCE, ERROR, 0, ["drop"]))
    return limits / trials, alarms / trials


def watched(fault, rows, seed):
    """Alarms of a planted log: of rows among themselves, and beside the reference."""
    rng = default_rng(seed)
    X, denied, first, second = decisions(rng, rows)
    first = shuffled(rng, first, FAULTS[fault][0](X).to_numpy())
    codes = [f"R{a}, R{b}" for a, b in zip(first, second, strict=True)]
    monitor = fs.Monitor(by="region", seed=seed, reference=59)
    monitor.add(codes, denied, by=X["region"].to_numpy(), when=X["date"].to_numpy(), batch="log")
    told = ({}, {})
    for name, alarms in monitor.alarms().items():
        for alarm in alarms:
            told["beside" in alarm.direction].setdefault(name, []).append(alarm)
    return told


def since_march(alarms):
    """On how manieth day of March and after a drop in the south is known; infinity if it is not."""
    drops = [alarm for alarm in alarms.get("south", ()) if alarm.direction.startswith("drop")]
    return min(((alarm.day - to_date(20_513)).days + 1 for alarm in drops), default=np.inf)


def planted(rows, draws, first=5_000):
    """How often and when a fault is known, how often another group is alarmed, and anything of a log without one."""
    lines = []
    faulty = [watched("a region since March", rows, first + draw) for draw in range(draws)]
    sound = [watched("none", rows, first + draws + draw) for draw in range(draws)]
    for place, how in enumerate(("among themselves", "beside")):
        days = [since_march(told[place]) for told in faulty]
        known, median = np.mean(np.isfinite(days)), np.median(days)
        others = np.mean([bool(told[place].keys() - {"south", None}) for told in faulty])
        false = np.mean([bool(told[place]) for told in sound])
        shown = f"{median:.0f}" if np.isfinite(median) else "not known"
        lines.append(f"{rows:>8,}  {how:18s} {known:6.2f} {shown:>12s} {others:10.2f} {false:10.2f}")
    return lines


def report(quick):
    """The tables, line by line."""
    days, trials, draws = (100, 20, 2) if quick else (500, 200, 100)
    rng = default_rng(0)
    yield f"Missed, or false alarm, on any of {days} days after {REFERENCE} days; {trials} trials, nominal {ERROR}"
    yield f"{'system':32s} limits  alarm"
    for name in SYSTEMS:
        yield "{:32s} {:6.3f} {:6.3f}".format(name, *wrong(name, trials, days, rng))
    yield ""
    yield f"Reasons of one region of five are random since March; {draws} draws, known until the end of June"
    yield f"{'rows':>8s}  {'compared':18s} {'known':>6s} {'median day':>12s} {'elsewhere':>10s} {'no fault':>10s}"
    yield from planted(3_000, draws)


def beyond(lines):
    """Lines in which limits or alarms are wrong more often than the bar allows."""
    place = lines.index("")
    return worse(lines[2:place], (-2, -1), 200) + worse(filter(None, lines[place + 3 :]), (-2, -1), 100)


if __name__ == "__main__":
    simulate(__doc__, report, beyond, "monitor_beside")
