"""How fast and how small `sufficiency` and `within` are, as ratios measured in one run on one machine.

    python benchmarks/sufficiency.py            # some minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/sufficiency.py --quick    # seconds, on small samples; nothing is judged

1. Rules of four conditions against a loop over rules in NumPy that compares columns, ANDs the masks in place and
   counts labels. The loop runs over a few hundred rules, whose counts must equal ours, and its time is scaled to all
   of them. Ours is held against it twice: the counts alone, and the complete estimate with its jackknife interval; and
   at a middle size the estimate against a loop that keeps the mask of every condition, over all rules. Also peak memory
   of a fresh process, beyond its imports and beyond the rows and labels; the rules themselves are included.
2. Highlights: seconds for documents of 20 words with one of them highlighted.
3. Importances by the features that they name (`Alike`), beside both baselines: seconds with all intervals.
4. `within` against Quantus 0.6.0 ``Sufficiency`` with ``batch_size=n``. Quantus calls SciPy in a way that works for
   the standardised Euclidean distance only, so it gets that one and we get standardised vectors. It divides distances
   by their largest before it compares, asked or not; it is given the identity instead, which spares it that time.

Times are the best of a few runs in turns, so that a busy moment of the machine hits everybody; Quantus runs once.
"""

import sys
from functools import cache, partial

import numpy as np
from numpy.random import default_rng

import faithscope as fs
from faithscope.counting.cover import over_batches
from faithscope.counting.rows import Rows
from faithscope.relations import to_relation
from faithscope.sample import Sample
from limits import COLUMNS, THRESHOLDS, highlighted, ruled, written
from ratios import (
    FEATURES,
    Line,
    best_of,
    faster,
    has_peak,
    in_fresh_process,
    is_missing,
    peak_bytes,
    quantus_value,
    race,
    run,
)

LABELS, WIDTH = 7, 4  # of the rows; conditions of a rule
TAU = 3.0  # about 1 pair in 100 of standard normal vectors is within it
ROOM = 200  # MB of memory beside the bitmaps


SIZES = {  # in full and quickly
    "rows": (190_000, 10_000),
    "rules": (20_000, 1_000),
    "looped": (400, 100),  # rules that the loops run over
    "middle": ((100_000, 4_000), (5_000, 200)),  # rows and rules
    "documents": (10_000, 1_000),
    "named": (100_000, 10_000),
    "within": (20_000, 2_000),
    "runs": (3, 2),
}


def given_rules(rows, rules):
    """Rows, labels, the conditions of each rule, and those that each row is given."""
    X, labels, conditions, given = ruled(rows, rules, WIDTH)
    return X, labels, conditions, [conditions[rule] for rule in given]


def compare(X, column, operator, threshold):
    return X[:, column] > threshold if operator == ">" else X[:, column] <= threshold


def loop_over_rules(labels, conditions, holds):
    """Whom each rule covers, by label."""
    table = np.empty((len(conditions), LABELS), np.int64)
    for rule, (first, second, *others) in enumerate(conditions):
        mask = holds(*first) & holds(*second)
        for condition in others:
            mask &= holds(*condition)
        table[rule] = np.bincount(labels[mask], minlength=LABELS)
    return table


def our_counts(rules, labels, X):
    """Whom each rule covers, by label, by the steps of `cover`, which pays for the interval as well."""
    relation = to_relation(None, rules)
    sample = Rows(Sample(rules, labels, X), relation, sys.maxsize)
    layout, covers = sample.layout(), relation.cover(sample.distinct, rules, X)
    counts = over_batches(covers, layout, len(sample.distinct), sys.maxsize, lambda _, bits: layout.count(bits))
    return np.concatenate(list(counts))[:, :, 0]


def covered_by_label(rules, labels, X):
    """The same by the complete estimate."""
    counts = fs.sufficiency(rules, labels, X).counts
    table = np.zeros((counts.distinct, LABELS), np.int64)
    table[counts.explanation, counts.label] = counts.covered
    return table


def against_a_loop(sizes):
    looped, total = sizes.looped, sizes.rules
    X, labels, conditions, given = given_rules(sizes.rows, total)
    rules = written(given)
    if len(rules.distinct) != total:
        sys.exit("Not all rules differ, so the times mean nothing.")
    work = {
        "counts": lambda: our_counts(rules, labels, X)[:looped],
        "sufficiency": lambda: covered_by_label(rules, labels, X)[:looped],
        "loop": partial(loop_over_rules, labels, conditions[:looped], partial(compare, X)),
    }
    best = race(work, sizes.runs)
    for ours, bar in (("counts", 15), ("sufficiency", 3)):
        times = {"faithscope": best[ours], "loop": best["loop"] * total / looped}
        what, note = f"{ours} of {total:,} rules, faster than a loop", f"loop scaled from {looped} rules"
        yield faster(what, times, at_least=bar, note=note)


def at_a_middle_size(sizes):
    """All rules are looped over: the masks that the loop keeps cost it as much however many rules follow."""
    rows, rules = sizes.middle
    X, labels, conditions, given = given_rules(rows, rules)
    work = {
        "faithscope": partial(covered_by_label, written(given), labels, X),
        "loop over kept masks": lambda: loop_over_rules(labels, conditions, cache(partial(compare, X))),
    }
    what = f"sufficiency of {rules:,} rules x {rows:,} rows, faster than a loop over kept masks"
    yield faster(what, race(work, sizes.runs), at_least=5)


def peak_beyond_rows(rows, rules):
    """MB at most held, beyond rows and labels, by making the rules and measuring their sufficiency."""
    before = peak_bytes()
    X, labels, _, given = given_rules(rows, rules)
    fs.sufficiency(written(given), labels, X)
    return (peak_bytes() - before - X.nbytes - labels.nbytes) / 1e6


def peak_of_within(n):
    """MB at most held by making vectors and measuring what is within a distance."""
    before = peak_bytes()
    fs.within(*standard_vectors(n)[1:], TAU)
    return (peak_bytes() - before) / 1e6


def memory(sizes):
    if not has_peak():
        return
    peak = in_fresh_process(peak_beyond_rows, sizes.rows, sizes.rules)
    bitmaps = COLUMNS * len(THRESHOLDS) * 2 * sizes.rows / 8 / 1e6
    note = f"{bitmaps:,.1f} MB of bitmaps and {ROOM} MB are allowed"
    yield Line(f"peak memory, {sizes.rules:,} rules", peak, "MB", at_most=bitmaps + ROOM, note=note)
    peak = in_fresh_process(peak_of_within, sizes.within)
    yield Line(f"peak memory, within, n = {sizes.within:,}", peak, "MB", at_most=1_000)


def highlights(sizes):
    work = highlighted(sizes.documents, 15_000)
    best = best_of(work, sizes.runs)
    yield Line(f"{sizes.documents:,} documents, a word highlighted", best, "s", at_most=1)


def named_features(sizes):
    """Three features a row of a linear model, and as many at random, and the same three for everybody."""
    X = default_rng(0).standard_normal((sizes.named, COLUMNS))
    importances = X * np.linspace(3, 0.1, COLUMNS)
    labels = (importances.sum(axis=1) > 0).astype(int)
    best = best_of(lambda: fs.sufficiency(importances, labels, X, relation=fs.Alike()), sizes.runs)
    yield Line(f"{sizes.named:,} rows x {COLUMNS} importances, by Alike", best, "s", at_most=3)


def standard_vectors(n):
    """Vectors, the same standardised as Quantus standardises them, and one of three labels that depends on them."""
    values = default_rng(0).standard_normal((n, FEATURES)) * np.geomspace(0.02, 0.05, FEATURES)
    scaled = values / np.vstack([values, values]).std(axis=0, ddof=1)
    return values, scaled, np.digitize(scaled.sum(axis=1), [-2.0, 2.0])


def quantus_within(values, labels):
    from quantus import Sufficiency

    asked = {"threshold": TAU, "distance_func": "seuclidean", "abs": False, "normalise": False}
    make = partial(Sufficiency, **asked, disable_warnings=True)
    return quantus_value(partial(make, normalise_func=lambda distances: distances), values, labels)


def against_quantus(sizes):
    if is_missing("quantus"):
        return
    values, scaled, labels = standard_vectors(sizes.within)
    ours = {"faithscope": lambda: fs.within(scaled, labels, TAU).value}
    alone = race(ours, sizes.runs)
    best = race(ours | {"Quantus": quantus_within(values, labels)}, runs=1)
    best["faithscope"] = min(best["faithscope"], alone["faithscope"])
    yield faster(f"within {TAU:g}, faster than Quantus, n = {sizes.within:,}", best, at_least=40)


if __name__ == "__main__":
    every = (against_a_loop, at_a_middle_size, memory, highlights, named_features, against_quantus)
    run(__doc__, ("faithscope", "numpy", "scipy", "quantus"), every, SIZES)
