"""Groups beside everybody: their intervals, and those of their differences, where the truth is known."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from harness import ends
from numeric import NUMERIC, NUMERIC_COVERED, NumericSystem
from systems import COVERED, NECESSARY, FinitePopulation

import faithscope as fs
from faithscope.measures.comparing.beside import Beside
from faithscope.testing.systems import SYSTEMS, System


@dataclass(frozen=True)
class Grouped:
    """A group that is a share of all rows, and the rest."""

    group: System
    rest: System
    share: float

    @property
    def everybody(self):
        """How labels of all rows go with explanations: (explanations, labels)."""
        parts = (self.share, self.group), (1 - self.share, self.rest)
        joint = sum(share * system.p[:, None] * system.q for share, system in parts)
        return joint / joint.sum(axis=1, keepdims=True)

    def truth(self, system):
        """Probability that a row of this system gets the label of any row with its explanation."""
        return float(system.p @ (system.q * self.everybody).sum(axis=1))

    def draw(self, n, rng):
        """Explanations, labels, and whether rows are in the group."""
        inside = rng.random(n) < self.share
        drawn = [np.stack(system.draw(n, rng)) for system in (self.group, self.rest)]
        return *np.where(inside, *drawn), inside


def unrelated(system):
    """The same explanations, which go with nothing."""
    return System(system.p, np.tile(system.p @ system.q, (len(system.p), 1)))


NAMES = ("many rare", "few common", "near-deterministic", "medium")
GROUPED = {
    f"{name}, {'random' if other is unrelated else 'alike'}, {share:.0%}": Grouped(
        other(SYSTEMS[name]), SYSTEMS[name], share
    )
    for name in NAMES
    for share in (0.1, 0.4)
    for other in (unrelated, lambda system: system)
}


def beside(system, n, rng, how):
    """The group, and its difference from the rest: of independent rows, of rows logged several times, or weighted."""
    codes, labels, inside = system.draw(n, rng)
    options = {}
    if how == "weighted":
        options["weights"] = rng.lognormal(0, 0.5, n)
    if how == "clustered":
        times = rng.integers(1, 4, n)
        options["clusters"] = np.repeat(np.arange(n), times)
        codes, labels, inside = (np.repeat(column, times) for column in (codes, labels, inside))
    if inside.all() or not inside.any():
        return {}
    # As `fs.consistency` with by= does, without measuring groups among themselves.
    asked = Beside.of(fs.Sample.of(codes.tolist(), labels, **options).asking(inside))
    group, rest = (system.truth(each) for each in (system.group, system.rest))
    return {
        f"group beside everybody, {how}": ends(asked.estimate(1), group),
        f"difference beside everybody, {how}": ends(asked.difference([0], [1], ("rest", "group")), rest - group),
    }


def beside_reference(system, n, rng, how):
    """Rows of the group ask and the others answer, as rows of a month beside those of a reference; and what changed.

    The difference is one among rows that can be checked, so that its truth is known where there is none.
    """
    codes, labels, inside = system.draw(n, rng)
    weights = rng.lognormal(0, 0.5, n) if how == "weighted" else None
    if inside.all() or not inside.any():
        return {}
    asked = Beside.of(fs.Sample.of(codes.tolist(), labels, None, weights).asking(inside)).answered_by([0])
    truth = float(system.group.p @ (system.group.q * system.rest.q).sum(axis=1))
    answers = {f"beside the reference, {how}": ends(asked.estimate(1), truth)}
    if system.group is system.rest:
        answers[f"difference from the reference, {how}"] = ends(asked.checked_difference([1], [0]), 0.0)
    return answers


# Rows that explanations cover, and numbers: a quarter of the rows are in the group, which has kinds as often.


@dataclass(frozen=True, eq=False)
class Quarter:
    """A group that is a quarter of all rows, and the rest."""

    group: FinitePopulation | NumericSystem
    rest: FinitePopulation | NumericSystem

    @cached_property
    def everybody(self):
        """All rows."""
        if isinstance(self.rest, FinitePopulation):
            return replace(self.rest, q=0.25 * self.group.q + 0.75 * self.rest.q)
        return replace(self.rest, q=np.concatenate([self.group.q, *3 * [self.rest.q]], axis=1))

    def draw(self, n, rng, how):
        """Kinds, predictions and whether rows are in the group; and weights or clusters."""
        inside = rng.random(n) < 0.25
        drawn = [system.draw(n, rng) for system in (self.group, self.rest)]
        kinds, predictions = (np.where(inside, mine, other) for mine, other in zip(*drawn, strict=True))
        if how == "weighted":
            return kinds, predictions, inside, {"weights": rng.lognormal(0, 0.5, n)}
        if how == "clustered":
            times = rng.integers(1, 4, n)
            columns = (np.repeat(column, times) for column in (kinds, predictions, inside))
            return *columns, {"clusters": np.repeat(np.arange(n), times)}
        return kinds, predictions, inside, {}


def shuffled(system):
    """The same kinds, whose labels go with nothing."""
    return replace(system, q=np.tile(system.p @ system.q, (len(system.p), 1)))


def moved(system):
    """The same kinds, whose numbers are higher and spread more."""
    middle = system.q.mean(axis=1, keepdims=True)
    return replace(system, q=middle + 1.5 * (system.q - middle) + 0.7 * system.q.std())


def quarters(systems, names, other):
    """Groups that are like the rest, and groups that are not."""
    ways = (("alike", lambda system: system), (other.__name__, other))
    return {f"{name}, {way}": Quarter(made(systems[name]), systems[name]) for name in names for way, made in ways}


COVERED_GROUPS = quarters(COVERED, ("sliding, noisy", "nested"), shuffled) | quarters(
    NECESSARY, ("tree of ten leaves",), shuffled
)
NUMBER_GROUPS = quarters(NUMERIC_COVERED, ("sliding, Student t3",), moved)
SPREAD_GROUPS = quarters(NUMERIC, ("4, normal", "20, Student t3"), moved)


def told(parts, truths, name):
    """The interval of the group, and of its difference from the rest."""
    (line,) = parts.differences().itertuples()  # of rows outside less those inside
    group, rest = truths
    return {f"{name}, group": ends(parts[True], group), f"{name}, difference": ends(line, rest - group)}


def covered(system, n, rng, how):
    """Sufficiency and necessity of labels, beside all rows that explanations cover."""
    kinds, labels, inside, options = system.draw(n, rng, how)
    rows = {**system.rest.ruled(kinds), "predictions": labels, "by": inside, **options}
    everybody, sides = system.everybody, (system.group, system.rest)
    others, alike = everybody.among(everybody.q), everybody.p[:, None] * everybody.q
    shares = everybody.covers @ alike / alike.sum(axis=0)
    share, recall = ([float(each.p @ (each.q * table).sum(axis=1)) for each in sides] for table in (others, shares))
    return told(fs.sufficiency(**rows), share, f"sufficiency, {how}") | told(
        fs.necessity(**rows), recall, f"necessity, {how}"
    )


def numbers_beside(system, n, rng, how, measure, names):
    """One measure of numbers beside everybody, by several agreements; by spread among themselves too."""
    kinds, y, inside, options = system.draw(n, rng, how)
    rows = {"explanations": kinds} if measure == "consistency" else system.rest.ruled(kinds)
    answers, everybody = {}, system.everybody
    for name in names:
        if name == "spread" and how == "clustered":
            continue
        agreement = fs.Spread() if name == "spread" else fs.Close(1.0)
        parts = getattr(fs, measure)(**rows, predictions=y, agreement=agreement, by=inside, **options)
        truths = [everybody.beside(each, name) for each in (system.group, system.rest)]
        answers |= told(parts, truths, f"{measure}, {name}, {how}")
        if name == "spread":
            truth = everybody.spread_among(system.group)
            answers[f"{measure}, spread among themselves, {how}"] = ends(parts.among[True], truth)
    return answers
