"""Numbers that pass as labels are told wherever the estimate is told; honest labels are left alone."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.report import summarize

RNG = np.random.default_rng(0)
N = 1000
WHY = RNG.integers(0, 8, N)
TOLD = {
    "probabilities rounded to .01": (np.round(RNG.random(N), 2), "look like probabilities"),
    "votes of a forest of 50": (RNG.integers(0, 51, N) / 50, "look like probabilities"),
    "probabilities rounded to .1": (np.round(RNG.random(N), 1), "look like probabilities"),
    "temperatures": (np.round(RNG.normal(20, 5, N), 1), "look continuous"),
    "prices in thousands": (RNG.integers(100, 400, N), "different numbers in 1,000 rows"),
    "free text": ([f"answer {number}" for number in RNG.integers(0, 300, N)], "merge rare labels"),
}
HONEST = {
    "two classes": RNG.integers(0, 2, N),
    "half stars": RNG.integers(1, 11, N) / 2,
    "none, half, whole": RNG.integers(0, 3, N) / 2,
    "50 classes": RNG.integers(0, 50, N),
    "20 texts": [f"group {number}" for number in RNG.integers(0, 20, N)],
    "yes and no": RNG.random(N) > 0.5,
}


@pytest.mark.parametrize("name", TOLD)
def test_numbers_that_pass_as_labels_are_told(name):
    labels, said = TOLD[name]
    found = fs.consistency(WHY, labels)
    assert sum(said in note for note in found.notes) == 1
    assert said in " ".join(str(found).split())
    assert said in json.dumps(found.to_dict())
    assert said in fs.within(WHY[:, None], labels, 0.5).notes[0]


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.slow
def test_an_audit_and_a_report_tell_it_too(name, tmp_path):
    labels, said = TOLD[name]
    log = pd.DataFrame({"yhat": labels, "why": WHY, "half": WHY % 2})
    audited = fs.audit(log, prediction="yhat", explanation="why", by="half")
    assert audited.consistency.notes == fs.consistency(WHY, labels).notes
    assert all(said in str(one.notes) or "numbers in" in said for one in audited.populations.estimates.values())
    assert said in str(summarize(audited).explainers[0].measures[0].notes)


@pytest.mark.parametrize("name", HONEST)
def test_honest_labels_are_left_alone(name):
    assert fs.consistency(WHY, HONEST[name]).notes == ()


def test_honest_small_samples_are_left_alone():
    assert fs.consistency(WHY[:200], RNG.integers(0, 18, 200)).notes == ()
    assert fs.consistency(WHY[:30], np.arange(30) % 3).notes == ()
    assert fs.consistency(WHY[:20], np.arange(20)).notes == ()


def test_an_audit_refuses_numbers_that_nearly_all_differ_as_consistency_does():
    prices = RNG.permutation(100_000)[:N]
    with pytest.raises(BadInput, match="Predictions look like numbers, not labels: 1,000 different ones"):
        fs.consistency(WHY, prices)
    with pytest.raises(BadInput, match="Predictions are numbers, 1,000 different ones"):
        fs.audit(pd.DataFrame({"yhat": prices, "why": WHY}), prediction="yhat", explanation="why")


# Fractions fill less than half of all rows, and nearly all of one group and of some halves.
MIXED = np.where(np.arange(400) < 100, np.arange(400) / 7 + 0.01, np.arange(400) % 2)
RULES = fs.Rules.from_conditions([[("a", ">", float(number % 3))] for number in range(400)], features=["a"])


def test_predictions_are_judged_once_where_they_are_handed_over():
    X = np.arange(400.0)[:, None] % 5
    found = fs.evaluate(MIXED, RULES, X)
    groups = np.arange(400) < 100
    with pytest.raises(BadInput, match="look continuous"):
        fs.consistency(np.zeros(100), MIXED[:100])
    for measure in ("consistency", "sufficiency"):
        assert set(found.by(groups, measure).estimates) == {True, False}
    weighted = fs.evaluate(MIXED, RULES, X, weights=np.ones(400))
    assert set(weighted.by(groups, "sufficiency").estimates) == {True, False}
    assert len(found.discretizations()) == 1


def test_best_takes_labels_that_evaluate_took():
    why = np.column_stack([np.arange(22.0) % 3, np.arange(22.0) % 2])
    labels = np.where(np.arange(22) % 2, np.arange(22) / 7 + 0.01, 0)
    for seed in range(20):
        assert fs.evaluate(labels, why, why, discretizer=fs.Best(), seed=seed).consistency.n == 11
        assert fs.compare(labels, {"a": why}, why, discretizer=fs.Best(), seed=seed).rows_to_choose == 11


@pytest.mark.parametrize("word", ["sign-of-top-1", "Sign", "1-FP", "rank", "original"])
@pytest.mark.slow
def test_discretizers_may_be_given_by_word_everywhere(word):
    from faithscope.discretizers import from_word

    why = RNG.normal(size=(100, 3)).round(1)
    labels, one = (why[:, 0] > 0).astype(int), from_word(word)
    log = pd.DataFrame(why, columns=["phi_0", "phi_1", "phi_2"]).assign(yhat=labels)
    same = {
        "consistency": lambda how: fs.consistency(why, labels, discretizer=how).value,
        "evaluate": lambda how: fs.evaluate(labels, why, why, discretizer=how).discretizer,
        "compare": lambda how: fs.compare(labels, {"a": why}, why, discretizer=how).evaluations["a"].discretizer,
        "mapping": lambda how: fs.compare(labels, {"a": why}, why, discretizer={"a": how}).evaluations["a"].discretizer,
        "Best": lambda how: fs.evaluate(labels, why, why, discretizer=fs.Best([how])).discretizer,
        "certify": lambda how: str(fs.certify(why, labels, how)),
        "certify, several": lambda how: str(fs.certify(why, labels, [how, None])),
        "audit": lambda how: str(fs.audit(log, prediction="yhat", explanation="phi_*", discretizer=how)),
        "decoder": lambda how: fs.OptimalDecoder(discretizer=how).fit(why, labels).error,
        "sample_until": lambda how: str(fs.sample_until([(why, labels)], why[0], 0.3, 50, discretizer=how)),
        "local": lambda how: str(fs.local(why[0], lambda X: (X[:, 0] > 0) + 0, lambda X: X, why, discretizer=how)),
    }
    for name, ask in same.items():
        assert ask(word) == ask(one), name
    assert fs.evaluate(labels, why, why, discretizer="best").discretizer == (
        fs.evaluate(labels, why, why, discretizer=fs.Best()).discretizer
    )


def test_decimals_of_a_database_are_numbers_too():
    shares = [Decimal(number % 30) / 100 for number in range(3000)]
    (note,) = fs.consistency(["a"] * 3000, shares).notes
    assert "look like probabilities (30 different values, such as 0.01)" in note
