"""Every interval of consistency, sufficiency and within, and of differences, asked about one sample."""

from itertools import combinations

import numpy as np
from harness import Line, columns_of, ends, none, said
from systems import COVERED, EQUAL_LABELS, EQUAL_LABELS_COVERED, GIVEN, HUBS, WITHIN, Hub, covers, label_weights

import faithscope as fs
from faithscope.counting.coverage import cover
from faithscope.measures.comparing.differences import together
from faithscope.measures.comparing.populations import difference
from faithscope.measures.estimate import estimate
from faithscope.measures.intervals.local import clopper_pearson
from faithscope.measures.sufficiency import coverage_estimate
from faithscope.relations import Applies
from faithscope.sample import Sample

THEOREM = "M̂, and its expectation by the theorem"


def consistent(system, n, rng):
    """All intervals of consistency; and M̂, beside what the paper's theorem on its bias expects of it."""
    estimated = fs.consistency(*system.draw(n, rng))
    plain, wide = (estimate(estimated.counts, interval=method) for method in ("jackknife", "proven"))
    return {
        "consistency": ends(estimated, system.truth),
        "consistency, jackknife": ends(plain, system.truth),
        "consistency, proven": ends(wide, system.truth),
        THEOREM: (estimated.value, estimated.value, system.expected(n), np.inf),
    }


def weighted(system, n, rng):
    """Weights that undo a sampling by label, and weights that have nothing to do with the rows."""
    explanations, labels = system.draw(n, rng)
    by_label = fs.consistency(explanations, labels, weights=label_weights(labels))
    by_chance = fs.consistency(explanations, labels, weights=rng.lognormal(0, 1, n))
    return {
        "consistency, weights by label": ends(by_label, system.target.truth),
        "consistency, weights by chance": ends(by_chance, system.truth),
    }


def merged(every):
    """A discretizer that merges so many neighboring numbers."""
    return lambda explanations: fs.Importances(np.floor(explanations.values / every))


def certified(system, n, rng):
    """Lower bounds on the finest explainer from three granularities."""
    explanations, labels = system.draw(n, rng)
    given, family = explanations.astype(float)[:, None], [None, merged(4), merged(16)]
    methods = {"certify, proven": "proven", "certify": None}
    return {
        name: (fs.certify(given, labels, family, interval=how).low, 1.0, system.truth) for name, how in methods.items()
    }


def paired(system, n, rng):
    """`compare`: explanations as they are less explanations merged in pairs, on the same rows."""
    explanations, labels = system.draw(n, rng)
    gap = fs.compare(labels, {"a": explanations, "b": explanations // 2}, np.arange(n)).pairs[0]
    return {"difference of two explainers, consistency": ends(gap, system.truth - system.coarser.truth)}


def populations(system, n, rng):
    """`ev.by`: n rows of one population less n/2 rows of a noisier one."""
    gap = difference(fs.consistency(*system.draw(n, rng)), fs.consistency(*system.noisier.draw(n // 2, rng)))
    return {"difference of two populations": ends(gap, system.truth - system.noisier.truth)}


def many_pairs(system, n, rng, groups=8):
    """`ev.by(groups).differences()` of equal populations: whether all intervals hold 0."""
    estimates = [fs.consistency(*system.draw(n, rng)) for _ in range(groups)]
    pairs = [difference(a, b) for a, b in combinations(estimates, 2)]
    name = f"{len(pairs):,} pairs of populations"
    return {f"{name}, each alone": all_of(pairs), f"{name}, together": all_of(together(pairs))}


def all_of(pairs):
    """An interval of the pairs' mean width that holds 0 if all of theirs do, and else lies above it."""
    width = float(np.mean([pair.high - pair.low for pair in pairs]))
    start = width if any(pair.differ for pair in pairs) else -width / 2
    return start, start + width, 0.0


def windowed(system, n, rng):
    """30 windows without a change: whether fewer than five are marked, by reference, and whether none is, together."""
    drawn = [system.draw(n, rng) for _ in range(30)]
    windows = [fs.consistency(*rows) for rows in drawn]
    longer = fs.consistency(*np.concatenate(drawn[:5], axis=1))
    first = [difference(window, windows[0]) for window in windows[1:]]
    references = {"first window": first, "first 5 windows": [difference(window, longer) for window in windows[5:]]}
    told = {
        f"fewer than 5 marked, {name}": said(sum(change.differ for change in changes) < 5)
        for name, changes in references.items()
    }
    return told | {"29 windows from the first, together": all_of(together(first))}


def local(system, n, rng):
    """Exact intervals: `ev.local()` for every row, `ev.table()` for every explanation."""
    explanations, labels = system.draw(n, rng)
    evaluation = fs.evaluate(labels.astype(str), explanations, np.arange(n))
    rows, table = evaluation.local(), evaluation.table()
    share = system.q[table["explanation"].astype(float).astype(int), table["label"].astype(int)]
    return {
        "local consistency, a row": (*columns_of(rows, "consistency"), system.q[explanations, labels]),
        "purity, an explanation": (*columns_of(table, "purity"), share),
        "purity, as if the label were named first": (*named_first(table["purity"], table["n"]), share),
    }


def named_first(share, rows):
    """Clopper and Pearson's interval, which is exact for a label that was named before looking."""
    rows = np.asarray(rows)
    return clopper_pearson(np.round(share * rows).to_numpy(np.int64), rows, 0.95)


def sampled(system, n, rng):
    """`sample_until` of the commonest label: enough rows, or what n rows have."""
    kinds, labels = system.draw(n, rng)
    found = fs.sample_until([(kinds, labels.astype(str))], 0, epsilon=0.1, budget=n, confidence=0.95)
    return {"sample_until, commonest label": ends(found, system.q[0, int(found.prediction)])}


def sufficient(system, n, rng):
    """Sufficiency, every row left out or blocks of rows; and M̂ for its bias."""
    kinds, labels = system.draw(n, rng)
    if isinstance(system, Hub):
        estimate = fs.sufficiency(kinds, labels, kinds[:, None], relation=covers)
        return {"sufficiency, jackknife": ends(estimate, system.truth)}
    rows = system.ruled(kinds)
    estimate = fs.sufficiency(**rows, predictions=labels)
    sample = Sample(rows["explanations"], labels, rows["X"])
    blocks = coverage_estimate(cover(sample, Applies(), exact=0), "sufficiency", 0.95)
    return {
        "sufficiency, jackknife": ends(estimate, system.truth),
        "sufficiency, jackknife by blocks": ends(blocks, system.truth),
        THEOREM: (estimate.value, estimate.value, system.expected(n), np.inf),
    }


def weighted_sufficient(system, n, rng):
    """Sufficiency with weights that undo a sampling by label."""
    kinds, labels = system.draw(n, rng)
    estimate = fs.sufficiency(**system.ruled(kinds), predictions=labels, weights=label_weights(labels))
    return {"sufficiency, weights by label": ends(estimate, system.target.truth)}


def paired_sufficient(system, n, rng):
    """`compare`: a system's rules less rules that reach four kinds to either side, on the same rows."""
    kinds, labels = system.draw(n, rng)
    rows, others = (each.ruled(kinds) for each in (system, system.other))
    gap = fs.compare(labels, {"a": rows["explanations"], "b": others["explanations"]}, rows["X"]).pairs[1]
    return {f"difference of two explainers, {gap.measure}": ends(gap, system.truth - system.other.truth)}


def locally_sufficient(system, n, rng):
    """Exact intervals: `ev.local()` for every row, `ev.scopes()` for every rule."""
    kinds, labels = system.draw(n, rng)
    evaluation = fs.evaluate(labels.astype(str), *system.ruled(kinds).values())
    rows, scopes, shares = evaluation.local(), evaluation.scopes(), system.among(system.q)
    kind = {system.rules.describe(each): each for each in range(len(system.p))}  # one of those with this rule
    share = shares[scopes["explanation"].map(kind), scopes["label"].astype(int)]
    first = named_first(scopes["precision"].fillna(0), np.round(scopes["coverage"] * n).astype(int))
    return {
        "local sufficiency, a row": (*columns_of(rows, "sufficiency"), shares[kinds, labels]),
        "precision, a rule": (*columns_of(scopes, "precision"), share),
        "precision, as if the label were named first": (*first, share),
    }


def within_distance(system, n, rng):
    """`within`: explanations on a line, close ones counted as the same."""
    kinds, labels = system.draw(n, rng)
    return {"within": ends(fs.within(**system.placed(kinds), predictions=labels), system.truth)}


FEW = {name: GIVEN[name] for name in ("4 explanations", "5% contradictions", "three labels")}
ASKED = (  # what, systems, times, most rows, and times with thousands of rows where that is slow
    (consistent, GIVEN, 2_000, 5_000, 2_000),
    (weighted, GIVEN, 1_000, 5_000, 1_000),
    (certified, GIVEN, 400, 5_000, 400),
    (paired, GIVEN, 1_000, 5_000, 1_000),
    (populations, GIVEN, 1_000, 5_000, 1_000),
    (many_pairs, FEW, 300, 1_000, 300),
    (windowed, FEW, 300, 200, 300),
    (local, GIVEN, 100, 5_000, 100),
    (local, EQUAL_LABELS, 1_000, 5_000, 1_000),
    (sampled, EQUAL_LABELS, 1_000, 5_000, 1_000),
    (sufficient, COVERED, 400, 5_000, 200),
    (sufficient, HUBS, 400, 1_000, 400),
    (weighted_sufficient, COVERED, 300, 5_000, 100),
    (paired_sufficient, COVERED, 300, 5_000, 100),
    (locally_sufficient, COVERED, 50, 5_000, 25),
    (locally_sufficient, EQUAL_LABELS_COVERED, 1_000, 5_000, 400),
    (within_distance, WITHIN, 300, 1_000, 300),
)


def lines():
    """The study of all intervals."""
    for ask, systems, times, most, many in ASKED:
        often = {n: times if n <= 1_000 else many for n in (50, 200, 1_000, 5_000) if n <= most}
        yield Line(f"intervals/{ask.__name__}", ask, systems, often, bar=none)
