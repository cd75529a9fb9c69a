"""Groups beside everybody: their intervals, and those of their differences, where the truth is known."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from harness import ends
from numeric import AGREEMENTS, NUMERIC, NUMERIC_COVERED, NumericSystem
from systems import COVERED, NECESSARY, FinitePopulation, population

import faithscope as fs
from faithscope.measures.comparing.beside import Beside
from faithscope.testing import POPULATIONS


@dataclass(frozen=True, eq=False)
class Grouped:
    """A group that is a share of all rows, and the rest; both have kinds as often."""

    group: FinitePopulation | NumericSystem
    rest: FinitePopulation | NumericSystem
    share: float = 0.25

    @cached_property
    def everybody(self):
        """All rows."""
        if isinstance(self.rest, FinitePopulation):
            return replace(self.rest, q=self.share * self.group.q + (1 - self.share) * self.rest.q)
        return replace(self.rest, q=np.concatenate([self.group.q, *3 * [self.rest.q]], axis=1))

    def truths(self, measure, agreement):
        """The measure of rows of the group, and of the rest, beside all rows."""
        everybody = self.everybody
        for each in (self.group, self.rest):
            if agreement is not None:
                yield everybody.beside(each, agreement)
            else:
                table = everybody.recalled if measure == "necessity" else everybody.among(everybody.q)
                yield each.p @ (each.q * table).sum(axis=1)

    def draw(self, n, rng, how):
        """Kinds, predictions and whether rows are in the group; and weights or clusters: rows logged several times."""
        inside = rng.random(n) < self.share
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
    return {f"{name}, {way}": Grouped(made(systems[name]), systems[name]) for name in names for way, made in ways}


GROUPED = {
    f"{name}, {way}, {share:.0%}": Grouped(made(population(POPULATIONS[name])), population(POPULATIONS[name]), share)
    for name in ("many rare", "few common", "near-deterministic", "medium")
    for share in (0.1, 0.4)
    for way, made in (("random", shuffled), ("alike", lambda system: system))
}
COVERED_GROUPS = quarters(COVERED, ("sliding, noisy", "nested"), shuffled) | quarters(
    NECESSARY, ("tree of ten leaves",), shuffled
)
NUMBER_GROUPS = quarters(NUMERIC_COVERED, ("sliding, Student t3",), moved)
SPREAD_GROUPS = quarters(NUMERIC, ("4, normal", "20, Student t3"), moved)


def beside(system, n, rng, how, measures, agreements=(None,), name="{measure}, {how}, {what}"):
    """Measures of the group, and of its difference from the rest, by several agreements."""
    kinds, predictions, inside, known = system.draw(n, rng, how)
    answers, groups = {}, {"predictions": predictions, "by": inside, **known}
    for measure, agreement in product(measures, agreements) if 0 < inside.sum() < len(inside) else ():
        if agreement == "spread" and how == "clustered":
            continue
        rows = {"explanations": kinds} if measure == "consistency" else system.rest.ruled(kinds)
        parts = getattr(fs, measure)(**rows, agreement=AGREEMENTS.get(agreement), **groups)
        (line,) = parts.differences().itertuples()  # of rows outside less those inside
        group, rest = system.truths(measure, agreement)
        named = f"{measure}, {agreement}" if agreement else measure
        for what, told, truth in (("group", parts[True], group), ("difference", line, rest - group)):
            answers[name.format(measure=named, how=how, what=what)] = ends(told, truth)
    return answers


def beside_reference(system, n, rng, how):
    """Rows of the group ask and the others answer, as rows of a month beside those of a reference; and what changed.

    The difference is one among rows that can be checked, so that its truth is known where there is none.
    """
    kinds, labels, inside, known = system.draw(n, rng, how)
    if inside.all() or not inside.any():
        return {}
    asked = Beside.of(fs.Sample.of(kinds, labels, **known).asking(inside)).answered_by([0])
    truth = system.group.p @ (system.group.q * system.rest.q).sum(axis=1)
    answers = {f"beside the reference, {how}": ends(asked.estimate(1), truth)}
    if np.array_equal(system.group.q, system.rest.q):
        answers[f"difference from the reference, {how}"] = ends(asked.difference([1], [0], checked=True), 0.0)
    return answers
