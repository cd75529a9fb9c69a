"""The search for anchors, for many rows at once: beams of candidates, of which few draws show the most precise."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from faithscope.explainers.anchors.candidates import Candidates
from faithscope.explainers.anchors.kl_bounds import lower_bound, may_exceed, upper_bound
from faithscope.explainers.anchors.perturbations import CHECKED, Perturbations, Wanted
from faithscope.explainers.shared.arrays import Bools, Codes, Floats, Ints
from faithscope.inputs.checks import check_share, check_whole, is_real

_SLACK = 0.05  # the lower bound of an anchor that passes may lie this much below the threshold, as in anchor-exp


def _leaders(means: Floats, beam: int) -> tuple[Ints, Floats]:
    """The `beam` largest means of each line, among equals the widest, -1 if there are fewer; and the means left."""
    rest, lines = means.copy(), np.arange(len(means))
    leaders = np.full((len(means), beam), -1)
    for place in range(min(beam, means.shape[1])):
        best = rest.argmax(axis=1)
        leaders[:, place] = np.where(rest[lines, best] >= 0, best, -1)
        rest[lines, best] = -1.0
    return leaders, rest


def _weakest(leaders: Ints, means: Floats, level: Floats) -> tuple[Ints, Floats]:
    """The leader of each line with the lowest lower bound, and that bound."""
    bounds = lower_bound(*(np.take_along_axis(part, leaders, axis=1) for part in (means, level)))
    lines, weak = np.arange(len(leaders)), bounds.argmin(axis=1)
    return leaders[lines, weak], bounds[lines, weak]


KEPT_IN_SEARCH = MappingProxyType({name: f"search.{name}" for name in ("threshold", "beam", "delta", "tau")})


@dataclass(frozen=True)
class Search:
    """Beam search for a wide anchor that is as precise as asked (Ribeiro, Singh, Guestrin 2018, algorithm 2).

    Anchors grow by one condition at a time. KL-LUCB finds the `beam` most precise anchors of a size; its bounds hold
    whatever is drawn next. In every turn it draws another batch under each rival that may be more than `tau` better
    than the least sure leader, and several batches under that leader, until there is no such rival. The leaders are
    then checked on draws that had no part in the choice. The widest anchor that passes is the answer. So once one has
    passed, only wider anchors are looked for; with a beam of 1 there are none.

    Attributes
    ----------
    threshold : float
        Precision asked for: the share of draws under the anchor that have the row's prediction.
    beam : int
        How many anchors of each size are kept and extended.
    delta, tau : float
        The chance of error in the choice of the best, and the error in precision that does not matter.
    longest : int, optional
        The most conditions.
    """

    threshold: float
    beam: int
    delta: float
    tau: float
    longest: int | None = None

    def __post_init__(self) -> None:
        if not is_real(self.threshold) or self.threshold != 1:
            check_share(self.threshold, "threshold")
        check_whole(self.beam, "beam")
        check_share(self.delta, "delta")
        check_share(self.tau, "tau")
        if self.longest is not None:
            check_whole(self.longest, "The most conditions")

    def run(
        self,
        space: Perturbations,
        rows: Ints,
        done: Callable[[Ints], None] | None = None,
        thresholds: Floats | None = None,
    ) -> Codes:
        """The anchor of each row, as `run_with_precision` finds it."""
        return self.run_with_precision(space, rows, done, thresholds)[0]

    def run_with_precision(
        self,
        space: Perturbations,
        rows: Ints,
        done: Callable[[Ints], None] | None = None,
        thresholds: Floats | None = None,
    ) -> tuple[Codes, Floats]:
        """The anchor of each row, and its precision by the draws of the search.

        It is the widest that passes; if none does, the most precise that was checked.

        Parameters
        ----------
        space : Perturbations
        rows : (n,) array
            A row may be listed several times.
        done : function, optional
            Called with some of the rows as soon as their anchors are final; with every listed row once.
        thresholds : (n,) array, optional
            The precision asked for of each listed row, if not that of the search.
        """
        tell = done or _nothing
        asked = np.full(len(rows), self.threshold) if thresholds is None else thresholds
        best = _Best(np.zeros((len(rows), space.width), np.int32), np.full(len(rows), -1.0), np.ones(len(rows)))
        at, conditions, size = self._disagreeing(space, rows, asked), np.zeros(len(rows), np.int64), 0
        best.precision[at] = np.nan  # until an anchor was checked
        tell(np.delete(rows, at))
        beams, alive = best.anchors[at, None], np.ones((len(at), 1), bool)
        while len(at) and size != self.longest:
            candidates, size = Candidates.extending(space, rows[at], beams, alive, best.worth[at]), size + 1
            if not candidates.count.any():
                break
            if size == 1:
                conditions[at] = candidates.count
            chosen = self._best(candidates)
            means = self._check(candidates, chosen, conditions[at], asked[at])
            beams, alive = candidates.anchors(chosen), chosen >= 0
            width = np.take_along_axis(candidates.coverage, chosen, axis=1)
            best.improve(at, beams, np.where(means >= asked[at, None], 1.0 + width, means), means)
            on = alive.any(axis=1)
            tell(rows[at[~on]])
            at, beams, alive = at[on], beams[on], alive[on]
        tell(rows[at])
        return best.anchors, best.precision

    def _disagreeing(self, space: Perturbations, rows: Ints, asked: Floats) -> Ints:
        """Positions of the rows that need a condition; if all draws agree with a row, it gets the empty anchor."""
        agree, left, drawn = np.ones(len(rows), bool), np.arange(len(rows)), 0
        while len(left):
            free = np.zeros((len(left), space.width), np.int32)
            agree[left] = space.agreeing(Wanted.of(rows[left], free, CHECKED + drawn)) == space.batch
            left, drawn = left[agree[left]], drawn + 1
            level = self._level(np.ones(len(left)), np.full(len(left), drawn), space.batch)
            left = left[_unsure(np.ones(len(left)), level, asked[left])]
        return np.flatnonzero(~agree)

    def _best(self, candidates: Candidates) -> Ints:
        """The most precise candidates of each row: (n, beam), -1 if a row has fewer."""
        candidates.draw_all()
        unsure = np.flatnonzero(candidates.count > self.beam)
        while len(unsure):
            means = candidates.means(unsure)
            level = self._level(
                candidates.count[unsure, None], np.maximum(candidates.batches[unsure], 1), candidates.space.batch
            )
            leaders, rest = _leaders(means, self.beam)
            weak, low = _weakest(leaders, means, level)
            rivals = may_exceed(rest, low[:, None] + self.tau, level)
            line, rival = np.nonzero(rivals)
            often = np.ceil(np.sqrt(rivals.sum(axis=1))).astype(np.int64)  # a surer leader settles many rivals
            candidates.draw(np.append(unsure[line], np.repeat(unsure, often)), np.append(rival, np.repeat(weak, often)))
            unsure = unsure[often > 0]
        return _leaders(candidates.means(slice(None)), self.beam)[0]

    def _level(self, count: Any, batches: Ints, batch: int) -> Floats:
        """The level that ``kl(mean, precision)`` ever exceeds, for any anchor, with a chance of at most delta.

        ``log(2 · count · n (n + 1) / delta) / draws`` after n batches, for `count` anchors: the factor 2 is for the two
        sides of a mean, and ``Σ 1 / (n (n + 1)) = 1`` over all n.
        """
        return np.asarray(np.log(2 * count * batches * (batches + 1) / self.delta) / (batches * batch))

    def _check(self, candidates: Candidates, chosen: Ints, conditions: Ints, asked: Floats) -> Floats:
        """Precision of the chosen candidates, drawn until each is on one side of the threshold: (n, beam), -1 for none.

        A row has at most `beam` checks of each size, so no check errs by more than the slack, but for a chance of delta
        at most. Rows share draws, so a check that errs for a row errs for all rows like it.
        """
        means = np.full(chosen.shape, -1.0)
        line, place = np.nonzero(chosen >= 0)
        checks, hits, drawn = self.beam * conditions[line], np.zeros(len(line), np.int64), 0
        while len(line):
            hits += candidates.space.agreeing(
                candidates.wanted(line, chosen[line, place], np.full(len(line), CHECKED + drawn))
            )
            drawn += 1
            mean = hits / (drawn * candidates.space.batch)
            means[line, place] = mean
            level = self._level(checks, np.full(len(line), drawn), candidates.space.batch)
            unsure = _unsure(mean, level, asked[line])
            line, place, checks, hits = line[unsure], place[unsure], checks[unsure], hits[unsure]
        return means


def _unsure(mean: Floats, level: Floats, threshold: Floats) -> Bools:
    """Whether the precision may be on the other side of the threshold than its mean, by more than the slack."""
    low = lower_bound(mean, level) < threshold - _SLACK
    high = upper_bound(mean, level) >= threshold + _SLACK
    return np.where(mean >= threshold, low, high)


def _nothing(rows: Ints) -> None:
    """Ignore progress."""


@dataclass(frozen=True, eq=False)
class _Best:
    """The best anchor of each row so far, and its worth: its precision, or 1 + its coverage if it passes."""

    anchors: Codes
    worth: Floats
    precision: Floats

    def improve(self, at: Ints, beams: Codes, worth: Floats, means: Floats) -> None:
        """Take the anchor of a row's beam that is worth most, if it is worth more than the best so far."""
        pick, lines = worth.argmax(axis=1), np.arange(len(at))
        better = worth[lines, pick] > self.worth[at]
        at, lines, pick = at[better], lines[better], pick[better]
        self.anchors[at], self.worth[at] = beams[lines, pick], worth[lines, pick]
        self.precision[at] = means[lines, pick]
