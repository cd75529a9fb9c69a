"""How fast and how small `sufficiency` and `within` are, as ratios measured in one run on one machine.

    python benchmarks/sufficiency.py            # some minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/sufficiency.py --quick    # seconds, on small samples; nothing is judged
    python benchmarks/sufficiency.py --json results.json

1. Rules of four conditions against a loop over rules in NumPy that compares columns, ANDs the masks in place and
   counts labels. The loop runs over a few hundred rules, whose counts must equal ours, and its time is scaled to all
   of them. Beside it, for the record, a loop that keeps the mask of every condition. Ours is held against both twice:
   the counts alone, and the complete estimate with its jackknife interval; and at a middle size the estimate against
   a loop that keeps masks, over all rules. Also peak memory of a fresh process, beyond its imports and beyond the rows
   and labels; the rules themselves are included.
2. Highlights: seconds for documents with one word highlighted, and with all of them.
3. `within` against Quantus 0.6.0 ``Sufficiency`` with ``batch_size=n``. Quantus calls SciPy in a way that works for
   the standardised Euclidean distance only, so it gets that one and we get standardised vectors. It divides distances
   by their largest before it compares, asked or not; it is given the identity instead, which spares it that time.
4. Growth: the time for twice the rows, and for twice the rules.

Times are the best of a few runs in turns, so that a busy moment of the machine hits everybody; Quantus runs once.
"""

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations

import numpy as np

import faithscope as fs
from faithscope.counting.bits.bitmaps import over_batches
from faithscope.counting.blocks import Content
from faithscope.counting.numbered import number_rows
from faithscope.relations import to_relation
from faithscope.sample import Sample
from ratios import (
    FEATURES,
    Line,
    best_of,
    clock,
    faster,
    has_peak,
    in_fresh_process,
    is_missing,
    multiplying,
    peak_bytes,
    quantus_value,
    race,
    reading,
    run,
)
from ratios import growth as ratios_growth

COLUMNS, LABELS, WIDTH = 20, 7, 4  # of the rows; conditions of a rule
THRESHOLDS = np.linspace(-1.35, 1.35, 10)  # of every column, about its tenths; above or not: 400 conditions in all
TAU = 3.0  # about 1 pair in 100 of standard normal vectors is within it
ROOM = 200  # MB of memory beside the bitmaps


@dataclass(frozen=True)
class Sizes:
    """How many rows, rules and documents each part measures."""

    rows: int = 190_000
    rules: int = 20_000
    looped: int = 400  # rules that the loops run over
    middle_rows: int = 100_000
    middle_rules: int = 4_000
    documents: int = 10_000
    within: int = 20_000
    more_rows: tuple[int, ...] = (25_000, 50_000, 100_000, 200_000)
    with_rules: int = 5_000
    more_rules: tuple[int, ...] = (2_500, 5_000, 10_000, 20_000)
    with_rows: int = 100_000
    runs: int = 3


QUICK = Sizes(10_000, 1_000, 100, 5_000, 200, 1_000, 2_000, (2_500, 5_000), 500, (250, 500), 5_000, 2)


Condition = tuple[int, str, float]  # column, operator, threshold


@dataclass(frozen=True)
class Ruled:
    """Rows with labels, each given one of many rules; the first rows are given rule 0, 1, …"""

    X: np.ndarray
    labels: np.ndarray
    conditions: list[list[Condition]]  # of each rule
    given: np.ndarray

    def to_rules(self) -> fs.Rules:
        return fs.Rules.from_conditions([self.conditions[rule] for rule in self.given], range(COLUMNS))


def ruled(rows: int, rules: int) -> Ruled:
    """Rules that hold on a row each, as anchors do; further rows are given one that covers them, if tries find it."""
    random = np.random.default_rng(0)
    X = np.asfortranarray(random.standard_normal((rows, COLUMNS)))
    total = X[:, 0] + X[:, 1] + X[:, 2]
    labels = np.searchsorted(np.quantile(total, np.arange(1, LABELS) / LABELS), total)
    # Rules on the same columns have different thresholds, so that no two are equal.
    sets = random.permutation(list(combinations(range(COLUMNS), WIDTH)))
    turn, place = np.divmod(np.arange(rules), len(sets))
    number = random.integers(10**WIDTH, size=len(sets))[place] + 1237 * turn  # its digits choose the thresholds
    on, bound = sets[place], THRESHOLDS[number[:, None] // 10 ** np.arange(WIDTH) % 10]
    above = X[np.arange(rules)[:, None], on] > bound
    given = np.concatenate([np.arange(rules), random.integers(rules, size=rows - rules)])
    for _ in range(20):
        rule = given[rules:]
        holds = (X[np.arange(rules, rows)[:, None], on[rule]] > bound[rule]) == above[rule]
        missed = rules + np.flatnonzero(~holds.all(axis=1))
        given[missed] = random.integers(rules, size=len(missed))
    parts = zip(on.tolist(), np.where(above, ">", "<=").tolist(), bound.tolist(), strict=True)
    return Ruled(X, labels, [list(zip(*rule, strict=True)) for rule in parts], given)


def compare(X: np.ndarray, column: int, operator: str, threshold: float) -> np.ndarray:
    return X[:, column] > threshold if operator == ">" else X[:, column] <= threshold


def loop_over_rules(sample: Ruled, rules: int, holds: Callable[..., np.ndarray]) -> np.ndarray:
    """Whom the first rules cover, by label."""
    table = np.empty((rules, LABELS), np.int64)
    for rule, (first, second, *others) in enumerate(sample.conditions[:rules]):
        mask = holds(*first) & holds(*second)
        for condition in others:
            mask &= holds(*condition)
        table[rule] = np.bincount(sample.labels[mask], minlength=LABELS)
    return table


def our_counts(rules: fs.Rules, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Whom each rule covers, by label, by the steps of `cover`: `count_covered` pays for the interval as well."""
    relation = to_relation(None, rules)
    scopes, content = relation.scopes(rules), Content(labels, (rules,), X)
    sample = number_rows(Sample(rules, labels, X), scopes, sys.maxsize, content)
    layout, covers = sample.layout(), relation.cover(sample.distinct, rules, X)
    counts = over_batches(covers, layout, len(sample.distinct), sys.maxsize, lambda _, bits: layout.count(bits))
    return np.concatenate(list(counts))[:, :, 0]


def covered_by_label(rules: fs.Rules, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The same by the complete estimate."""
    counts = fs.sufficiency(rules, labels, X).counts
    table = np.zeros((counts.distinct, LABELS), np.int64)
    table[counts.explanation, counts.label] = counts.covered
    return table


def against_a_loop(sizes: Sizes) -> Iterator[Line]:
    sample, looped, total = ruled(sizes.rows, sizes.rules), sizes.looped, sizes.rules
    building, rules = clock(sample.to_rules)
    comparing = partial(compare, sample.X)
    work = {
        "loop": partial(loop_over_rules, sample, looped, comparing),
        "loop over kept masks": partial(loop_over_rules, sample, looped, cache(comparing)),
    }
    notes = {"counts": f"loops scaled from {looped} rules", "sufficiency": f"making the rules took {building:.1f} s"}
    if len(rules.distinct) != total:
        sys.exit("Not all rules differ, so the times mean nothing.")
    for ours, count in (("counts", our_counts), ("sufficiency", covered_by_label)):
        work[ours] = lambda count=count: count(rules, sample.X, sample.labels)[:looped]
    best = race(work, sizes.runs)
    whats = {"loop": "{} of {:,} rules, faster than a loop", "loop over kept masks": "  that keeps masks"}
    for ours, bar in (("counts", 15), ("sufficiency", 3)):
        for loop, what in whats.items():
            times = {"faithscope": best[ours], loop: best[loop] * total / looped}
            least, limit = bar if loop == "loop" else None, reading_bitmaps(total, sizes.rows)
            yield faster(what.format(ours, total), times, at_least=least, note=notes[ours], limit=limit)


def reading_bitmaps(rules: int, rows: int) -> dict[str, float]:
    """The limit of rules: the bitmaps of their conditions are read once per rule."""
    return reading(rules * WIDTH * rows / 8)


def at_a_middle_size(sizes: Sizes) -> Iterator[Line]:
    """All rules are looped over: the masks that the loop keeps cost it as much however many rules follow."""
    rules, rows, loop = sizes.middle_rules, sizes.middle_rows, "loop over kept masks"
    sample = ruled(rows, rules)
    work = {
        "faithscope": partial(covered_by_label, sample.to_rules(), sample.X, sample.labels),
        loop: lambda: loop_over_rules(sample, rules, cache(partial(compare, sample.X))),
    }
    what = f"sufficiency of {rules:,} rules x {rows:,} rows, faster than a {loop}"
    yield faster(what, race(work, sizes.runs), at_least=5, limit=reading_bitmaps(rules, rows))


def peak_beyond_rows(rows: int, rules: int) -> float:
    """MB at most held, beyond rows and labels, by making the rules and measuring their sufficiency."""
    before = peak_bytes()
    sample = ruled(rows, rules)
    fs.sufficiency(sample.to_rules(), sample.labels, sample.X)
    return (peak_bytes() - before - sample.X.nbytes - sample.labels.nbytes) / 1e6


def peak_of_within(n: int) -> float:
    """MB at most held by making vectors and measuring what is within a distance."""
    before = peak_bytes()
    fs.within(*standard_vectors(n)[1:], TAU)
    return (peak_bytes() - before) / 1e6


def memory(sizes: Sizes) -> Iterator[Line]:
    if not has_peak():
        return
    peak = in_fresh_process(peak_beyond_rows, sizes.rows, sizes.rules)
    bitmaps = COLUMNS * len(THRESHOLDS) * 2 * sizes.rows / 8 / 1e6
    note = f"{bitmaps:,.1f} MB of bitmaps and {ROOM} MB are allowed"
    yield Line(f"peak memory, {sizes.rules:,} rules", peak, "MB", at_most=bitmaps + ROOM, note=note)
    peak = in_fresh_process(peak_of_within, sizes.within)
    yield Line(f"peak memory, within, n = {sizes.within:,}", peak, "MB", at_most=1_000)


def documents(count: int) -> tuple[list[list[str]], np.ndarray]:
    """About 20 words per document, the r-th commonest with a chance proportional to 1/r, and one of two labels."""
    random, words = np.random.default_rng(0), 15_000
    chance = 1 / np.arange(1, words + 1)
    lengths = 1 + random.poisson(19, count)
    drawn = random.choice(words, size=lengths.sum(), p=chance / chance.sum())
    texts = [[f"w{word}" for word in part] for part in np.split(drawn, np.cumsum(lengths)[:-1])]
    return texts, np.array([part.sum() % 2 for part in np.split(drawn, np.cumsum(lengths)[:-1])])


def highlights(sizes: Sizes) -> Iterator[Line]:
    texts, labels = documents(sizes.documents)
    rare = [max(words, key=lambda word: int(word[1:])) for words in texts]
    for what, chosen in (("the rarest word", rare), ("all words", texts)):
        building, given = clock(lambda chosen=chosen: fs.Highlights(chosen))
        best = best_of(partial(fs.sufficiency, given, labels, texts), sizes.runs)
        note = f"{len(given.distinct):,} different; making them took {building:.2f} s"
        yield Line(f"{sizes.documents:,} documents, {what} highlighted", best, "s", at_most=1, note=note)


def standard_vectors(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors, the same standardised as Quantus standardises them, and one of three labels that depends on them."""
    values = np.random.default_rng(0).standard_normal((n, FEATURES)) * np.geomspace(0.02, 0.05, FEATURES)
    scaled = values / np.vstack([values, values]).std(axis=0, ddof=1)
    return values, scaled, np.digitize(scaled.sum(axis=1), [-2.0, 2.0])


def quantus_within(values: np.ndarray, labels: np.ndarray) -> Callable[[], float]:
    asked = {"threshold": TAU, "distance_func": "seuclidean", "abs": False, "normalise": False}
    make = partial(importlib.import_module("quantus").Sufficiency, **asked, disable_warnings=True)
    return quantus_value(partial(make, normalise_func=lambda distances: distances), values, labels)


def against_quantus(sizes: Sizes) -> Iterator[Line]:
    if is_missing("quantus"):
        return
    values, scaled, labels = standard_vectors(sizes.within)
    ours = {"faithscope": lambda: fs.within(scaled, labels, TAU).value}
    alone = race(ours, sizes.runs)
    best = race(ours | {"Quantus": quantus_within(values, labels)}, runs=1)
    best["faithscope"] = min(best["faithscope"], alone["faithscope"])
    pairs = sizes.within * (sizes.within + 1) / 2  # one of each two
    what, limit = f"within {TAU:g}, faster than Quantus, n = {sizes.within:,}", multiplying(2 * (FEATURES + 2) * pairs)
    yield faster(what, best, at_least=40, limit=limit)


def seconds_of(rows: int, rules: int, runs: int) -> float:
    sample = ruled(rows, rules)
    return best_of(partial(fs.sufficiency, sample.to_rules(), sample.labels, sample.X), runs)


def growth(sizes: Sizes) -> Iterator[Line]:
    rows = {n: seconds_of(n, sizes.with_rules, sizes.runs) for n in sizes.more_rows}
    yield from ratios_growth(rows, f"time for twice the rows, {sizes.with_rules:,} rules", 3)
    rules = {k: seconds_of(sizes.with_rows, k, sizes.runs) for k in sizes.more_rules}
    yield from ratios_growth(rules, f"time for twice the rules, {sizes.with_rows:,} rows", 3)


if __name__ == "__main__":
    every = (against_a_loop, at_a_middle_size, memory, highlights, against_quantus, growth)
    run(__doc__, ("faithscope", "numpy", "scipy", "quantus"), every, Sizes(), QUICK)
