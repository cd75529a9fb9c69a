"""Random systems small enough for brute force: any explanations, agreement, weights and clusters of any measure."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.typing import NDArray

import brute
import faithscope as fs
from brute_numbers import Brute, agreement_of, brute_spread
from brute_numbers import brute as brute_measure
from faithscope.counting.clusters import spread_by_explanation
from faithscope.counting.coverage import count_necessity, cover, tallies
from faithscope.counting.rows import Rows
from faithscope.measures.comparing.paired import consistency_left_out
from faithscope.measures.consistency import measure_consistency
from faithscope.relations import Within, bind, to_relation
from faithscope.sample import Sample

Floats = NDArray[np.float64]


def pairs_of(answers):
    """A judge's answers about rows by explanations, NaN if not asked, as `fs.Judged` takes them: pair by pair."""
    pd = pytest.importorskip("pandas", reason="answers of a judge are a data frame")
    row, explanation = np.indices(answers.shape).reshape(2, -1)
    return pd.DataFrame({"row": row, "explanation": explanation, "applies": answers.ravel()})


# Predictions by kind, with an eps that matters to them.
LABELS = {
    "labels": lambda rng, n: (rng.integers(0, rng.integers(1, 5), n), 1.0),
    "one label": lambda rng, n: (np.zeros(n, int), 1.0),
    "all different": lambda rng, n: (rng.permutation(n), 1.0),
}
NUMBERS = {
    "normal": lambda rng, n: (rng.normal(size=n), 0.5),
    "repeated": lambda rng, n: (rng.integers(0, 4, n).astype(float), 1.0),
    "far from 0": lambda rng, n: (1e9 + 1e-3 * rng.integers(-5, 6, n), rng.choice([2e-3, 2.5e-3])),
    "tiny": lambda rng, n: (1e-12 * rng.normal(size=n), 1e-12),
    "huge": lambda rng, n: (1e12 * rng.normal(size=n), 1e12),
    "heavy tails": lambda rng, n: (100 * rng.standard_t(2, size=n), 50.0),
    "on a lattice": lambda rng, n: (0.125 * rng.integers(-8, 9, n), 0.5),
    "in tenths": lambda rng, n: (np.round(rng.normal(size=n), 1), 0.3),
    "eps above all": lambda rng, n: (rng.random(n), 1e6),
    "eps below all": lambda rng, n: (rng.integers(-3, 4, n).astype(float), 1e-9),
    "signed zeros": lambda rng, n: (rng.choice([0.0, -0.0, 1.0, -1.0], n), 1.0),
    "noise around 0": lambda rng, n: (rng.choice([-2e-20, -1e-20, 0.0, 1e-20, 0.5, -0.5, 1.0], n), 0.5),
    "single precision": lambda rng, n: (rng.normal(size=n).astype(np.float32), 0.25),
    "whole numbers": lambda rng, n: (rng.integers(-9, 10, n), 2.0),
}
KINDS = LABELS | NUMBERS
FEW = (*LABELS, "normal", "repeated", "in tenths", "noise around 0", "single precision")
AGREEMENTS = ("close", "tolerance", "spread", "own")
# The function that is asked, and how explanations say where they apply.
MEASURES = {
    "consistency": (fs.consistency, "equal"),
    "within": (fs.within, "near"),
    "sufficiency": (fs.sufficiency, "callable"),
    "rules": (fs.sufficiency, "rules"),
    "judged": (fs.sufficiency, "judged"),
    "necessity": (fs.necessity, "rules"),
    "encoding": (fs.encoding, "callable"),
}


@dataclass(frozen=True)
class System:
    """Rows with explanations that cover rows as they please; a prediction, perhaps a weight and a cluster per row."""

    codes: NDArray[np.int64]
    masks: NDArray[np.bool_]  # by explanation and row
    predictions: NDArray[Any]
    eps: float
    weights: Floats | None = None
    clusters: NDArray[np.int64] | None = None

    @classmethod
    def random(cls, kind, seed, most=24, *, weighted=False, clustered=False):
        rng = default_rng([sum(map(ord, kind)), seed])
        n = int(rng.integers(2, most + 1))
        predictions, eps = KINDS[kind](rng, n)
        codes = rng.integers(0, rng.integers(1, n + 1), n)
        masks = rng.random((n, n)) < rng.random()
        keep = rng.random(n) < 0.8  # most rows lie under their own explanation
        masks[codes[keep], np.flatnonzero(keep)] = True
        clusters = np.concatenate([[0, 1], rng.integers(0, max(2, n // 2), n - 2)])  # at least two
        weights = rng.integers(1, 9, n) / 4
        return cls(codes, masks, predictions, eps, weights if weighted else None, clusters if clustered else None)

    def take(self, rows):
        """Some of the rows, or all in another order."""
        columns = (self.codes, self.predictions, self.weights, self.clusters)
        codes, y, weights, clusters = (None if column is None else column[rows] for column in columns)
        return replace(self, codes=codes, masks=self.masks[:, rows], predictions=y, weights=weights, clusters=clusters)

    @property
    def n(self):
        return len(self.codes)

    @property
    def varies(self):
        """Whether there is a variance of which shares can be told."""
        return bool(np.ptp(np.asarray(self.predictions, float)) > 0)

    @property
    def vectors(self):
        """Three outputs per row, of which the first is the prediction."""
        scale = np.ptp(np.asarray(self.predictions, float)) or 1.0
        other = default_rng(self.n).normal(size=(self.n, 2)) * scale
        return np.column_stack([np.asarray(self.predictions, float), other])

    def agreement(self, name):
        kinds = {"close": fs.Close, "tolerance": fs.Tolerance}
        if name in kinds:
            return kinds[name](self.eps)
        return {"labels": None, "spread": fs.Spread(), "own": agreement_of("own", self.eps)}[name]

    def covers(self, measure):
        """Which rows each row's explanation covers."""
        if measure == "consistency":
            return np.asarray(self.codes[:, None] == self.codes[None, :])
        if measure == "within":
            return np.asarray(np.abs(self.codes[:, None] - self.codes[None, :]) <= 1)
        return self.masks[self.codes]

    def given(self, measure):
        """Explanations, rows and relation; a row tells which explanations cover it, so that its place says nothing."""
        how = MEASURES[measure][1]
        X = self.masks.T.astype(float)
        if how == "rules":
            rules = [[(int(code), ">", 0.5)] for code in self.codes]
            return fs.Rules.from_conditions(rules, features=list(range(len(self.masks)))), X, None
        if how == "callable":
            return self.codes, X, lambda rows, code: rows[:, int(code)] > 0.5
        if how == "judged":
            order = list(dict.fromkeys(self.codes.tolist()))
            answers = np.where(self.masks[order].T, 1.0, np.where(np.arange(self.n)[:, None] % 2, 0.0, np.nan))
            return fs.Reasons([f"reason {code}" for code in self.codes]), None, fs.Judged(pairs_of(answers))
        return (self.codes[:, None].astype(float) if how == "near" else self.codes), None, None

    def options(self, measure, name):
        options = {"agreement": self.agreement(name), "weights": self.weights, "clusters": self.clusters}
        return {key: value for key, value in options.items() if value is not None}

    def measured(self, measure, name, predictions=None, **how):
        """What the package says; by the jackknife, since brute force weighs pairs and rows alike."""
        explanations, X, relation = self.given(measure)
        y = self.predictions if predictions is None else predictions
        asked = {**self.options(measure, name), **({} if measure == "encoding" else {"interval": "jackknife"}), **how}
        if measure == "within":
            return fs.within(explanations, y, 1.0, **asked)
        if measure == "consistency":
            return fs.consistency(explanations, y, **asked)
        return MEASURES[measure][0](explanations, y, X, relation=relation, **asked)

    def brute(self, measure, name, predictions=None, kept=None, **asked):
        """What the definition says, of some of the rows; for encoding, `upper` is the share that is exclusive."""
        rows = np.arange(self.n) if kept is None else np.flatnonzero(kept)
        y = np.asarray(self.predictions if predictions is None else predictions)[rows]
        y = y if name == "labels" else y.astype(float)
        weights, clusters = (None if one is None else one[rows] for one in (self.weights, self.clusters))
        asked = {who: mask[rows] for who, mask in asked.items()}
        covers, codes = self.covers(measure)[np.ix_(rows, rows)], self.codes[rows]
        if name == "spread":
            return brute_spread(covers, y, codes, weights, **asked)
        agree = agreement_of(name, self.eps)
        if measure == "necessity":
            value, silent, chance = brute.necessity(covers, y, agree, weights, clusters, codes, **asked)
            return Brute(value, silent, np.nan if chance is None else chance, value + silent)
        if measure == "encoding":
            value, alone, exclusive = brute.encoding(codes, covers, y, agree, weights, clusters)
            return Brute(np.nan if value is None else value, alone + exclusive, np.nan, exclusive)
        return brute_measure(covers, y, agree, codes, weights, clusters, **asked)

    def sample(self, measure, name, predictions=None):
        explanations, X, _ = self.given(measure)
        y = self.predictions if predictions is None else predictions
        return Sample.of(explanations, y, X, self.weights, self.agreement(name), self.clusters)

    def left_out(self, measure, name, exact, predictions=None):
        """What the package computes without each row, block or cluster, and which of these each row belongs to."""
        sample = self.sample(measure, name, predictions)
        single = np.arange(self.n) if sample.clusters is None else sample.clusters
        if measure == "consistency":
            if name == "spread":
                spread, counted = spread_by_explanation(sample)
                return spread.left_out(counted), single
            return consistency_left_out("", measure_consistency(sample, 0.95, "jackknife"), sample).left_out, single
        relation = self.given(measure)[2]
        if measure == "within":
            relation = Within(1.0, "euclidean")
        elif measure == "judged":
            relation = bind(relation, sample.explanations)
        else:
            relation = to_relation(relation, sample.explanations)
        if measure == "necessity":
            counted = count_necessity(sample.counted().evenly(), relation, exact=exact)
            return counted.left_out, single if counted.block is None else counted.block
        if measure == "encoding":
            even = sample.counted().evenly()
            block = Rows(even, relation, exact).block
            without = tallies(even, [relation], ("gap",), exact=exact)[0].encoded().sums.without
            return without, single if block is None else block
        coverage = cover(sample, relation, exact=exact)
        left = coverage.left_out if name != "spread" else coverage.spread.left_out(coverage.left_out)
        return left, np.arange(self.n) if coverage.block is None else coverage.block


def systems(measure, seeds=(0,), kinds=None, names=AGREEMENTS, most=24):
    """Every kind of predictions with its agreements, plain, weighted, clustered or both; and how it is told apart."""
    every = kinds is not None
    if kinds is None:  # what rules, consistency and within do with awkward numbers, the others do by the same code
        kinds = KINDS if measure in ("rules", "consistency", "within") else FEW
    for seed, (place, kind), weighted, clustered in product(seeds, enumerate(kinds), (False, True), (False, True)):
        if measure == "within" and weighted:
            continue  # it takes no weights
        if not every and (weighted ^ clustered) != place % 2:
            continue  # each kind is met by two of the four, in turn
        system = System.random(kind, seed, most, weighted=weighted, clustered=clustered)
        for name in ("labels",) if kind in LABELS else names:
            if measure == "necessity" and (kind, name) in (("eps below all", "own"), ("in tenths", "close")):
                continue  # agreements of 1e-9, or of 0 up to rounding, decide whether a row can be checked at all
            if name != "spread" or (system.varies and not clustered and measure not in ("necessity", "encoding")):
                yield system, name, f"{measure}, {kind}, {name}, seed {seed}, {weighted=}, {clustered=}"
