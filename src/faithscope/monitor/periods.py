"""Where a change comes from: explanations whose rows agree less than before, or other explanations than before."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from faithscope.explanations.base import readable
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.measures.intervals.local import clopper_pearson
from faithscope.monitor.look import Look
from faithscope.monitor.sequential import shares
from faithscope.monitor.store import fetched, registered
from faithscope.rounding import down, up

_MOST, _MOST_LABELS = 20, 3  # explanations, or features, that are listed, and labels of each
_MOST_PAIRED = 100_000  # rows of an explanation and period that are paired


@dataclass(frozen=True, eq=False)
class TwoPeriods:
    """Rows by explanation and label in two periods, before and after.

    Among rows whose explanations both periods can check, the change of agreement is `within`, the change within
    explanations, plus `mix`, what comes of other shares of the same explanations.

    Parameters
    ----------
    explanations, labels
        Floats from 0, one of each per cell.
    rows
        Shape (2, n_cells): rows before, rows after.

    Examples
    --------
    >>> periods = TwoPeriods.of([0, 0, 1, 1], [0, 1, 0, 1], before=[900, 0, 10, 90], after=[600, 300, 10, 90])
    >>> periods.agreement.round(2).tolist()
    [[1.0, 0.82], [0.56, 0.82]]
    >>> round(periods.within, 3), round(periods.mix, 3)
    (-0.4, 0.0)
    >>> [periods.probability(place, seed=0) < 0.05 for place in (0, 1)]
    [True, False]
    """

    explanations: Ints
    labels: Ints
    rows: Ints

    @classmethod
    def of(cls, explanations: ArrayLike, labels: ArrayLike, before: ArrayLike, after: ArrayLike) -> Self:
        """Cells from arrays."""
        return cls(*(np.asarray(column, np.int64) for column in (explanations, labels, [before, after])))

    def _by_explanation(self, amounts: NDArray[np.generic]) -> Floats:
        """Sums over the cells of each explanation, shape (2, distinct)."""
        return np.stack([np.bincount(self.explanations, each) for each in amounts])

    @cached_property
    def given(self) -> Floats:
        """Rows by explanation, shape (2, distinct)."""
        return self._by_explanation(self.rows)

    @cached_property
    def agreement(self) -> Floats:
        """How often two different rows of an explanation agree, shape (2, distinct); NaN with fewer than two rows."""
        pairs, possible = self._by_explanation(self.rows * (self.rows - 1.0)), self.given * (self.given - 1)
        return np.asarray(np.where(possible > 0, pairs / np.where(possible > 0, possible, 1), np.nan))

    @cached_property
    def compared(self) -> Bools:
        """Explanations that both periods can check."""
        return np.asarray((self.given > 1).all(axis=0))

    @cached_property
    def compared_shares(self) -> Floats:
        """The share of each explanation among the rows whose explanations are compared, shape (2, distinct)."""
        rows = self.given * self.compared
        return np.asarray(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1))

    @cached_property
    def parts(self) -> Floats:
        """What each explanation adds to `within`: its change of agreement times its share, the mean of both periods."""
        changed = np.where(self.compared, self.agreement[1] - self.agreement[0], 0.0)
        return np.asarray(changed * self.compared_shares.mean(axis=0))

    @property
    def within(self) -> float:
        """The change of agreement within explanations."""
        return float(self.parts.sum())

    @property
    def mix(self) -> float:
        """The change of agreement that comes of other shares of the same explanations."""
        agreement = np.where(self.compared, self.agreement, 0.0).mean(axis=0)
        return float(agreement @ (self.compared_shares[1] - self.compared_shares[0]))

    @property
    def fresh(self) -> float:
        """The share of rows after whose explanations no row before had."""
        before, after = self.given
        return float((after / max(after.sum(), 1))[before == 0].sum())

    def probability(self, place: int, seed: int) -> float:
        """How probable so large a change of an explanation's agreement is by chance, times the number compared.

        Fisher's exact test of disjoint pairs of its rows, at random; 1 for what cannot be compared. For a single look.
        """
        rng, met, agreeing = np.random.default_rng([seed, place]), [], []
        for rows in self.rows[:, self.explanations == place]:
            some = rng.multivariate_hypergeometric(rows, min(int(rows.sum()), _MOST_PAIRED))
            shuffled = rng.permutation(np.repeat(np.arange(len(some)), some))
            pairs = shuffled[: len(shuffled) // 2 * 2].reshape(-1, 2)
            met.append(len(pairs))
            agreeing.append(np.count_nonzero(pairs[:, 0] == pairs[:, 1]))
        if not self.compared[place]:
            return 1.0
        table = (sum(met), sum(agreeing), met[1])
        tail = min(stats.hypergeom.cdf(agreeing[1], *table), stats.hypergeom.sf(agreeing[1] - 1, *table))
        return float(min(1.0, 2 * tail * self.compared.sum()))

    def feature_parts(self, features: Sequence[Sequence[str]]) -> dict[str, float]:
        """For each feature, the sum of the parts of explanations that name it, the largest loss first; sums overlap."""
        sums: dict[str, float] = {}
        for named, part in zip(features, self.parts.tolist(), strict=True):
            for name in dict.fromkeys(named):
                sums[name] = sums.get(name, 0.0) + part
        return dict(sorted(sums.items(), key=lambda item: item[1]))

    def changed(
        self, text: Callable[[int], str], labels: Sequence[str], seed: int = 0
    ) -> tuple["ChangedExplanation", ...]:
        """The explanations that add most to the change of agreement, losses first.

        Each is told with the labels whose shares of its rows changed most.
        """
        told = []
        for place in np.argsort(-np.abs(self.parts), kind="stable")[:_MOST].tolist():
            cells = np.flatnonzero(self.explanations == place)
            shares = (self.rows[:, cells] / np.maximum(self.given[:, [place]], 1)).T
            order = np.argsort(-np.abs(shares[:, 1] - shares[:, 0]), kind="stable")[:_MOST_LABELS]
            changes = [f"{labels[self.labels[cells[j]]]}: {shares[j, 0]:.0%} → {shares[j, 1]:.0%}" for j in order]
            rows, agreement = self.given[:, place].astype(int).tolist(), self.agreement[:, place].tolist()
            if part := float(self.parts[place]):
                known = (part, self.probability(place, seed), ", ".join(changes))
                told.append(ChangedExplanation(text(place), rows, agreement, *known))
        return tuple(sorted(told, key=lambda each: each.part))

    def sentences(self) -> tuple[str, ...]:
        """By how much agreement changed, within explanations and since others are more frequent.

        Examples
        --------
        >>> periods = TwoPeriods.of([0, 0, 1, 1], [0, 1, 0, 1], before=[900, 0, 10, 90], after=[600, 300, 10, 90])
        >>> periods.sentences()[0].partition(": ")[2]
        '0.400 less within explanations, 0.000 more since explanations have other shares.'
        """
        rows = self.given.sum(axis=1)
        if not rows.all():
            return ("One of the two periods has no rows, so nothing can be compared.",)
        checked = self.given[1][self.compared].sum() / rows[1]
        if not checked:
            return ("No explanation has two rows in both periods, so agreement cannot be compared.",)
        total, within, mix = (
            f"{abs(amount):.3f} {'less' if round(amount, 3) < 0 else 'more'}"
            for amount in (self.within + self.mix, self.within, self.mix)
        )
        return (
            f"{checked:.1%} of the later rows have explanations that both periods can check. Among these rows two with "
            f"the same explanation agree {total} often than before: {within} within explanations, {mix} since "
            "explanations have other shares.",
        )


class ChangedExplanation(NamedTuple):
    """An explanation whose rows agree less, or more, than before: rows and agreement before and after."""

    text: str
    rows: Sequence[int]
    agreement: Sequence[float]
    part: float
    probability: float
    labels: str = ""


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
    """What changed since the reference, in sentences, by explanation and by feature; and whether explanations drift."""

    sentences: tuple[str, ...] = ()
    explanations: tuple[ChangedExplanation, ...] = ()
    features: tuple[tuple[str, float], ...] = ()
    drift: tuple[str, ...] = ()


_CELLS = """
SELECT high, low, label::BIGINT AS label, coalesce(sum(given) FILTER (day < {end}), 0)::BIGINT AS before,
    coalesce(sum(given) FILTER (day >= {end}), 0)::BIGINT AS after
FROM {cells} WHERE day >= {begun} GROUP BY ALL ORDER BY high, low, label
"""
_BY_RULE = """
(SELECT day, own::UBIGINT AS high, 0::UBIGINT AS low, label, given FROM cells JOIN patterns USING (high, low))
"""
_NAMED = "SELECT place, name, features FROM explained JOIN texts USING (high, low) WHERE name <> ''"


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
        return Changes(("There are no rows after the reference yet.",))
    high, low = told["high"], told["low"]
    begins = np.append(True, (high[1:] != high[:-1]) | (low[1:] != low[:-1]))
    periods = TwoPeriods.of(np.cumsum(begins) - 1, told["label"], told["before"], told["after"])
    batches, error = len(np.unique(look.pairs["batch"])), 1 - look.confidence
    before, after = periods.given
    apart = distance(before, after, error * float(shares(np.array([batches - 1]))[0]), seed=0)
    changed, drifts = bool(look.alarms.get(None)), apart.low > 0
    verdict = {
        (False, False): f"Neither {look.measure} nor the explanations are shown to have changed.",
        (False, True): f"The explanations drift; {look.measure} is not shown to have changed.",
        (True, False): f"{look.measure.capitalize()} changed; the explanations are not shown to drift.",
        (True, True): f"{look.measure.capitalize()} changed, and the explanations drift.",
    }[changed, drifts]
    drift = (
        verdict,
        f"{periods.fresh:.1%} of the later rows have explanations that the reference did not have. The distance "
        f"between the explanations of both periods (total variation) is between {down(apart.low)} and "
        f"{up(apart.high)}.",
    )
    if look.scopes is not None:
        return Changes(drift=drift)
    high, low = high[begins], low[begins]
    with registered(look.connection, "explained", {"place": np.arange(len(high)), "high": high, "low": low}):
        lines = look.connection.execute(_NAMED).fetchall()
    texts = {place: text for place, text, _ in lines}
    named = {place: json.loads(features) for place, _, features in lines}
    query = "SELECT shown FROM names WHERE what = 'labels' ORDER BY code"
    labels = [readable(json.loads(text)) for (text,) in look.connection.execute(query).fetchall()]
    parts = periods.feature_parts([named.get(place, ()) for place in range(len(high))])
    largest = sorted(parts.items(), key=lambda item: -abs(item[1]))[:_MOST]

    def text(place: int) -> str:
        return str(texts.get(place, f"explanation {high[place]:016x}, whose text was not kept"))

    features = tuple((name, part) for name, part in sorted(largest, key=lambda item: item[1]) if part)
    return Changes(periods.sentences(), periods.changed(text, labels), features, drift)
