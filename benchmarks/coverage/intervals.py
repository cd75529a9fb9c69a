"""Every interval of consistency, sufficiency and within, and of differences, asked about one sample."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from harness import Answers, Line, ends, named, said
from systems import (
    COVERED,
    EQUAL_LABELS,
    EQUAL_LABELS_COVERED,
    GIVEN,
    HUBS,
    WITHIN,
    Chance,
    FinitePopulation,
    label_weights,
)

import faithscope as fs
from faithscope.counting.counts import count_rows
from faithscope.counting.coverage import cover
from faithscope.measures.comparing.differences import together
from faithscope.measures.comparing.paired import LeftOutEstimate, consistency_left_out, paired_difference
from faithscope.measures.comparing.populations import Difference, difference
from faithscope.measures.estimate import estimate
from faithscope.measures.intervals.local import clopper_pearson
from faithscope.measures.local import per_explanation, per_row
from faithscope.measures.scopes import per_row as per_covered_row
from faithscope.measures.scopes import per_scope
from faithscope.measures.sufficiency import coverage_estimate
from faithscope.readers import as_explanations
from faithscope.relations import Applies
from faithscope.sample import Sample
from faithscope.testing.scoped_systems import Hub, covers


def consistent(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """All intervals of consistency; and M̂, beside what the paper's theorem on its bias expects of it."""
    estimated = fs.consistency(*system.draw(n, rng))
    plain, wide = (estimate(estimated.counts, interval=method) for method in ("jackknife", "mcdiarmid"))
    return {
        "consistency": ends(estimated, system.truth),
        "consistency, jackknife": ends(plain, system.truth),
        "consistency, McDiarmid": ends(wide, system.truth),
        "M̂, and its expectation by the theorem": (estimated.value, estimated.value, system.expected(n), np.inf),
    }


def weighted(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """Weights that undo a sampling by label, and weights that have nothing to do with the rows."""
    explanations, labels = system.draw(n, rng)
    by_label = fs.consistency(explanations, labels, weights=label_weights(labels))
    by_chance = fs.consistency(explanations, labels, weights=rng.lognormal(0, 1, n))
    return {
        "consistency, weights by label": ends(by_label, system.target.truth),
        "consistency, weights by chance": ends(by_chance, system.truth),
    }


def certified(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """Lower bounds on the finest explainer from three granularities."""
    explanations, labels = system.draw(n, rng)
    given, family = explanations.astype(float)[:, None], [None, Merge(4), Merge(16)]
    methods = {"certify, McDiarmid": "mcdiarmid", "certify, jackknife": "jackknife"}
    bounds = {name: fs.certify(given, labels, family, interval=how).low for name, how in methods.items()}
    return {name: (low, 1.0, system.truth) for name, low in bounds.items()}


@dataclass(frozen=True)
class Merge:
    """A discretizer that merges so many neighboring numbers."""

    every: int

    def __call__(self, explanations: fs.Importances) -> fs.Importances:
        return fs.Importances(np.floor(explanations.values / self.every))


def paired(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """`compare`: explanations as they are less explanations merged in pairs, on the same rows."""
    explanations, labels = system.draw(n, rng)
    measured = [
        consistency_left_out("", fs.consistency(given, labels), Sample(as_explanations(given), labels))
        for given in (explanations, explanations // 2)
    ]
    gap = paired_difference(*measured, 0.95)
    return {"difference of two explainers, consistency": ends(gap, system.truth - system.coarser.truth)}


def populations(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """`ev.by`: n rows of one population less n/2 rows of a noisier one."""
    gap = difference(fs.consistency(*system.draw(n, rng)), fs.consistency(*system.noisier.draw(n // 2, rng)))
    return {"difference of two populations": ends(gap, system.truth - system.noisier.truth)}


def many_pairs(system: FinitePopulation, n: int, rng: Chance, groups: int = 8) -> Answers:
    """`ev.by(groups).differences()` of equal populations: whether all intervals hold 0."""
    estimates = [fs.consistency(*system.draw(n, rng)) for _ in range(groups)]
    pairs = [difference(a, b) for a, b in combinations(estimates, 2)]
    name = f"{len(pairs):,} pairs of populations"
    return {f"{name}, each alone": all_of(pairs), f"{name}, together": all_of(together(pairs))}


def all_of(pairs: list[Difference]) -> tuple[float, float, float]:
    """An interval of the pairs' mean width that holds 0 if all of theirs do, and else lies above it."""
    width = float(np.mean([pair.high - pair.low for pair in pairs]))
    start = width if any(pair.differ for pair in pairs) else -width / 2
    return start, start + width, 0.0


def windowed(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """30 windows without a change: whether fewer than five are marked, by reference, and whether none is, together."""
    drawn = [system.draw(n, rng) for _ in range(30)]
    windows = [fs.consistency(*rows) for rows in drawn]
    longer = fs.consistency(*(np.concatenate(parts) for parts in zip(*drawn[:5], strict=True)))
    first = [difference(window, windows[0]) for window in windows[1:]]
    references = {"first window": first, "first 5 windows": [difference(window, longer) for window in windows[5:]]}
    few = {name: sum(change.differ for change in changes) < 5 for name, changes in references.items()}
    told = {f"fewer than 5 marked, {name}": said(held) for name, held in few.items()}
    return told | {"29 windows from the first, together": all_of(together(first))}


def local(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """Exact intervals: `ev.local()` for every row, `ev.table()` for every explanation."""
    explanations, labels = system.draw(n, rng)
    sample = Sample(as_explanations(explanations), labels)
    counts = count_rows(sample)
    rows, table = per_row(counts, sample, 0.95), per_explanation(counts, 0.95)
    kinds = np.array([int(float(name)) for name in table["explanation"]])
    share = system.q[kinds, table["label"].astype(int)]
    own = system.q[explanations, labels]
    return {
        "local consistency, a row": (rows["consistency_low"], rows["consistency_high"], own),
        "purity, an explanation": (table["purity_low"], table["purity_high"], share),
        "purity, as if the label were named first": (*named_first(table["purity"], table["n"]), share),
    }


def named_first(share: Any, rows: Any) -> tuple[Any, Any]:
    """Clopper and Pearson's interval, which is exact for a label that was named before looking."""
    return clopper_pearson(np.round(share * rows).astype(np.int64), rows, 0.95)


def sampled(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """`sample_until` of the commonest label: enough rows, or what n rows have."""
    found = fs.sample_until([system.draw(n, rng)], 0, epsilon=0.1, budget=n, confidence=0.95)
    return {"sample_until, commonest label": ends(found, system.q[0, found.prediction])}


def sufficient(system: Any, n: int, rng: Chance) -> Answers:
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
        "M̂, and its expectation by the theorem": (estimate.value, estimate.value, system.expected(n), np.inf),
    }


def weighted_sufficient(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """Sufficiency with weights that undo a sampling by label."""
    kinds, labels = system.draw(n, rng)
    estimate = fs.sufficiency(**system.ruled(kinds), predictions=labels, weights=label_weights(labels))
    return {"sufficiency, weights by label": ends(estimate, system.target.truth)}


def paired_sufficient(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """`compare`: a system's rules less rules that reach four kinds to either side, on the same rows."""
    kinds, labels = system.draw(n, rng)
    measured = []
    for rules in (system, system.other):
        rows = rules.ruled(kinds)
        coverage = cover(Sample(rows["explanations"], labels, rows["X"]), Applies())
        measured.append(LeftOutEstimate("", coverage_estimate(coverage, "sufficiency", 0.95), coverage.left_out))
    gap = paired_difference(*measured, 0.95)
    return {"difference of two explainers, sufficiency": ends(gap, system.truth - system.other.truth)}


def locally_sufficient(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """Exact intervals: `ev.local()` for every row, `ev.scopes()` for every rule."""
    kinds, labels = system.draw(n, rng)
    rows, relation = system.ruled(kinds), Applies()
    sample = Sample(rows["explanations"], labels, rows["X"])
    coverage = cover(sample, relation, interval=False)
    each = per_covered_row(coverage, labels, 0.95)
    scopes = per_scope(coverage, sample, relation, 0.95)
    order = {coverage.counts.explanations.describe(k): k for k in range(coverage.counts.distinct)}
    example = kinds[np.unique(coverage.codes, return_index=True)[1]]  # a row that was given each rule
    which = example[[order[text] for text in scopes["explanation"]]]
    shares = system.covered_shares
    share, covered = shares[which, scopes["label"].astype(int)], np.round(scopes["coverage"] * n).astype(np.int64)
    first = named_first(np.nan_to_num(scopes["precision"]), covered)
    return {
        "local sufficiency, a row": (each["sufficiency_low"], each["sufficiency_high"], shares[kinds, labels]),
        "precision, a rule": (scopes["precision_low"], scopes["precision_high"], share),
        "precision, as if the label were named first": (*first, share),
    }


def within_distance(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """`within`: explanations on a line, close ones counted as the same."""
    kinds, labels = system.draw(n, rng)
    return {"within": ends(fs.within(kinds[:, None].astype(float), labels, system.reach + 0.5), system.truth)}


ROWS = (50, 200, 1_000, 5_000)
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


def lines() -> Iterator[Line]:
    """The study of all intervals."""
    for ask, systems, times, most, many in ASKED:
        rows = tuple(n for n in ROWS if n <= most)
        often = {n: times if n <= 1_000 else many for n in rows}
        yield Line("intervals", ask.__name__, ask, systems, rows, often, named(ask.__name__))
