"""Every interval that faithscope offers, asked about one drawn sample whose truth is known.

A trial is a function ``(system, n, rng)`` that draws n rows and gives, by the interval's name, its two limits and the
truth; arrays where a sample gets many intervals, such as one per row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

import faithscope as fs
from coverage_systems import (
    COVERED,
    EQUAL_LABELS,
    EQUAL_LABELS_COVERED,
    GIVEN,
    HUB_COVERS,
    HUBS,
    SimulatedSystem,
    Windows,
    label_weights,
)
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
from faithscope.testing.scoped_systems import Hub

Answer = tuple[Any, Any, Any]  # low, high, truth
Trial = Callable[[Any, int, np.random.Generator], dict[str, Answer]]


@dataclass(frozen=True)
class Study:
    """One or several intervals over some systems: the trial, how often it is made, and with how many rows at most."""

    trial: Trial
    systems: dict[str, Any]
    times: int
    most: int = 5_000
    few: int = 0  # how often it is made with thousands of rows, where that is slow

    def times_at(self, n: int) -> int:
        return self.few if self.few and n > 1_000 else self.times


def answer(result: Any, truth: float) -> Answer:
    return result.low, result.high, truth


def consistent(system: SimulatedSystem, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """All intervals of consistency; and M̂, as an interval without width, for its bias."""
    estimated = fs.consistency(*system.draw(n, rng))
    plain, wide = (estimate(estimated.counts, interval=method) for method in ("jackknife", "mcdiarmid"))
    return {
        "consistency": answer(estimated, system.truth),
        "consistency, jackknife": answer(plain, system.truth),
        "consistency, McDiarmid": answer(wide, system.truth),
        "M̂": (estimated.value, estimated.value, system.truth),
    }


def weighted(system: SimulatedSystem, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """Weights that undo a sampling by label, and weights that have nothing to do with the rows."""
    explanations, labels = system.draw(n, rng)
    by_label = fs.consistency(explanations, labels, weights=label_weights(labels))
    by_chance = fs.consistency(explanations, labels, weights=rng.lognormal(0, 1, n))
    return {
        "consistency, weights by label": answer(by_label, system.target.truth),
        "consistency, weights by chance": answer(by_chance, system.truth),
    }


def certified(system: SimulatedSystem, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """Lower bounds on the finest explainer from three granularities."""
    explanations, labels = system.draw(n, rng)
    family = [None, *(_Merge(every) for every in (4, 16))]
    given = explanations.astype(float)[:, None]
    bounds = {how: fs.certify(given, labels, family, interval=how).low for how in ("mcdiarmid", "jackknife")}
    names = {"mcdiarmid": "certify, McDiarmid", "jackknife": "certify, jackknife"}
    return {names[how]: (low, 1.0, system.truth) for how, low in bounds.items()}


@dataclass(frozen=True)
class _Merge:
    """A discretizer that merges so many neighboring numbers."""

    every: int

    def __call__(self, explanations: fs.Importances) -> fs.Importances:
        return fs.Importances(np.floor(explanations.values / self.every))


def paired(system: SimulatedSystem, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """`compare`: explanations as they are less explanations merged in pairs, on the same rows."""
    explanations, labels = system.draw(n, rng)
    measured = []
    for given in (explanations, explanations // 2):
        estimate, kept = fs.consistency(given, labels), as_explanations(given)
        measured.append(consistency_left_out("", estimate, Sample(kept, labels)))
    truth = system.truth - system.coarser.truth
    return {"difference of two explainers, consistency": answer(paired_difference(*measured, 0.95), truth)}


def populations(system: SimulatedSystem, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """`ev.by`: n rows of one population less n/2 rows of a noisier one."""
    gap = difference(fs.consistency(*system.draw(n, rng)), fs.consistency(*system.noisier.draw(n // 2, rng)))
    return {"difference of two populations": answer(gap, system.truth - system.noisier.truth)}


def many_pairs(system: SimulatedSystem, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """`ev.by(groups).differences()` of eight equal populations: whether all 28 intervals hold 0."""
    estimates = [fs.consistency(*system.draw(n, rng)) for _ in range(8)]
    pairs = [difference(a, b) for a, b in combinations(estimates, 2)]
    families = {"28 pairs of populations, each alone": pairs, "28 pairs of populations, together": together(pairs)}
    return {name: all_of(family) for name, family in families.items()}


def all_of(pairs: list[Difference]) -> Answer:
    """An interval of the pairs' mean width that holds 0 if all of theirs do, and else lies above it."""
    width = float(np.mean([pair.high - pair.low for pair in pairs]))
    start = width if any(pair.differ for pair in pairs) else -width / 2
    return start, start + width, 0.0


def windowed(system: SimulatedSystem, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """30 windows without a change: whether fewer than five are marked, by reference, and whether none is, together."""
    drawn = [system.draw(n, rng) for _ in range(30)]
    windows = [fs.consistency(*rows) for rows in drawn]
    longer = fs.consistency(*(np.concatenate(parts) for parts in zip(*drawn[:5], strict=True)))
    first = [difference(window, windows[0]) for window in windows[1:]]
    references = {"first window": first, "first 5 windows": [difference(window, longer) for window in windows[5:]]}
    few = {name: sum(change.differ for change in changes) < 5 for name, changes in references.items()}
    told: dict[str, Answer] = {f"fewer than 5 marked, {name}": (1 - held, 1, 0) for name, held in few.items()}
    return told | {"29 windows from the first, together": all_of(together(first))}


def local(system: SimulatedSystem, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """Exact intervals: `ev.local()` for every row, `ev.table()` for every explanation."""
    explanations, labels = system.draw(n, rng)
    sample = Sample(as_explanations(explanations), labels)
    counts = count_rows(sample)
    rows = per_row(counts, sample, 0.95)
    table = per_explanation(counts, 0.95)
    named = np.array([int(float(name)) for name in table["explanation"]])
    share = system.q[named, table["label"].astype(int)]
    return {
        "local consistency, a row": (
            rows["consistency_low"],
            rows["consistency_high"],
            system.q[explanations, labels],
        ),
        "purity, an explanation": (table["purity_low"], table["purity_high"], share),
        "purity, as if the label were named first": (*_named_first(table["purity"], table["n"]), share),
    }


def _named_first(share: Any, rows: Any) -> tuple[Any, Any]:
    """Clopper and Pearson's interval, which is exact for a label that was named before looking."""
    return clopper_pearson(np.round(share * rows).astype(np.int64), rows, 0.95)


def sampled(system: SimulatedSystem, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """`sample_until` of the commonest label: enough rows, or what n rows have."""
    found = fs.sample_until([system.draw(n, rng)], 0, epsilon=0.1, budget=n, confidence=0.95)
    return {"sample_until, commonest label": answer(found, system.q[0, found.prediction])}


def sufficient(system: Windows | Hub, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """Sufficiency, every row left out or blocks of rows; and M̂ for its bias."""
    if isinstance(system, Hub):
        places, labels = system.draw(n, rng)
        estimate = fs.sufficiency(places, labels, places[:, None], relation=HUB_COVERS)
        return {"sufficiency, jackknife": answer(estimate, system.truth)}
    points, labels = system.draw(n, rng)
    rules, X = system.rules(points), points[:, None].astype(float)
    estimate = fs.sufficiency(rules, labels, X)
    blocks = coverage_estimate(cover(Sample(rules, labels, X), Applies(), exact=0), "sufficiency", 0.95)
    return {
        "sufficiency, jackknife": answer(estimate, system.truth),
        "sufficiency, jackknife by blocks": answer(blocks, system.truth),
        "M̂": (estimate.value, estimate.value, system.truth),
    }


def weighted_sufficient(system: Windows, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """Sufficiency with weights that undo a sampling by label."""
    points, labels = system.draw(n, rng)
    X, weights = points[:, None].astype(float), label_weights(labels)
    estimate = fs.sufficiency(system.rules(points), labels, X, weights=weights)
    return {"sufficiency, weights by label": answer(estimate, system.target.truth)}


def paired_sufficient(system: Windows, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """`compare`: a system's rules less rules that reach four points to either side, on the same rows."""
    points, labels = system.draw(n, rng)
    X, measured = points[:, None].astype(float), []
    for windows in (system, system.other):
        coverage = cover(Sample(windows.rules(points), labels, X), Applies())
        measured.append(LeftOutEstimate("", coverage_estimate(coverage, "sufficiency", 0.95), coverage.left_out))
    gap = paired_difference(*measured, 0.95)
    return {"difference of two explainers, sufficiency": answer(gap, system.truth - system.other.truth)}


def locally_sufficient(system: Windows, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """Exact intervals: `ev.local()` for every row, `ev.scopes()` for every rule."""
    points, labels = system.draw(n, rng)
    X = points[:, None].astype(float)
    sample, relation = Sample(system.rules(points), labels, X), Applies()
    coverage = cover(sample, relation, interval=False)
    rows = per_covered_row(coverage, labels, 0.95)
    shares = system.covered_shares
    scopes = per_scope(coverage, sample, relation, 0.95)
    order = {coverage.counts.explanations.describe(k): k for k in range(coverage.counts.distinct)}
    example = points[np.unique(coverage.codes, return_index=True)[1]]  # a row that was given each rule
    which = example[[order[text] for text in scopes["explanation"]]]
    return {
        "local sufficiency, a row": (rows["sufficiency_low"], rows["sufficiency_high"], shares[points, labels]),
        "precision, a rule": (
            scopes["precision_low"],
            scopes["precision_high"],
            shares[which, scopes["label"].astype(int)],
        ),
        "precision, as if the label were named first": (
            *_named_first(np.nan_to_num(scopes["precision"]), _covered(scopes, n)),
            shares[which, scopes["label"].astype(int)],
        ),
    }


def _covered(scopes: dict[str, Any], n: int) -> Any:
    """How many rows each rule covers."""
    return np.round(scopes["coverage"] * n).astype(np.int64)


def within_distance(system: Windows, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """`within`: explanations on a line, close ones counted as the same."""
    points, labels = system.draw(n, rng)
    estimate = fs.within(points[:, None].astype(float), labels, system.half + 0.5)
    return {"within": answer(estimate, system.truth)}


FEW = {name: GIVEN[name] for name in ("4 explanations", "5% contradictions", "three labels")}
WITHIN = {name: system for name, system in COVERED.items() if system.half is not None}
STUDIES = (
    Study(consistent, GIVEN, 2_000),
    Study(weighted, GIVEN, 1_000),
    Study(certified, GIVEN, 400),
    Study(paired, GIVEN, 1_000),
    Study(populations, GIVEN, 1_000),
    Study(many_pairs, FEW, 300, 1_000),
    Study(windowed, FEW, 300, 200),
    Study(local, GIVEN, 100),
    Study(local, EQUAL_LABELS, 1_000),
    Study(sampled, EQUAL_LABELS, 1_000),
    Study(sufficient, COVERED, 400, few=200),
    Study(sufficient, HUBS, 400, 1_000),
    Study(weighted_sufficient, COVERED, 300, few=100),
    Study(paired_sufficient, COVERED, 300, few=100),
    Study(locally_sufficient, COVERED, 50, few=25),
    Study(locally_sufficient, EQUAL_LABELS_COVERED, 1_000, few=400),
    Study(within_distance, WITHIN, 300, 1_000),
)
