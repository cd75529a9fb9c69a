"""The search for anchors, for many rows at once: beams of candidates, of which few draws show the most precise.

Whoever can draw perturbed rows that keep an anchor (`Perturbations`) is searched: tables here beside, and texts.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.base import Explainer
from faithscope.explainers.outcomes import Outcomes
from faithscope.inputs.array_types import Array, Bools, Codes, Floats, Ints
from faithscope.inputs.checks import check_share, check_whole, is_real
from faithscope.inputs.seeds import mixed

Keys = NDArray[np.uint64]

_KEPT = 2**22  # answers remembered, at most
_CHECKED = 2**20  # number of the first batch that checks a choice
_SLACK = 0.05  # the lower bound of an anchor that passes may lie this much below the threshold, as in anchor-exp
_BISECTIONS = 16
_INSIDE = (1e-7, 1 - 1e-16)  # where logarithms are finite


def mix(numbers: Any) -> Keys:
    """Numbers that look random, the same in every process: splitmix64."""
    return mixed(np.asarray(numbers).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def condition_keys(feature: Any, code: Any) -> Keys:
    """The key of each condition, 0 for none. The key of an anchor is the sum of the keys of its conditions."""
    return np.where(np.asarray(code) == 0, np.uint64(0), mix((np.asarray(feature) + 1) * 2**32 + code))


class Answers:
    """The model's answers to perturbed rows by key. No key is 0.

    Each key has one place in a table, where the last key that came stays: a forgotten row is asked about again.
    """

    def __init__(self) -> None:
        self.keys, self.answers = np.zeros(_KEPT, np.uint64), np.zeros(_KEPT)

    def of(self, keys: Keys, ask: Callable[[Ints], Floats]) -> Floats:
        """One answer per key, in the shape of the keys.

        Parameters
        ----------
        keys : array
        ask : function
            From positions among the flattened keys to answers; called once, with the keys that have no answer yet.
        """
        flat = keys.ravel()
        place = (mix(flat) % np.uint64(_KEPT)).astype(np.int64)
        answers = self.answers[place]
        new = np.flatnonzero(self.keys[place] != flat)
        if len(new):
            _, first, which = np.unique(flat[new], return_index=True, return_inverse=True)
            answers[new] = ask(new[first])[which]
            self.keys[place[new]], self.answers[place[new]] = flat[new], answers[new]
        return answers.reshape(keys.shape)


def bound(mean: Floats, level: Floats, side: int | Ints) -> Floats:
    """The largest q with ``kl(mean, q) <= level`` where the side is 1, the smallest where it is -1."""
    p, inside = np.clip(mean, *_INSIDE), mean
    outside: Floats = np.clip(mean + side * np.sqrt(level / 2), 0.0, 1.0)  # Pinsker's inequality rules it out
    most = level - p * np.log(p) - (1 - p) * np.log1p(-p)
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        q = np.clip(middle, *_INSIDE)
        passed = -p * np.log(q) - (1 - p) * np.log1p(-q) > most
        inside, outside = np.where(passed, inside, middle), np.where(passed, middle, outside)
    return outside


def may_exceed(mean: Floats, target: Floats, level: Floats) -> Bools:
    """Whether the upper bound of a mean is above a target; -1 stands for no mean."""
    p, q = np.clip(mean, *_INSIDE), np.clip(target, *_INSIDE)
    within = p * np.log(p / q) + (1 - p) * (np.log1p(-p) - np.log1p(-q)) < level
    return np.asarray((mean >= 0) & (target < 1) & (within | (mean > target)))


# Numbered draws of perturbed rows that keep an anchor: those of tables, `TableDraws`, or of texts. An anchor has one
# code per feature, 0 for a free one. They have `batch`, the draws of a batch, and `width`, the features; and
#   extend(rows, anchors): what may be added, features (k,) and their new codes (n, beam, k), 0 if nothing may;
#   coverage(anchors, features, codes): the share of rows that each extension covers, (n, beam, k);
#   agreeing(candidates, line, which, batch): how many draws of one batch of each candidate have the row's prediction.
Perturbations = Any


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates of one size, one line per row, the widest first; and what was drawn of them.

    Attributes
    ----------
    rows, count : (n,) arrays
        The rows, and how many candidates each has; all lines are as long as the longest.
    beams, parent : (n, beam, width) and (n, k) arrays
        The anchors that are extended, and which of its row's each candidate extends.
    feature, code, key, coverage : (n, k) arrays
    hits, batches : (n, k) arrays
        Agreeing draws and batches drawn, so far.
    """

    space: Perturbations
    rows: Ints
    count: Ints
    beams: Codes
    parent: Ints
    feature: Ints
    code: Codes
    key: Keys
    coverage: Floats
    hits: Ints
    batches: Ints

    @classmethod
    def extending(cls, space: Perturbations, rows: Ints, beams: Codes, alive: Bools, least: Floats) -> "Candidates":
        """All anchors that extend an anchor of the row's beam by a condition and may be worth more than `least`."""
        features, codes = space.extend(rows, beams)
        keys = condition_keys(features, codes) - condition_keys(features, beams[:, :, features])
        own = condition_keys(np.arange(beams.shape[2]), beams).sum(axis=2, dtype=np.uint64)  # of each anchor
        keys = (keys + own[:, :, None]).reshape(len(rows), -1)
        coverage = space.coverage(beams, features, codes).reshape(keys.shape)
        wanted = ((codes != 0) & alive[:, :, None]).reshape(keys.shape) & (1.0 + coverage > least[:, None])
        # Of candidates with the same key the first is kept.
        order = np.lexsort((~wanted, keys), axis=1)
        ordered, first = np.take_along_axis(keys, order, axis=1), np.take_along_axis(wanted, order, axis=1)
        first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
        valid = np.empty_like(wanted)
        np.put_along_axis(valid, order, first, axis=1)
        coverage = np.where(valid, coverage, -1.0)
        count = valid.sum(axis=1)
        order = np.argsort(-coverage, axis=1, kind="stable")[:, : count.max()]
        parent, place = np.divmod(order, len(features))
        code = np.take_along_axis(codes.reshape(keys.shape), order, axis=1)
        key, width = np.take_along_axis(keys, order, axis=1), np.take_along_axis(coverage, order, axis=1)
        hits, batches = np.zeros((2, *order.shape), np.int64)
        return cls(space, rows, count, beams, parent, features[place], code, key, width, hits, batches)

    @classmethod
    def nothing(cls, space: Perturbations, rows: Ints) -> "Candidates":
        """The anchor without conditions, for each row."""
        none, one = np.zeros((len(rows), 1), np.int64), np.ones((len(rows), 1))
        beams, keys = np.zeros((len(rows), 1, space.width), np.int32), none.astype(np.uint64)
        return cls(space, rows, none[:, 0] + 1, beams, none, none, none, keys, one, none, none)

    def anchors(self, lines: Ints, which: Ints) -> Codes:
        """The anchors of some candidates: (m, width)."""
        extended: Codes = self.beams[lines, self.parent[lines, which]]
        extended[np.arange(len(lines)), self.feature[lines, which]] = self.code[lines, which]
        return extended

    def draw(self, lines: Ints, which: Ints) -> None:
        """Draw another batch of each of these candidates; several batches if it is listed several times."""
        at = lines * self.hits.shape[1] + which
        order = np.argsort(at, kind="stable")
        batch, ordered = self.batches[lines, which], at[order]
        batch[order] += np.arange(len(at)) - np.searchsorted(ordered, ordered)  # and how often it was listed before
        np.add.at(self.hits, (lines, which), self.space.agreeing(self, lines, which, batch))
        np.add.at(self.batches, (lines, which), 1)

    def means(self, lines: Any) -> Floats:
        """Share of draws that agree with the row; -1 if there is no candidate."""
        drawn = self.batches[lines] * self.space.batch
        return np.where(drawn > 0, self.hits[lines] / np.maximum(drawn, 1), -1.0)


def _leaders(means: Floats, beam: int) -> tuple[Ints, Floats]:
    """The `beam` largest means of each line, among equals the widest, -1 if there are fewer; and the means left."""
    rest, lines = means.copy(), np.arange(len(means))
    leaders = np.full((len(means), beam), -1)
    for place in range(min(beam, means.shape[1])):
        best = rest.argmax(axis=1)
        leaders[:, place] = np.where(rest[lines, best] >= 0, best, -1)
        rest[lines, best] = -1.0
    return leaders, rest


def check_threshold(threshold: Any) -> None:
    """Raise if this is no precision to ask for: a number above 0, at most 1."""
    if not is_real(threshold) or threshold != 1:
        check_share(threshold, "threshold")


@dataclass(eq=False, repr=False)
class Search(Explainer):
    """What explainers by anchors share: beam search for a wide anchor as precise as asked.

    It is algorithm 2 of Ribeiro, Singh and Guestrin (2018).

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
    seed, agreement
        As explainers by anchors have them.
    """

    predict: Any
    _: KW_ONLY
    threshold: float = 0.95
    beam: int = 4
    delta: float = 0.1
    tau: float = 0.15
    seed: int = 0
    agreement: Any = None

    def __post_init__(self) -> None:
        self._outcomes = Outcomes(self.predict, self.agreement, type(self).__name__)
        check_threshold(self.threshold)
        check_whole(self.beam, "beam")
        check_share(self.delta, "delta")
        check_share(self.tau, "tau")

    def run(
        self,
        space: Perturbations,
        rows: Ints,
        threshold: float,
        longest: int | None,
        done: Callable[[Ints], None] = lambda rows: None,
    ) -> tuple[Codes, Floats]:
        """The anchor of each row, and its precision by the draws of the search.

        It is the widest that passes; if none does, the most precise that was checked.

        Parameters
        ----------
        space : Perturbations
        rows : (n,) array
        threshold : float
        longest : int, optional
            The most conditions.
        done : function, optional
            Called with some of the rows as soon as their anchors are final; with every row once.
        """
        start = Candidates.nothing(space, rows)
        best, worth = start.beams[:, 0].copy(), np.full(len(rows), -1.0)
        # Rows that need a condition: if all draws agree with a row, it gets the empty anchor.
        means = self._check(start, start.parent, np.ones(len(rows)), threshold, whole=True)
        at = np.flatnonzero(means < 1)
        conditions, size = np.zeros(len(rows), np.int64), 0
        precision = np.where(means[:, 0] < 1, np.nan, 1.0)  # nan until an anchor was checked
        done(np.delete(rows, at))
        beams, alive = start.beams[at], np.ones((len(at), 1), bool)
        while len(at) and size != longest:
            candidates, size = Candidates.extending(space, rows[at], beams, alive, worth[at]), size + 1
            if not candidates.count.any():
                break
            if size == 1:
                conditions[at] = candidates.count
            chosen = self._best(candidates)
            means = self._check(candidates, chosen, self.beam * conditions[at], threshold)
            lines, alive = np.arange(len(at)), chosen >= 0
            beams = candidates.anchors(lines.repeat(chosen.shape[1]), chosen.ravel()).reshape(*chosen.shape, -1)
            width = np.take_along_axis(candidates.coverage, chosen, axis=1)
            value = np.where(means >= threshold, 1.0 + width, means)  # the widest of those that pass
            pick = value.argmax(axis=1)
            lines = lines[value[lines, pick] > worth[at]]
            pick, improved = pick[lines], at[lines]
            best[improved], worth[improved] = beams[lines, pick], value[lines, pick]
            precision[improved] = means[lines, pick]
            on = alive.any(axis=1)
            done(rows[at[~on]])
            at, beams, alive = at[on], beams[on], alive[on]
        done(rows[at])
        return best, precision

    def _best(self, candidates: Candidates) -> Ints:
        """The most precise candidates of each row: (n, beam), -1 if a row has fewer."""
        candidates.draw(*np.nonzero(np.arange(candidates.hits.shape[1]) < candidates.count[:, None]))
        unsure = np.flatnonzero(candidates.count > self.beam)
        while len(unsure):
            means = candidates.means(unsure)
            level = self._level(
                candidates.count[unsure, None], np.maximum(candidates.batches[unsure], 1), candidates.space.batch
            )
            leaders, rest = _leaders(means, self.beam)
            led, sure = (np.take_along_axis(part, leaders, axis=1) for part in (means, level))
            bounds = bound(led, sure, -1)
            lines, lowest = np.arange(len(leaders)), bounds.argmin(axis=1)
            weak, low = leaders[lines, lowest], bounds[lines, lowest]
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

    def _check(
        self, candidates: Candidates, chosen: Ints, checks: Array, threshold: float, *, whole: bool = False
    ) -> Floats:
        """Precision of the chosen candidates, on draws that had no part in the choice: (n, beam), -1 for none.

        A row has at most `beam` checks of each size, so no check errs by more than the slack, but for a chance of delta
        at most. Rows share draws, so a check that errs for a row errs for all rows like it. A candidate is drawn until
        its precision is on one side of the threshold; if `whole`, or is less than 1.
        """
        space, (line, place) = candidates.space, np.nonzero(chosen >= 0)
        means, hits = np.full(chosen.shape, -1.0), np.zeros(chosen.shape, np.int64)
        batches = 0
        while len(line):
            batch = np.full(len(line), _CHECKED + batches)
            hits[line, place] += space.agreeing(candidates, line, chosen[line, place], batch)
            batches += 1
            means[line, place] = mean = hits[line, place] / (batches * space.batch)
            passes, level = mean >= threshold, self._level(checks[line], batch - _CHECKED + 1, space.batch)
            end = bound(mean, level, np.where(passes, -1, 1))
            # The precision may lie on the other side of the threshold than the mean, by more than the slack.
            unsure = np.where(passes, end < threshold - _SLACK, end >= threshold + _SLACK)
            left = unsure & ((mean == 1) | (not whole))
            line, place = line[left], place[left]
        return means
