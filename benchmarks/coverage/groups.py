"""Groups beside everybody: their intervals, and those of their differences, where the truth is known."""

from dataclasses import dataclass

import numpy as np
from harness import ends

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
    parts = fs.consistency(codes.tolist(), labels, by=inside, **options)
    (line,) = parts.differences().itertuples()  # of rows outside less those inside
    group, rest = (system.truth(each) for each in (system.group, system.rest))
    return {
        f"group beside everybody, {how}": ends(parts[True], group),
        f"difference beside everybody, {how}": ends(line, rest - group),
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
