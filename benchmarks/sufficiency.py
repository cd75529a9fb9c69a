"""How fast `sufficiency` and `within` are, as ratios measured in one run on one machine.

    python benchmarks/sufficiency.py            # some minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/sufficiency.py --quick    # seconds, on small samples; nothing is judged

1. Rules of four conditions against a loop over rules in NumPy that compares columns, ANDs the masks in place and
   counts labels. The loop runs over a few hundred rules, whose counts must equal ours, and its time is scaled to all
   of them. Ours is held against it twice: the counts alone, and the complete estimate with its jackknife interval.
2. `within` against Quantus 0.6.0 ``Sufficiency`` with ``batch_size=n``. Quantus calls SciPy in a way that works for
   the standardised Euclidean distance only, so it gets that one and we get standardised vectors. It divides distances
   by their largest before it compares, asked or not; it is given the identity instead, which spares it that time.

Times are the best of a few runs in turns, so that a busy moment of the machine hits everybody; Quantus runs once.
"""

import sys
from functools import partial

import numpy as np
from numpy.random import default_rng

import faithscope as fs
from faithscope.counting.cover import bitmaps, over_batches
from faithscope.counting.rows import Rows
from faithscope.relations import to_relation
from faithscope.sample import Sample
from limits import ruled, written
from ratios import (
    FEATURES,
    faster,
    is_missing,
    quantus_value,
    race,
    run,
)

LABELS, WIDTH = 7, 4  # of the rows; conditions of a rule
TAU = 3.0  # about 1 pair in 100 of standard normal vectors is within it


SIZES = {  # in full and quickly
    "rows": (190_000, 10_000),
    "rules": (20_000, 1_000),
    "looped": (400, 100),  # rules that the loops run over
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
    paint, count = bitmaps(covers, layout, []), lambda _, bits: layout.count(bits)
    counts = over_batches(covers, paint, layout, len(sample.distinct), sys.maxsize, count)
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
    every = (against_a_loop, against_quantus)
    run(__doc__, ("faithscope", "numpy", "scipy", "quantus"), every, SIZES)
