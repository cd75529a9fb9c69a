"""The search of the package anchor-exp 0.0.2.0 as released, and what it must be able to draw.

The search of one row is written as the package writes it. All rows are searched at the same time: each search says what
it wants to draw next, and is given how often that agreed.
"""

from collections import Counter
from collections.abc import Generator
from math import log, log1p, sqrt
from typing import Any, Protocol

import numpy as np

from faithscope.explainers.anchors.search import Keys, bound, may_exceed, mix
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.seeds import row_digests

DELTA, TAU, SLACK = 0.1, 0.15, 0.05  # the package's defaults: delta, tau or epsilon, epsilon_stop
_TIE = 1e-12  # times a place: less than any difference of two means

# What a search wants: for each of several sets of conditions, from which of its draws on, and how many.
Wanted = list[tuple[Bools, int, int]]
Search = Generator[Wanted, list[int], Any]


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


def line_seeds(seed: int, X: Any) -> Keys:
    """A seed per row, from the row itself and how often it came before: as if each row were drawn for anew."""
    before: Counter[bytes] = Counter()
    seeds = []
    for digest in row_digests(seed, X):
        seeds.append((int.from_bytes(digest, "little"), before[digest]))
        before[digest] += 1
    numbers = np.array(seeds, np.uint64).reshape(-1, 2)
    return mix(numbers[:, 0] ^ mix(numbers[:, 1]))


def anchors_of(draws: Draws, thresholds: Floats) -> Bools:
    """The conditions of each line's anchor, with a beam of 1, which is what the package's explainers always use."""
    anchors = np.zeros((len(thresholds), int(draws.many.max(initial=0))), bool)
    searches = [_search(draws, line, threshold) for line, threshold in enumerate(thresholds)]
    answers: dict[int, Any] = dict.fromkeys(range(len(searches)))
    while answers:
        wanted: dict[int, list[tuple[int, Bools, int]]] = {}
        for line, answer in answers.items():
            try:
                for held, first, count in searches[line].send(answer):
                    wanted.setdefault(count, []).append((line, held, first))
            except StopIteration as ended:
                anchors[line] = ended.value
        answers = {}
        for count, asked in wanted.items():
            lines, sets, begins = map(np.array, zip(*asked, strict=True))
            for line, hits in zip(lines.tolist(), draws.agreeing(lines, sets, begins, count).tolist(), strict=True):
                answers.setdefault(line, []).append(hits)
    return anchors


def _search(draws: Draws, line: int, threshold: float) -> Search:
    """The anchor of one line.

    One perturbed row is drawn without conditions. While the mean is above the threshold and its lower bound is more
    than `TAU` below, a batch more is drawn; if the bound ends above the threshold, the anchor is empty. Else conditions
    are added one by one, each time the best, until the set is precise enough. Once no condition is left, the sets of
    all sizes are compared.
    """
    many, held = int(draws.many[line]), np.zeros(int(draws.many.max()), bool)
    drawn, hits = 1, (yield [(held, 0, 1)])[0]
    while hits / drawn > threshold and _low(hits, drawn) < threshold - TAU:
        hits += (yield [(held, drawn, draws.batch)])[0]
        drawn += draws.batch
    if _low(hits, drawn) > threshold or not many:
        return held
    met, agree = draws.shown(line, held, drawn)
    taken: list[tuple[Bools, Ints]] = []
    places = np.arange(many)
    while len(taken) < many:
        free = np.flatnonzero(~held[:many])
        sets = held | (np.arange(len(held)) == free[:, None])
        # Candidates begin with the draws of the set that meet them, or with one draw: drawn, agreeing, not shared.
        arms = np.array([met[:, free].sum(axis=0), met[agree][:, free].sum(axis=0), 0 * free])
        if len(without := np.flatnonzero(arms[0] == 0)):
            _count(arms, without, (yield [(sets[arm], 0, 1) for arm in without]), 1)
        best = yield from _best(sets, arms, places[free], draws.batch)
        while True:
            drawn, hits, own = arms[:, best].tolist()
            mean, low = hits / drawn, _low(hits, drawn)
            reached = mean >= threshold
            high = _bound(mean, log(1 / DELTA) / drawn, 1.0)
            if not (low < threshold - SLACK if reached else high >= threshold + SLACK):
                break
            _count(arms, [best], (yield [(sets[best], own, draws.batch)]), draws.batch)
        held = sets[best]
        if reached and low > threshold - SLACK:
            return held
        taken.append((held, arms[:, best]))
        more, also = draws.shown(line, held, int(own))
        kept = met[:, free[best]]
        met, agree = np.concatenate([met[kept], more]), np.concatenate([agree[kept], also])
        places = _listed(np.flatnonzero(held).tolist(), many)
    sets, arms = np.array([held for held, _ in taken]), np.array([arm for _, arm in taken]).T
    return sets[(yield from _best(sets, arms, np.arange(many), draws.batch))]


def _bound(mean: float, level: float, end: float) -> float:
    """The bound of one mean toward an end, as `kl_bounds` has it for arrays, which takes ten times as long."""
    p = min(max(mean, 1e-7), 1 - 1e-16)
    most = level - p * log(p) - (1 - p) * log1p(-p)
    reach = sqrt(level / 2)  # Pinsker's inequality rules out what is beyond
    inside, outside = mean, min(mean + reach, end) if end else max(mean - reach, end)
    for _ in range(16):
        middle = (inside + outside) / 2
        q = min(max(middle, 1e-7), 1 - 1e-16)
        if -p * log(q) - (1 - p) * log1p(-q) > most:
            outside = middle
        else:
            inside = middle
    return outside


def _low(hits: int, drawn: int) -> float:
    return _bound(hits / drawn, log(1 / DELTA) / drawn, 0.0)


def _count(arms: Ints, which: Any, hits: list[int], count: int) -> None:
    """Add draws of some arms."""
    for arm, more in zip(which, hits, strict=True):
        arms[:, arm] += (count, more, count)


def _best(sets: Bools, arms: Ints, places: Ints, batch: int) -> Search:
    """The arm of which the package is sure that none is better by `TAU`; the last in its list among equals."""
    turn, later = 1, places * _TIE
    while True:
        drawn, hits, own = arms
        means = hits / drawn
        best = int((means + later).argmax())
        rate = log(405.5 * len(sets) * turn**1.1 / DELTA)
        levels = (rate + log(rate)) / drawn
        low = _bound(float(means[best]), float(levels[best]), 0.0)
        means[best] = -1.0
        rivals = np.flatnonzero(may_exceed(means, np.asarray(low + TAU), levels))
        if not len(rivals):
            return best
        # Of equal bounds, the package takes the one of the lowest mean.
        high = bound(means[rivals], levels[rivals], 1) - 1e-9 * means[rivals] - later[rivals]
        both = [int(rivals[high.argmax()]), best]
        _count(arms, both, (yield [(sets[arm], own[arm], batch) for arm in both]), batch)
        turn += 1


def _listed(held: list[int], many: int) -> Ints:
    """Places of candidates in the package's list: it is made from a set of tuples, so their hashes order it."""
    added = {tuple(sorted([*held, more])): more for more in range(many) if more not in held}
    listed = set()
    for candidate in added:
        listed.add(candidate)  # one by one, as the package does: how a set grows orders it too
    places = np.zeros(many, np.int64)
    for place, candidate in enumerate(listed):
        places[added[candidate]] = place
    return places
