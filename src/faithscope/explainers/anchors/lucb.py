"""The search for anchors: beams of candidates, whose most precise are found with few draws, for many rows at once."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, Self

import numpy as np

from faithscope.explainers.anchors.answers import Codes, Ints, Keys, anchor_keys, condition_keys
from faithscope.explainers.anchors.kl_bounds import Bools, Floats, lower_bound, may_exceed, upper_bound
from faithscope.inputs.checks import check_share, check_whole

CHECKED, FRESH = 2**20, 2**21  # numbers of the first batch that checks a choice, and of the first that reports on it
_SLACK = 0.05  # by which the lower bound of an anchor that passes may stay below the threshold, as in anchor-exp


@dataclass(frozen=True, eq=False)
class Wanted:
    """Batches of draws that are wanted, one a line, each under an anchor that extends another by a condition.

    Attributes
    ----------
    row, batch : (m,) arrays
        The row it is for, and the number of the batch.
    origin, parent : (p, width) and (m,) arrays
        Anchors, and which of them is extended.
    feature, code : (m,) arrays
        Which feature of the anchor gets which code.
    key : (m,) array
        Equal where the anchors are equal.
    """

    row: Ints
    batch: Ints
    origin: Codes
    parent: Ints
    feature: Ints
    code: Codes
    key: Keys

    @classmethod
    def of(cls, rows: Ints, anchors: Codes, batch: int) -> Self:
        """One batch for each row's anchor."""
        lines, nought = np.arange(len(rows)), np.zeros(len(rows), np.int64)
        return cls(rows, nought + batch, anchors, lines, nought, anchors[:, 0], anchor_keys(anchors))

    def anchors(self, lines: Any) -> Codes:
        """The anchors of these lines, written out."""
        anchors: Codes = self.origin[self.parent[lines]]
        anchors[np.arange(len(anchors)), self.feature[lines]] = self.code[lines]
        return anchors


class Perturbations(Protocol):
    """Numbered rows, drawn anew under anchors.

    An anchor has a code for each feature: 0 leaves the feature free, others stand for conditions that the row meets.
    """

    @property
    def batch(self) -> int:
        """How many draws a batch has."""
        ...

    @property
    def width(self) -> int:
        """How many features an anchor has."""
        ...

    def extend(self, rows: Ints, anchors: Codes) -> tuple[Ints, Codes]:
        """What may be added: features (k,), and their new codes (n, beam, k), 0 where nothing may."""
        ...

    def coverage(self, anchors: Codes, features: Ints, codes: Codes) -> Floats:
        """How wide each extension is, from 0 to 1: (n, beam, k)."""
        ...

    def agreeing(self, wanted: Wanted) -> Ints:
        """How many draws of each batch the model predicts as it does the row."""
        ...


@dataclass(frozen=True, eq=False)
class _Arms:
    """Candidates of one size, a line a row, the widest first; and what was drawn of them.

    Attributes
    ----------
    rows, count : (n,) arrays
        The rows, and how many candidates each has; lines are as long as the longest.
    origin, parent : (n · beam, width) and (n, k) arrays
        The anchors that are extended, and which of them each candidate extends.
    feature, code, key, coverage : (n, k) arrays
    hits, batches : (n, k) arrays
        Agreeing draws and batches drawn, so far.
    """

    space: Perturbations
    rows: Ints
    count: Ints
    origin: Codes
    parent: Ints
    feature: Ints
    code: Codes
    key: Keys
    coverage: Floats
    hits: Ints
    batches: Ints

    @classmethod
    def extending(cls, space: Perturbations, rows: Ints, beams: Codes, alive: Bools, least: Floats) -> Self:
        """All anchors, each once, that extend one of a row's beam by a condition and may be worth more than `least`."""
        features, codes = space.extend(rows, beams)
        keys = condition_keys(features, codes) - condition_keys(features, beams[:, :, features])
        keys = (keys + anchor_keys(beams)[:, :, None]).reshape(len(rows), -1)
        coverage = space.coverage(beams, features, codes).reshape(keys.shape)
        wanted = ((codes != 0) & alive[:, :, None]).reshape(keys.shape) & (1.0 + coverage > least[:, None])
        valid = _first_of_equals(keys, wanted)
        coverage = np.where(valid, coverage, -1.0)
        count = valid.sum(axis=1)
        order = np.argsort(-coverage, axis=1, kind="stable")[:, : count.max()]
        beam, place = np.divmod(order, len(features))
        code = np.take_along_axis(codes.reshape(keys.shape), order, axis=1)
        key, width = np.take_along_axis(keys, order, axis=1), np.take_along_axis(coverage, order, axis=1)
        parent = np.arange(len(rows))[:, None] * beams.shape[1] + beam
        origin, nothing = beams.reshape(-1, beams.shape[2]), np.zeros(order.shape, np.int64)
        return cls(space, rows, count, origin, parent, features[place], code, key, width, nothing, nothing.copy())

    def wanted(self, lines: Ints, arms: Ints, batch: Ints) -> Wanted:
        """Batches of these candidates."""
        at = lines, arms
        row, parent, feature = self.rows[lines], self.parent[at], self.feature[at]
        return Wanted(row, batch, self.origin, parent, feature, self.code[at], self.key[at])

    def pull(self, lines: Ints, arms: Ints) -> None:
        """Draw another batch of each of these candidates, several of one that comes several times."""
        batch = self.batches[lines, arms] + _how_often_before(lines * self.hits.shape[1] + arms)
        np.add.at(self.hits, (lines, arms), self.space.agreeing(self.wanted(lines, arms, batch)))
        np.add.at(self.batches, (lines, arms), 1)

    def pull_all(self) -> None:
        """Draw a batch of every candidate."""
        self.pull(*np.nonzero(np.arange(self.hits.shape[1]) < self.count[:, None]))

    def means(self, lines: Any) -> Floats:
        """Shares of draws that agree; -1 where there is no candidate."""
        drawn = self.batches[lines] * self.space.batch
        return np.where(drawn > 0, self.hits[lines] / np.maximum(drawn, 1), -1.0)

    def anchors(self, arms: Ints) -> Codes:
        """The anchors of some candidates of every row, written out: (n, beam) -> (n, beam, width)."""
        lines = np.repeat(np.arange(len(arms)), arms.shape[1])
        return self.wanted(lines, arms.ravel(), lines).anchors(slice(None)).reshape(*arms.shape, -1)


def _first_of_equals(keys: Keys, valid: Bools) -> Bools:
    """What is valid, without those whose key an earlier one in the line has."""
    order = np.lexsort((~valid, keys), axis=1)
    ordered = np.take_along_axis(keys, order, axis=1)
    first = np.take_along_axis(valid, order, axis=1)
    first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    found = np.empty_like(valid)
    np.put_along_axis(found, order, first, axis=1)
    return found


def _how_often_before(numbers: Ints) -> Ints:
    """For each number how often it came before."""
    order = np.argsort(numbers, kind="stable")
    ordered, before = numbers[order], np.empty_like(order)
    before[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return before


def _leaders(means: Floats, beam: int) -> tuple[Ints, Floats]:
    """The most precise of each line, among equals the widest, -1 where there are not so many; and the means left."""
    rest, lines = means.copy(), np.arange(len(means))
    leaders = np.full((len(means), beam), -1)
    for place in range(min(beam, means.shape[1])):
        best = rest.argmax(axis=1)
        leaders[:, place] = np.where(rest[lines, best] >= 0, best, -1)
        rest[lines, best] = -1.0
    return leaders, rest


def _weakest(leaders: Ints, means: Floats, level: Floats) -> tuple[Ints, Floats]:
    """The leader of each line with the lowest lower bound, and that bound."""
    bounds = lower_bound(*(np.take_along_axis(one, leaders, axis=1) for one in (means, level)))
    lines, weak = np.arange(len(leaders)), bounds.argmin(axis=1)
    return leaders[lines, weak], bounds[lines, weak]


KEPT_IN_SEARCH = MappingProxyType({name: f"search.{name}" for name in ("threshold", "beam", "delta", "tau")})


@dataclass(frozen=True)
class Search:
    """Beam search for a wide anchor that is as precise as asked (Ribeiro, Singh, Guestrin 2018, algorithm 2).

    Anchors grow by a condition at a time. The `beam` most precise of a size are found by KL-LUCB, whose bounds hold
    whatever is drawn next: here, in every turn, another batch under each rival that may be more than `tau` better than
    the least sure of the leaders, and several under that one; until there is no such rival. The leaders are checked on
    draws that had no part in the choice. The widest that passes is the answer, so once there is one, only wider ones
    are looked for; of a beam of 1 there are none.

    Attributes
    ----------
    threshold : float
        Precision asked for: the share of draws under the anchor that are predicted as the row is.
    beam : int
        How many anchors of a size are kept and extended.
    delta, tau : float
        When the best are looked for: the chance of error, and the error in precision that does not matter.
    longest : int, optional
        The most conditions.
    """

    threshold: float
    beam: int
    delta: float
    tau: float
    longest: int | None = None

    def __post_init__(self) -> None:
        if self.threshold != 1:
            check_share(self.threshold, "threshold")
        check_whole(self.beam, "beam")
        check_share(self.delta, "delta")
        check_share(self.tau, "tau")
        if self.longest is not None:
            check_whole(self.longest, "The most conditions")

    def run(self, space: Perturbations, rows: Ints, done: Callable[[Ints], None] | None = None) -> Codes:
        """The anchor of each row: the widest that passes; where none does, the most precise that was checked.

        Parameters
        ----------
        space : Perturbations
        rows : (n,) array
        done : function, optional
            Called with some of the rows, each once, as soon as their anchors are found.
        """
        tell = done or _nothing
        found = _Found(np.zeros((len(rows), space.width), np.int32), np.full(len(rows), -1.0))
        at, conditions, size = self._disagreeing(space, rows), np.zeros(len(rows), np.int64), 0
        tell(np.delete(rows, at))
        beams, alive = found.anchors[at, None], np.ones((len(at), 1), bool)
        while len(at) and size != self.longest:
            arms, size = _Arms.extending(space, rows[at], beams, alive, found.worth[at]), size + 1
            if not arms.count.any():
                break
            if size == 1:
                conditions[at] = arms.count
            chosen = self._best(arms)
            means = self._check(arms, chosen, conditions[at])
            beams, alive = arms.anchors(chosen), chosen >= 0
            width = np.take_along_axis(arms.coverage, chosen, axis=1)
            found.improve(at, beams, np.where(means >= self.threshold, 1.0 + width, means))
            on = alive.any(axis=1)
            tell(rows[at[~on]])
            at, beams, alive = at[on], beams[on], alive[on]
        tell(rows[at])
        return found.anchors

    def _disagreeing(self, space: Perturbations, rows: Ints) -> Ints:
        """Which rows need a condition: the empty anchor, which says nothing, is for those that all draws agree with."""
        agree, drawn, enough = np.arange(len(rows)), 0, False
        while len(agree) and not enough:
            free = np.zeros((len(agree), space.width), np.int32)
            agree = agree[space.agreeing(Wanted.of(rows[agree], free, CHECKED + drawn)) == space.batch]
            drawn += 1
            enough = not self._unsure(np.ones(1), self._level(np.ones(1), np.full(1, drawn), space.batch))[0]
        return np.setdiff1d(np.arange(len(rows)), agree)

    def _best(self, arms: _Arms) -> Ints:
        """The most precise candidates of each row: (n, beam), -1 where a row has not so many."""
        arms.pull_all()
        unsure = np.flatnonzero(arms.count > self.beam)
        while len(unsure):
            means = arms.means(unsure)
            level = self._level(arms.count[unsure, None], np.maximum(arms.batches[unsure], 1), arms.space.batch)
            leaders, rest = _leaders(means, self.beam)
            weak, low = _weakest(leaders, means, level)
            rivals = may_exceed(rest, low[:, None] + self.tau, level)
            line, rival = np.nonzero(rivals)
            often = np.ceil(np.sqrt(rivals.sum(axis=1))).astype(np.int64)  # what makes one leader surer serves often
            arms.pull(np.append(unsure[line], np.repeat(unsure, often)), np.append(rival, np.repeat(weak, often)))
            unsure = unsure[often > 0]
        return _leaders(arms.means(slice(None)), self.beam)[0]

    def _level(self, count: Any, batches: Ints, batch: int) -> Floats:
        """What ``kl(mean, precision)`` stays below, for so many anchors after any number n of batches, but for delta.

        ``log(2 count n (n + 1) / delta) / draws``: means have two sides, and ``Σ 1 / (n (n + 1)) = 1`` over all n.
        """
        return np.asarray(np.log(2 * count * batches * (batches + 1) / self.delta) / (batches * batch))

    def _check(self, arms: _Arms, chosen: Ints, conditions: Ints) -> Floats:
        """Precision of what was chosen, -1 for none, drawn until it is on one side of the threshold: (n, beam).

        A row has at most `beam` checks of each size, so with a chance of delta at most one of them all errs by more
        than the slack: rows share draws, and what errs for one errs for all its like.
        """
        means = np.full(chosen.shape, -1.0)
        line, place = np.nonzero(chosen >= 0)
        checks, hits, drawn = self.beam * conditions[line], np.zeros(len(line), np.int64), 0
        while len(line):
            hits += arms.space.agreeing(arms.wanted(line, chosen[line, place], np.full(len(line), CHECKED + drawn)))
            drawn += 1
            mean = hits / (drawn * arms.space.batch)
            means[line, place] = mean
            unsure = self._unsure(mean, self._level(checks, np.full(len(line), drawn), arms.space.batch))
            line, place, checks, hits = line[unsure], place[unsure], checks[unsure], hits[unsure]
        return means

    def _unsure(self, mean: Floats, level: Floats) -> Bools:
        """Whether a mean that passes may be too low, or one that does not high enough, by more than the slack."""
        low = lower_bound(mean, level) < self.threshold - _SLACK
        high = upper_bound(mean, level) >= self.threshold + _SLACK
        return np.where(mean >= self.threshold, low, high)


def _nothing(rows: Ints) -> None:
    """Where nobody wants to know how far the search is."""


@dataclass(frozen=True, eq=False)
class _Found:
    """The best anchor of each row so far, and what it is worth: its precision, or 1 and its coverage if it passes."""

    anchors: Codes
    worth: Floats

    def improve(self, at: Ints, beams: Codes, worth: Floats) -> None:
        """Take the one of a row's beam that is worth most, where that is more than what there is."""
        pick, lines = worth.argmax(axis=1), np.arange(len(at))
        better = worth[lines, pick] > self.worth[at]
        at, lines, pick = at[better], lines[better], pick[better]
        self.anchors[at], self.worth[at] = beams[lines, pick], worth[lines, pick]
