"""The search of the package anchor-exp 0.0.2.0 as released, for many rows at once; and what it must be able to draw."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from faithscope.explainers.anchors.kl_bounds import lower_bound, may_exceed, upper_bound
from faithscope.explainers.shared.arrays import Bools, Floats, Ints

DELTA, TAU, SLACK = 0.1, 0.15, 0.05  # the package's defaults: delta, tau or epsilon, epsilon_stop
_FREE = 2**30  # size at which a condition that an anchor lacks was added
_TIE = 1e-12  # times a place: less than any difference of two means


class Draws(Protocol):
    """Perturbed rows that keep conditions. Each line of a search has draws of its own for each set of conditions."""

    @property
    def batch(self) -> int:
        """How many rows are drawn at once."""
        ...

    @property
    def many(self) -> Ints:
        """How many conditions each line may hold."""
        ...

    def agreeing(self, lines: Ints, held: Bools, first: Ints, count: int) -> Ints:
        """How many of the draws from number `first` to ``first + count`` have the line's prediction: (m,)."""
        ...

    def shown(self, line: int, held: Bools, count: int) -> tuple[Bools, Bools]:
        """Which conditions the first draws meet, (count, k), and which have the line's prediction, (count,)."""
        ...


def start(draws: Draws, thresholds: Floats) -> tuple[Ints, Bools]:
    """How many rows the package draws before it searches, and which lines it gives the empty anchor.

    It draws one perturbed row without conditions. While the mean is above the threshold and its lower bound is more
    than `TAU` below, it draws a batch more. If the bound ends above the threshold, the anchor is empty.
    """
    lines, drawn = np.arange(len(thresholds)), np.ones(len(thresholds), np.int64)
    held = np.zeros((len(lines), int(draws.many.max(initial=0))), bool)
    hits = draws.agreeing(lines, held, drawn * 0, 1)
    low = _low(hits, drawn)
    while len(on := lines[(hits / drawn > thresholds) & (low < thresholds - TAU)]):
        hits[on] += draws.agreeing(on, held[on], drawn[on], draws.batch)
        drawn[on] += draws.batch
        low[on] = _low(hits[on], drawn[on])
    return drawn, low > thresholds


def anchors_of(draws: Draws, thresholds: Floats) -> Bools:
    """The conditions of each line's anchor, with a beam of 1, which is what the package's explainers always use."""
    search = _Search(draws, thresholds)
    search.run()
    return search.anchors


def _low(hits: Any, drawn: Any) -> Floats:
    return lower_bound(hits / drawn, np.log(1 / DELTA) / drawn)


def _levels(arms: Ints, turn: Ints) -> Floats:
    """The package's exploration rate: ``x + log x`` with ``x = log(405.5 · arms · turn^1.1 / delta)``."""
    rate = np.log(405.5 * arms * turn**1.1 / DELTA)
    return np.asarray(rate + np.log(rate))


def _listed(held: list[int], many: int, width: int) -> Ints:
    """Places of candidates in the package's list: it is made from a set of tuples, so their hashes order it."""
    added = {tuple(sorted([*held, more])): more for more in range(many) if more not in held}
    listed = set()
    for candidate in added:
        listed.add(candidate)  # one by one, as the package does: how a set grows orders it too
    places = np.zeros(width, np.int64)
    for place, candidate in enumerate(listed):
        places[added[candidate]] = place
    return places


@dataclass(eq=False)
class _Search:
    """Where each line stands, while all lines are searched at the same time.

    A line compares candidates, which have one condition more than its set, until it is sure of the best; checks whether
    that one is precise enough, which ends the search; and else goes on from there. Once no condition is left, it
    compares the sets that it held.

    Attributes
    ----------
    added : (lines, conditions) array
        The size that the line's set had when the condition was added.
    drawn, hits, own : (lines, conditions) arrays
        Draws of each candidate, those that agree, and those that are not shared with the set that it extends.
    places : (lines, conditions) array
        Where each candidate stands in the package's list, which decides between equals.
    past : (3, lines, conditions) array
        The same of the sets that were held, by size.
    shared : list
        For each line the draws of its set, as `Draws.shown` gives them: candidates start with those that they meet.
    """

    draws: Draws
    thresholds: Floats
    shared: list[tuple[Bools, Bools]] = field(default_factory=list)

    def __post_init__(self) -> None:
        shape = len(self.thresholds), int(self.draws.many.max(initial=0))
        self.added, self.anchors = np.full(shape, _FREE), np.zeros(shape, bool)
        self.drawn, self.hits, self.own = np.zeros((3, *shape), np.int64)
        self.past = np.zeros((3, *shape), np.int64)
        self.places = np.tile(np.arange(shape[1]), (shape[0], 1))
        self.size, self.turn, self.best = np.zeros((3, shape[0]), np.int64)
        self.checked, self.last = np.zeros((2, shape[0]), bool)

    def run(self) -> None:
        """Search until every line has its anchor."""
        drawn, empty = start(self.draws, self.thresholds)
        left = np.flatnonzero(~empty & (self.draws.many > 0))
        nothing = np.zeros(self.added.shape[1], bool)
        self.shared = [(nothing[None, :0], nothing[:0])] * len(empty)
        for line in left:
            self.shared[line] = self.draws.shown(int(line), nothing, int(drawn[line]))
        self._grow(left)
        while len(left):
            left = self._step(left)

    def _step(self, left: Ints) -> Ints:
        """One turn of every line that is left; those that stay."""
        lines, rivals = self._compare(left[~self.checked[left]])
        sure = left[self.checked[left]]
        unsure, passed, failed = self._check(sure[~self.last[sure]])
        ended = np.append(sure[self.last[sure]], passed)
        self.anchors[ended] = self._held(ended, self.best[ended])
        self._take(failed)
        where = np.concatenate([lines, lines, unsure])
        self._draw(where, np.concatenate([rivals, self.best[lines], self.best[unsure]]), self.draws.batch)
        return np.setdiff1d(left, ended, assume_unique=True)

    def _compare(self, lines: Ints) -> tuple[Ints, Ints]:
        """Lines that are not sure of their best candidate, and its strongest rival; the others are to be checked."""
        valid, drawn = self._candidates(lines), np.maximum(self.drawn[lines], 1)
        means = np.where(valid, self.hits[lines] / drawn, -1.0)
        at, later = np.arange(len(lines)), self.places[lines] * _TIE
        best = (means + later).argmax(axis=1)  # the package sorts: the last of equals
        levels = _levels(valid.sum(axis=1), self.turn[lines])[:, None] / drawn
        low = lower_bound(means[at, best], levels[at, best])
        means[at, best] = -1.0
        rival = np.nonzero(may_exceed(means, low[:, None] + TAU, levels))
        high = np.full(means.shape, -1.0)
        # Of equal bounds, the package takes the one of the lowest mean.
        high[rival] = upper_bound(means[rival], levels[rival]) - 1e-9 * means[rival] - later[rival]
        self.best[lines], unsure = best, np.unique(rival[0])
        self.turn[lines[unsure]] += 1
        self.checked[np.delete(lines, unsure)] = True
        return lines[unsure], high[unsure].argmax(axis=1)

    def _check(self, lines: Ints) -> tuple[Ints, Ints, Ints]:
        """Lines whose best candidate needs more draws, lines where it passes, and lines where it does not."""
        hits, drawn = self.hits[lines, self.best[lines]], self.drawn[lines, self.best[lines]]
        mean, level, asked = hits / drawn, np.log(1 / DELTA) / drawn, self.thresholds[lines]
        low, high = lower_bound(mean, level), upper_bound(mean, level)
        reached = mean >= asked
        unsure = np.where(reached, low < asked - SLACK, high >= asked + SLACK)
        passed = ~unsure & reached & (low > asked - SLACK)
        return lines[unsure], lines[passed], lines[~unsure & ~passed]

    def _take(self, lines: Ints) -> None:
        """Hold the best candidate, which is not precise enough, and go on from there."""
        at = lines, self.best[lines]
        self.past[:, lines, self.size[lines]] = self.drawn[at], self.hits[at], self.own[at]
        held = self._held(lines, self.best[lines])
        for line, conditions in zip(lines, held, strict=True):
            met, agree = self.shared[line]
            kept, new = met[:, self.best[line]], int(self.own[line, self.best[line]])
            more, also = self.draws.shown(line, conditions, new)
            self.shared[line] = np.concatenate([met[kept], more]), np.concatenate([agree[kept], also])
        self.added[at], self.checked[lines] = self.size[lines], False
        self.size[lines] += 1
        for line, conditions in zip(lines, held, strict=True):
            self.places[line] = _listed(np.flatnonzero(conditions).tolist(), int(self.draws.many[line]), held.shape[1])
        whole = self.size[lines] == self.draws.many[lines]
        self._grow(lines[~whole])
        self._end(lines[whole])

    def _grow(self, lines: Ints) -> None:
        """Candidates with one condition more begin with the draws of the set that meet it, or with one draw."""
        for line in lines:
            met, agree = self.shared[line]
            self.drawn[line], self.hits[line] = met.sum(axis=0), met[agree].sum(axis=0)
        self.own[lines], self.turn[lines] = 0, 1
        without = self._candidates(lines) & (self.drawn[lines] == 0)
        line, condition = np.nonzero(without)
        self._draw(lines[line], condition, 1)

    def _end(self, lines: Ints) -> None:
        """If all conditions together are not precise enough, compare the sets of all sizes."""
        self.drawn[lines], self.hits[lines], self.own[lines] = self.past[:, lines]
        self.turn[lines], self.last[lines] = 1, True
        self.places[lines] = np.arange(self.added.shape[1])
        for line in lines:
            self.shared[line] = self.shared[line][0][:0], self.shared[line][1][:0]

    def _candidates(self, lines: Ints) -> Bools:
        """Which columns are candidates: conditions that are not held, or sizes."""
        exists = np.arange(self.added.shape[1]) < self.draws.many[lines, None]
        return np.asarray(exists & (self.last[lines, None] | (self.added[lines] == _FREE)))

    def _held(self, lines: Ints, candidates: Ints) -> Bools:
        """The conditions of a candidate of each line."""
        columns = np.arange(self.added.shape[1])
        grown = (self.added[lines] < _FREE) | (columns == candidates[:, None])
        return np.where(self.last[lines, None], self.added[lines] <= candidates[:, None], grown)

    def _draw(self, lines: Ints, candidates: Ints, count: int) -> None:
        at = lines, candidates
        self.hits[at] += self.draws.agreeing(lines, self._held(*at), self.own[at], count)
        self.drawn[at] += count
        self.own[at] += count
