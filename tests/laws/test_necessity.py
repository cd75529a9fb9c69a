"""What necessity must obey, whatever says where explanations apply; its value is among the measures of brute force."""

import math
from dataclasses import replace

import numpy as np
import pytest

import brute
import faithscope as fs
from faithscope.errors import NotProven, NotScoped
from faithscope.measures import scopes
from faithscope.relations import to_relation
from faithscope.sample import Sample
from small_systems import System

RNG = np.random.default_rng(3)
X, Y = RNG.integers(0, 5, (60, 2)).astype(float), RNG.integers(0, 3, 60)
TEXTS = [" ".join(RNG.choice(list("abcd"), 3)) for _ in range(60)]
PROTOTYPES = fs.Prototypes(RNG.integers(0, 6, 60), points=X[:6])
RELATIONS = {
    "highlights": (fs.Highlights([{text.split()[0]} for text in TEXTS]), TEXTS, None),
    "prototypes": (PROTOTYPES, X, fs.Ball(1.5)),
    "nearest": (PROTOTYPES, X, fs.Nearest()),
    "counterfactuals": (fs.Counterfactuals(X[::-1].copy() + 0.5, X), X, None),
    "callable": ([f"{int(v)}" for v in X[:, 0]], X, lambda rows, text: rows[:, 1] <= float(text)),
}


@pytest.mark.parametrize("kind", RELATIONS)
def test_every_relation_that_says_where_it_applies_is_counted(kind):
    explanations, rows, relation = RELATIONS[kind]
    estimate, sample = fs.necessity(explanations, Y, rows, relation=relation), Sample.of(explanations, Y, rows)
    relation = to_relation(relation, sample.explanations)
    given = relation.scopes(sample.explanations)
    codes, first = given.group()
    value, silent, chance = brute.necessity(scopes._masks(given.take(first), sample, relation)[codes].tolist(), Y)
    assert (estimate.value, estimate.unverifiable, estimate.chance) == pytest.approx((value, silent, chance), abs=1e-12)


def test_covering_more_never_lowers_necessity():
    for seed in range(6):
        system = System.random("labels", seed)
        wider = replace(system, masks=system.masks | (np.random.default_rng(seed).random(system.masks.shape) < 0.2))
        before, after = (one.measured("necessity", "labels").value for one in (system, wider))
        assert after >= before - 1e-12


LEAST = 2 * math.log(40) / 60
KNOWN = {
    "for everybody": (lambda y: np.zeros(60), (1.0, 1.0, None, 1 - LEAST, 1.0)),
    "the prediction itself": (lambda y: y, (1.0, 19 / 59, True, 1 - LEAST, 1.0)),
    "for nobody else": (lambda y: np.arange(60.0), (0.0, 0.0, False, 0.0, LEAST)),
}


@pytest.mark.parametrize("kind", KNOWN)
def test_rules_whose_necessity_is_known_have_it_with_a_margin(kind):
    y = np.arange(60) % 3
    column = KNOWN[kind][0](y)
    rules = fs.Rules.from_conditions([[("a", "==", float(value))] for value in column], features=["a"])
    found = fs.necessity(rules, y, column[:, None].astype(float))
    value, chance, above, low, high = KNOWN[kind][1]
    assert (found.value, found.chance, found.low, found.high) == pytest.approx((value, chance, low, high))
    assert found.above_chance is above


@pytest.mark.parametrize("n", [1, 2, 5])
def test_predictions_that_nobody_else_gets_cannot_be_checked(n):
    rules = fs.Rules.from_conditions([[]] * n, features=["a"])
    estimate = fs.necessity(rules, np.arange(n), np.zeros((n, 1)))
    assert (estimate.value, estimate.unverifiable, estimate.low, estimate.high) == (0.0, 1.0, 0.0, 1.0)
    assert (estimate.verified, estimate.chance, estimate.above_chance) == (None, None, None)


@pytest.mark.parametrize("agreement", [None, fs.Close(0.5), fs.Tolerance(0.5)])
def test_rows_that_nobody_agrees_with_stay_unverifiable_whatever_their_weight(agreement):
    generator = np.random.default_rng(1)
    rules = fs.Rules.from_conditions([[]] * 300 + [[("a", ">", 9.0)]] * 300, features=["a"])
    predictions = np.concatenate([np.zeros(300), 1.0 + np.arange(300)])
    weights = np.exp(4 * generator.normal(size=600)).clip(1e-4, 1e4)
    estimate = fs.necessity(rules, predictions, np.zeros((600, 1)), weights=weights, agreement=agreement)
    assert estimate.unverifiable == pytest.approx(weights[300:].sum() / weights.sum(), abs=1e-12)
    assert (estimate.verified, estimate.chance) == (pytest.approx(1.0, abs=1e-12), pytest.approx(1.0, abs=1e-12))


def test_what_has_no_necessity_is_refused_and_an_evaluation_goes_without():
    system, vectors = System.random("normal", 1), fs.Importances([[1.0], [2.0]])
    with pytest.raises(NotProven, match=r"Close\(eps\) or Tolerance"):
        system.measured("necessity", "spread")
    rules, rows, _ = system.given("rules")
    assert fs.evaluate(system.predictions, rules, rows, agreement=fs.Spread()).necessity is None
    with pytest.raises(NotScoped, match="so necessity is undefined: pass relation="):
        fs.necessity(vectors, [0, 1], [[1.0], [2.0]])
    assert fs.evaluate([0, 1], vectors, [[1.0], [2.0]]).necessity is None
