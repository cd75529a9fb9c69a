"""Where a change comes from: explanations whose rows agree less than before, or other explanations than before."""

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from faithscope.explanations.base import readable
from faithscope.measures.intervals.local import clopper_pearson
from faithscope.monitor.look import Look
from faithscope.monitor.sequential import shares
from faithscope.monitor.store import fetched, registered
from faithscope.rounding import down, up

_MOST, _MOST_LABELS = 20, 3  # explanations that are listed, and labels of each
_CELLS = """
SELECT high, low, label::BIGINT AS label, coalesce(sum(given) FILTER (day < {end}), 0)::BIGINT AS before,
    coalesce(sum(given) FILTER (day >= {end}), 0)::BIGINT AS after
FROM {cells} WHERE day >= {begun} GROUP BY ALL ORDER BY high, low, label
"""
_BY_RULE = """
(SELECT day, own::UBIGINT AS high, 0::UBIGINT AS low, label, given FROM cells JOIN patterns USING (high, low))
"""


class TwoPeriods:
    """Rows by explanation in two periods, before and after, and how often two of them agree.

    Among rows whose explanations both periods can check, the change of agreement is the sum of `within`, the change
    within each explanation, plus that of `mix`, what comes of other shares of the same explanations.

    Parameters
    ----------
    explanations
        Whole numbers from 0, one per cell of an explanation and a label.
    before, after
        Rows of each cell.

    Attributes
    ----------
    given, agreement : (2, distinct) array
        Rows by explanation, and how often two different ones of them agree, 0 with fewer than two.
    compared : (distinct,) array of bool
        Explanations that both periods can check.
    within, mix : (distinct,) array
        What each explanation adds to the change: of its agreement, and of its share, each times the mean of the other.

    Examples
    --------
    >>> periods = TwoPeriods([0, 0, 1, 1], before=[900, 0, 10, 90], after=[600, 300, 10, 90])
    >>> periods.agreement.round(2).tolist()
    [[1.0, 0.82], [0.56, 0.82]]
    >>> periods.within.round(3).tolist(), periods.mix.round(3).tolist()
    ([-0.4, 0.0], [0.0, 0.0])
    >>> periods.sentence().partition(": ")[2]
    '0.400 less within explanations, 0.000 more since explanations have other shares.'
    """

    def __init__(self, explanations: ArrayLike, before: ArrayLike, after: ArrayLike) -> None:
        rows = np.array([before, after], np.float64)
        self.given, pairs = (
            np.stack([np.bincount(np.asarray(explanations), each) for each in amounts])
            for amounts in (rows, rows * (rows - 1))
        )
        self.agreement = pairs / np.maximum(self.given * (self.given - 1), 1)
        self.compared = (self.given > 1).all(axis=0)
        checked = self.given * self.compared
        shares = checked / np.maximum(checked.sum(axis=1, keepdims=True), 1)
        agreement = self.agreement * self.compared
        self.within = np.diff(agreement, axis=0)[0] * shares.mean(axis=0)
        self.mix = np.diff(shares, axis=0)[0] * agreement.mean(axis=0)

    @property
    def fresh(self) -> float:
        """The share of rows after whose explanations no row before had."""
        before, after = self.given
        return float(after[before == 0].sum() / max(after.sum(), 1))

    def sentence(self) -> str:
        """By how much agreement changed, within explanations and since others are more frequent."""
        if not self.compared.any():
            return "No explanation has two rows in both periods, so agreement cannot be compared."
        checked = self.given[1][self.compared].sum() / self.given[1].sum()
        total, within, mix = (
            f"{abs(amount):.3f} {'less' if round(amount, 3) < 0 else 'more'}"
            for amount in (each.sum() for each in (self.within + self.mix, self.within, self.mix))
        )
        return (
            f"{checked:.1%} of the later rows have explanations that both periods can check. Among these rows two with "
            f"the same explanation agree {total} often than before: {within} within explanations, {mix} since "
            "explanations have other shares."
        )


class ChangedExplanation(NamedTuple):
    """An explanation whose rows agree less, or more, than before: rows and agreement before and after."""

    text: str
    labels: str
    rows: Sequence[float]
    agreement: Sequence[float]
    part: float


class Distance(NamedTuple):
    """Total variation distance of two distributions of explanations: the value of the sample, and limits of the truth.

    The value of a sample is too large with many rare explanations, so it may lie above the limits' middle.
    """

    value: float
    low: float
    high: float


def distance(before: ArrayLike, after: ArrayLike, error: float, seed: int) -> Distance:
    """Total variation between the distributions of explanations that rows before and rows after were drawn from.

    The lower limit chooses explanations on a random half of the rows that have become more frequent, and compares
    their shares on the other half. The upper one is the value plus McDiarmid's margin, since the expected value is at
    least the truth.

    Parameters
    ----------
    before, after
        Rows by explanation, shape (n_explanations,) each.

    Examples
    --------
    >>> [round(end, 3) for end in distance([500, 500, 0], [500, 300, 200], error=0.05, seed=0)]
    [0.2, 0.143, 0.261]
    """
    counts = np.asarray([before, after], np.int64)
    rows = counts.sum(axis=1)
    if not rows.all():
        return Distance(0.0, 0.0, 1.0)
    shares = counts / rows[:, None]
    value = float(np.abs(shares[0] - shares[1]).sum() / 2)
    margin = np.sqrt((1 / rows).sum() * np.log(2 / error) / 2)
    chosen = np.random.default_rng(seed).binomial(counts, 0.5)
    kept = counts - chosen
    shares = chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1)
    ends = clopper_pearson(kept[:, shares[1] > shares[0]].sum(axis=1), kept.sum(axis=1), 1 - error / 2)
    low = float(ends[0][1] - ends[1][0])
    return Distance(round(value, 12), max(0.0, min(low, value)), min(1.0, value + float(margin)))


class Changes(NamedTuple):
    """What changed since the reference, in a sentence and by explanation; and whether explanations drift."""

    sentence: str = ""
    explanations: tuple[ChangedExplanation, ...] = ()
    drift: tuple[str, ...] = ()


def changes_since(look: Look) -> Changes:
    """What changed within explanations since the reference, and of the explanations themselves, at all looks together.

    What is seen changes with a batch only, so the distance after the i-th one has its share of the error. With scopes
    the drift of the rules is told alone.
    """
    if look.reference is None or look.origin is None:
        return Changes()
    cells, end = "cells" if look.scopes is None else _BY_RULE, look.origin + look.reference
    told = fetched(look.connection, _CELLS.format(cells=cells, begun=look.origin, end=end))
    if not told["after"].sum():
        return Changes("There are no rows after the reference yet.")
    high, low = told["high"], told["low"]
    begins = np.append(True, (high[1:] != high[:-1]) | (low[1:] != low[:-1]))
    place = np.cumsum(begins) - 1
    periods = TwoPeriods(place, told["before"], told["after"])
    batches, error = len(np.unique(look.pairs["batch"])), 1 - look.confidence
    before, after = periods.given
    apart = distance(before, after, error * float(shares(np.array([batches - 1]))[0]), seed=0)
    measure = look.measure
    drifts = "the explanations drift" if apart.low > 0 else "the explanations are not shown to drift"
    drift = (
        f"{measure.capitalize()} {'changed' if look.alarms.get(None) else 'is not shown to have changed'}; {drifts}.",
        f"{periods.fresh:.1%} of the later rows have explanations that the reference did not have. The distance "
        f"between the explanations of both periods (total variation) is between {down(apart.low)} and "
        f"{up(apart.high)}.",
    )
    if look.scopes is not None:
        return Changes(drift=drift)
    high, low = high[begins], low[begins]
    with registered(look.connection, "explained", {"place": np.arange(len(high)), "high": high, "low": low}):
        lines = look.connection.execute("SELECT place, name FROM explained JOIN texts USING (high, low)").fetchall()
    texts = dict(lines)
    query = "SELECT shown FROM names WHERE what = 'labels' ORDER BY code"
    labels = [readable(json.loads(shown)) for (shown,) in look.connection.execute(query).fetchall()]
    largest = np.argsort(-np.abs(periods.within), kind="stable")[:_MOST]
    changed = []
    for each in largest[np.argsort(periods.within[largest], kind="stable")].tolist():
        if not periods.within[each]:
            continue
        given, agreement = periods.given[:, each], periods.agreement[:, each].tolist()
        mine = np.flatnonzero(place == each)
        parts = np.stack([told["before"][mine], told["after"][mine]]) / np.maximum(given[:, None], 1)
        order = np.argsort(-np.abs(parts[1] - parts[0]), kind="stable")[:_MOST_LABELS]
        moved = [f"{labels[told['label'][mine[j]]]}: {parts[0, j]:.0%} → {parts[1, j]:.0%}" for j in order]
        text = texts.get(each, f"explanation {high[each]:016x}, whose text was not kept")
        changed.append(
            ChangedExplanation(text, ", ".join(moved), given.tolist(), agreement, float(periods.within[each]))
        )
    return Changes(periods.sentence(), tuple(changed), drift)
