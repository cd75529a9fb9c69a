"""Anchors as the package anchor-exp 0.0.2.0 gives them: its search as released, of tables and of texts.

The search of one row is written as the package writes it. All rows are searched at the same time: each search says what
it wants to draw next, and is given which conditions these draws meet, and which of them have the row's prediction.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Protocol

import numpy as np

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.explainers.anchors.search import bound, may_exceed
from faithscope.explainers.ranges import edges_of
from faithscope.inputs.array_types import Array, Bools, Floats, Ints
from faithscope.inputs.documents import to_documents
from faithscope.inputs.seeds import row_digests

DELTA, TAU, SLACK = 0.1, 0.15, 0.05  # the package's defaults: delta, tau or epsilon, epsilon_stop
_TIE = 1e-12  # times a place: less than any difference of two means
_TOGETHER = 500  # searches at the same time: each remembers what it drew
_MASK = "UNK"

Drawn = tuple[Bools, Bools]  # which conditions each draw meets, (count, k), and whether it has the row's prediction
Search = Generator[tuple[Bools, int], list[Drawn], Any]  # wants so many draws of each of several sets of conditions


class Draws(Protocol):
    """Perturbed rows that keep conditions.

    Attributes
    ----------
    batch : int
        How many rows are drawn at once.
    many : (lines,) array
        How many conditions each line may hold.
    """

    batch: int
    many: Ints

    def draw(self, lines: Ints, held: Bools, count: int) -> tuple[Bools, Bools]:
        """New draws for each line: the conditions they meet, (m, count, k), and whether they agree, (m, count)."""
        ...


class Arms:
    """Sets of conditions, one of which is the best: what was drawn of each."""

    def __init__(self, sets: Bools, parts: list[list[Drawn]]) -> None:
        self.sets, self.parts = sets, parts
        agreeing = [np.concatenate([np.zeros(0, bool), *(agree for _, agree in drawn)]) for drawn in parts]
        self.drawn, self.hits = np.array([(len(agree), agree.sum()) for agree in agreeing]).T

    def more(self, which: Any, count: int) -> Generator[tuple[Bools, int], list[Drawn], None]:
        """Draw so many more of some arms."""
        drawn = (yield self.sets[which], count) if len(which) else []
        for arm, part in zip(which, drawn, strict=True):
            self.parts[arm].append(part)
            self.drawn[arm] += count
            self.hits[arm] += part[1].sum()

    def best(self, places: Ints, batch: int) -> Search:
        """The arm of which the package is sure that none is better by `TAU`; the last in its list among equals."""
        turn, later = 1, places * _TIE
        while True:
            means = self.hits / self.drawn
            best = int((means + later).argmax())
            rate = log(405.5 * len(means) * turn**1.1 / DELTA)
            levels = (rate + log(rate)) / self.drawn
            low = bound(means[best], levels[best], -1)
            means[best] = -1.0
            rivals = np.flatnonzero(may_exceed(means, low + TAU, levels))
            if not len(rivals):
                return best
            # Of equal bounds, the package takes the one of the lowest mean.
            high = bound(means[rivals], levels[rivals], 1) - 1e-9 * means[rivals] - later[rivals]
            yield from self.more([int(rivals[high.argmax()]), best], batch)
            turn += 1


def anchors_of(draws: Draws, threshold: float, progress: Callable[[int, int], None] | None = None) -> Bools:
    """The conditions of each line's anchor, with a beam of 1, which is what the package's explainers always use."""
    lines, width = len(draws.many), int(draws.many.max(initial=0))
    anchors = np.zeros((lines, width), bool)
    for begin in range(0, lines, _TOGETHER):
        part = range(begin, min(begin + _TOGETHER, lines))
        searches = {line: _search(width, int(draws.many[line]), threshold, draws.batch) for line in part}
        answers: dict[int, Any] = dict.fromkeys(part)
        while answers:
            wanted: dict[int, list[tuple[int, Bools]]] = {}
            for line, answer in answers.items():
                try:
                    sets, count = searches[line].send(answer)
                    wanted.setdefault(count, []).extend((line, held) for held in sets)
                except StopIteration as ended:
                    anchors[line] = ended.value
            answers = {}
            for count, asked in wanted.items():
                of, held = map(np.array, zip(*asked, strict=True))
                for line, *drawn in zip(of.tolist(), *draws.draw(of, held, count), strict=True):
                    answers.setdefault(line, []).append(drawn)
        if progress is not None:
            progress(part.stop, lines)
    return anchors


def _search(width: int, many: int, threshold: float, batch: int) -> Search:
    """The anchor of one line.

    One perturbed row is drawn without conditions. While the mean is above the threshold and its lower bound is more
    than `TAU` below, a batch more is drawn; if the bound ends above the threshold, the anchor is empty. Else conditions
    are added one by one, each time the best, until the set is precise enough. Once no condition is left, the sets of
    all sizes are compared.
    """
    held = np.zeros(width, bool)
    start = Arms(held[None], [[]])
    yield from start.more([0], 1)
    while start.hits[0] / start.drawn[0] > threshold and _end(start, 0, -1) < threshold - TAU:
        yield from start.more([0], batch)
    if _end(start, 0, -1) > threshold or not many:
        return held
    taken: list[tuple[Bools, list[Drawn]]] = []
    parts, places = start.parts[0], np.arange(many)
    while len(taken) < many:
        met, agree = map(np.concatenate, zip(*parts, strict=True))
        free = np.flatnonzero(~held[:many])
        # Candidates begin with the draws of the set that meet them, or with one draw.
        arms = Arms(held | np.eye(width, dtype=bool)[free], [[(met[met[:, j]], agree[met[:, j]])] for j in free])
        yield from arms.more(np.flatnonzero(arms.drawn == 0), 1)
        best = yield from arms.best(places[free], batch)
        while True:
            reached, low = arms.hits[best] / arms.drawn[best] >= threshold, _end(arms, best, -1)
            if not (low < threshold - SLACK if reached else _end(arms, best, 1) >= threshold + SLACK):
                break
            yield from arms.more([best], batch)
        held, parts = arms.sets[best], arms.parts[best]
        if reached and low > threshold - SLACK:
            return held
        taken.append((held, parts))
        places = _listed(np.flatnonzero(held).tolist(), many)
    every = Arms(np.array([held for held, _ in taken]), [parts for _, parts in taken])
    return every.sets[(yield from every.best(np.arange(many), batch))]


def _end(arms: Arms, arm: int, side: int) -> Any:
    return bound(arms.hits[arm] / arms.drawn[arm], log(1 / DELTA) / arms.drawn[arm], side)


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


def _generator(seed: int, X: Any) -> np.random.Generator:
    """The chance of one call, by its rows: each of them, rows alike too, has draws of its own."""
    return np.random.default_rng(np.frombuffer(b"".join(row_digests(seed, X)) or b"none", np.uint32))


class TableDraws:
    """Known rows in which each value that breaks a condition is a random value of its column that keeps it.

    Parameters
    ----------
    model : model
        Anything with ``predict`` from (m, d) arrays to m positions of classes.
    known, rows : (m, d), (n, d) arrays
    rng : Generator
    """

    batch = 100

    def __init__(self, model: Any, known: Floats, rows: Floats, rng: np.random.Generator) -> None:
        self.model, self.known, self.ordered, self.rng = model, known, np.sort(known, axis=0), rng
        edges = [edges_of(column, whole=False) for column in known.T]
        self.column, self.edge = np.repeat(np.arange(len(edges)), list(map(len, edges))), np.concatenate(edges)
        self.above, self.labels = rows[:, self.column] > self.edge, model.predict(rows)
        self.many = np.full(len(rows), len(self.edge))

    def draw(self, lines: Ints, held: Bools, count: int) -> tuple[Bools, Bools]:
        """New draws for each line."""
        drawn, above = self.known[self.rng.integers(len(self.known), size=(len(lines), count))], self.above[lines]
        for j in np.unique(self.column[held.any(axis=0)]).tolist():
            low, high = (ends[:, None] for ends in self.ends(above, held, j))
            line, place = np.nonzero((drawn[:, :, j] <= low) | (drawn[:, :, j] > high))
            first, last = (np.searchsorted(self.ordered[:, j], ends[:, 0], side="right")[line] for ends in (low, high))
            if (first >= last).any():
                raise BadInput(
                    f"No known row has a value of column {j} in the quarter of a row that is explained, so there is "
                    "nothing to draw; explain rows that are among the known ones."
                )
            drawn[line, place, j] = self.ordered[(first + self.rng.random(len(line)) * (last - first)).astype(int), j]
        labels = self.model.predict(drawn.reshape(-1, drawn.shape[2])).reshape(drawn.shape[:2])
        return (drawn[:, :, self.column] > self.edge) == above[:, None], labels == self.labels[lines, None]

    def ends(self, above: Bools, held: Bools, j: int) -> tuple[Floats, Floats]:
        """The values of a column between which the held conditions leave room."""
        of, edge = held[..., self.column == j], self.edge[self.column == j]
        above = above[..., self.column == j]
        low, high = np.where(of & above, edge, -np.inf), np.where(of & ~above, edge, np.inf)
        return low.max(axis=-1), high.min(axis=-1)


@dataclass(frozen=True, eq=False)
class ReleasedAnchors:
    """Explains a row by conditions that keep its prediction, or by none at all, as the package does.

    Every row has draws of its own, so rows alike may get different anchors. Of conditions that look equally precise the
    last is taken, as a stable sort has it.

    Parameters
    ----------
    model : model
        Anything with ``predict`` from (m, d) arrays to m positions of classes.
    known : (m, d) array
        Rows that are perturbed, and whose quartiles are the conditions.
    names : sequence of str
        The columns.
    threshold : float
    seed : int
        With the rows of a call it decides what is drawn.
    """

    model: Any
    known: Floats
    names: Sequence[str]
    threshold: float
    seed: int = 0

    def __repr__(self) -> str:
        return f"ReleasedAnchors(known={len(self.known)}, threshold={self.threshold}, seed={self.seed})"

    def explain(self, X: Any, *, progress: Callable[[int, int], None] | None = None) -> fs.Rules:
        """One rule per row; the rule without conditions if the first draws agree."""
        rows = np.asarray(X, np.float64)
        rules: list[Any] = []
        draws = TableDraws(self.model, self.known, rows, _generator(self.seed, rows))
        for line, held in enumerate(anchors_of(draws, self.threshold, progress)):
            ends = {j: draws.ends(draws.above[line], held, j) for j in np.unique(draws.column[held]).tolist()}
            ways = [
                (j, way, float(end)) for j, both in ends.items() for way, end in zip((">", "<="), both, strict=True)
            ]
            rules.append([condition for condition in ways if np.isfinite(condition[2])])
        return fs.Rules.from_conditions(rules, features=self.names or [f"x{j}" for j in range(rows.shape[1])])


class MaskedWords:
    """Texts in which words are masked with probability 1/2, each occurrence by itself.

    Parameters
    ----------
    model : model
        ``worth(word)`` is what a word adds to ``intercept``, and ``label(sums)`` gives the labels of sums.
    words : list of lists of str
    rng : Generator
    """

    batch = 10

    def __init__(self, model: Any, words: list[list[str]], rng: np.random.Generator) -> None:
        self.model, self.rng, mask = model, rng, float(model.worth(_MASK))
        self.many = np.array([len(part) for part in words], np.int64)
        self.worths = np.zeros((len(words), int(self.many.max(initial=0))))  # beyond what the mask adds
        for line, part in enumerate(words):
            self.worths[line, : len(part)] = [model.worth(word) - mask for word in part]
        self.rest = model.intercept + mask * self.many
        self.labels: Array = model.label(self.rest + self.worths.sum(axis=1))

    def draw(self, lines: Ints, held: Bools, count: int) -> tuple[Bools, Bools]:
        """New draws for each line."""
        kept = (self.rng.random((len(lines), count, held.shape[1])) < 0.5) | held[:, None]
        sums = np.einsum("ijk,ik->ij", kept * 1.0, self.worths[lines]) + self.rest[lines, None]
        kept &= np.arange(held.shape[1]) < self.many[lines, None, None]
        return kept, self.model.label(sums) == self.labels[lines, None]


@dataclass(frozen=True, eq=False)
class ReleasedTextAnchors:
    """Explains a text by words that keep its prediction, or by no word at all, as the package does.

    Words are what blanks separate. Texts alike have draws of their own.

    Parameters
    ----------
    model : model
        As for `MaskedWords`.
    threshold : float
    seed : int
        With the texts of a call it decides what is drawn.
    """

    model: Any
    threshold: float
    seed: int = 0

    def __repr__(self) -> str:
        return f"ReleasedTextAnchors(threshold={self.threshold}, seed={self.seed})"

    def explain(self, X: Any, *, progress: Callable[[int, int], None] | None = None) -> fs.Highlights:
        """A set of words per text; the empty set if the first draws agree."""
        texts = to_documents(X)
        words = [text.split() for text in texts]
        draws = MaskedWords(self.model, words, _generator(self.seed, texts))
        anchors = zip(words, anchors_of(draws, self.threshold, progress), strict=True)
        return fs.Highlights([[own[at] for at in np.flatnonzero(held)] for own, held in anchors])
