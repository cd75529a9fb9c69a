"""Records from estimates and counts: one estimate, the mean of several, a share, and the range over plausible draws."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import betabinom, binomtest

import faithscope as fs
from faithscope_reproduction.records import FAR, Outcome, Record, Setting, total

_OF_ESTIMATES = ("low", "high", "unverifiable", "chance")


def record_of(estimate: fs.Estimate, like: Record) -> Record:
    """A record with the numbers of an estimate; table, case, setting, printed and note are those of `like`."""
    numbers = {name: getattr(estimate, name) for name in _OF_ESTIMATES}
    return replace(like, n=estimate.n, ours=estimate.value, **numbers)


def mean_of(
    estimates: Sequence[fs.Estimate], like: Record, number: Callable[[fs.Estimate], float] | None = None
) -> Record:
    """A record with the mean over samples: of M̂, or of another number, which then has no interval.

    Parameters
    ----------
    estimates : sequence of Estimate
        One per sample. The limits of the interval are means too, so they hold for one sample of that size.
    like : Record
        The record's table, case, measure, setting, printed number and note.
    number : callable, optional
        From an estimate to a number.
    """
    values = [estimate.value if number is None else number(estimate) for estimate in estimates]
    std = float(np.std(values, ddof=1)) if len(values) > 1 else None
    record = replace(like, n=estimates[0].n, ours=float(np.mean(values)), repeats=len(values), std=std)
    means: dict[str, Any] = {}
    for name in _OF_ESTIMATES if number is None else ():
        known = [getattr(estimate, name) for estimate in estimates if getattr(estimate, name) is not None]
        means[name] = float(np.mean(known)) if known else None
    return replace(record, **means)


def uniqueness(estimate: fs.Estimate, setting: Setting) -> float:
    """As run, different explanations / rows, as the paper's tables print it; as defined, the share of lone rows."""
    return estimate.distinct / estimate.n if setting == "as_run" else estimate.unverifiable


def itself_counted(estimate: fs.Estimate) -> float:
    """The measure with every row among its own witnesses: the mean of ``N_{π,y} / N_π``, or of 0 if N_π = 1."""
    profile = estimate.counts.profile()
    shares = (profile.agreeing + 1) / (profile.others + 1)
    return float(np.sum(profile.rows * np.where(profile.others > 0, shares, 0.0)) / profile.n)


def share(like: Record, count: int, n: int) -> Record:
    """A record with a share of n rows and Clopper and Pearson's interval; without a number if there are no rows."""
    if not n:
        return replace(like, n=0, ours=None, note=f"no rows; {like.note}")
    limits = binomtest(count, n).proportion_ci(0.95, method="exact")
    return replace(like, n=n, ours=count / n, low=float(limits.low), high=float(limits.high))


def rows_expected(like: Record, count: int, n: int, rows: int) -> Record:
    """A record with the rows that another run is expected to count among `rows`, if this one counted `count` of n.

    The interval, which is the range too, holds 95% of such runs (the beta-binomial distribution, from Jeffreys' prior).
    """
    if not n:
        return share(like, count, n)
    low, high = map(float, betabinom.ppf([0.025, 0.975], rows, count + 0.5, n - count + 0.5))
    limits = replace(like, low=low, high=high, lowest=low, highest=high, hangs_on="95% of runs of anchors")
    return replace(limits, n=n, ours=count / n * rows)


def noted(record: Record, why: str) -> Record:
    """The record, with a note if it is far from the printed number."""
    return replace(record, note=why) if record.off is not None and record.off > FAR else record


def ranged(outcome: Outcome, others: Sequence[Outcome], hangs_on: str) -> Outcome:
    """The outcome with the range of each number as run over its own draw and others that are as plausible.

    Parameters
    ----------
    outcome : Outcome
    others : sequence of Outcome
        Of as many rows as ours, else the range would not be honest.
    hangs_on : str
        What is drawn, and not told by the paper: the split, the wanted class.
    """
    drawn: dict[tuple[str, str], list[float]] = {}
    for record in (record for other in others for record in other.records):
        if record.ours is not None and record.setting == "as_run":
            drawn.setdefault((record.case, record.measure), []).append(record.ours)
    records = []
    for record in outcome.records:
        numbers = drawn.get((record.case, record.measure), [])
        # A range over some of the draws would be too narrow.
        if record.setting == "as_run" and record.ours is not None and len(numbers) == len(others):
            every = [record.ours, *numbers]
            drawn_on = f"{len(every)} draws of {hangs_on}"
            record = replace(record, lowest=min(every), highest=max(every), hangs_on=drawn_on)
        records.append(record)
    spent = total(replace(other, records=(), figures=(), claims=(), notes=()) for other in others)
    return replace(outcome, records=tuple(records)) + spent
