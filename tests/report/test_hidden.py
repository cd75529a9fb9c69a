"""What a report says of encoding: the same in its sentence, its table and its picture."""

import numpy as np

import faithscope as fs
from faithscope.report import summarize


def explainer(seed, labels=None, n=100):
    """The summary of two rules that hold for everybody, given at random, or by label."""
    rng = np.random.default_rng(seed)
    X, drawn = rng.uniform(size=(n, 2)), np.where(rng.random(n) < 0.5, "yes", "no")
    texts = rng.choice(["a <= 2", "b <= 2"], n) if labels is None else np.where(drawn == labels, "a <= 2", "b <= 2")
    rules = fs.Rules.parse(texts.tolist(), features=["a", "b"])
    return summarize(fs.evaluate(drawn, rules, X, progress=False)).explainers[0]


def test_explanations_that_stand_out_by_chance_are_neither_listed_nor_ringed():
    told = explainer(38)
    assert "2 of 2 rules stand out, as they may by chance" in told.hidden.encoding
    assert told.hidden.encodes is False
    assert told.hidden.flagged == ()
    assert not any(point["flagged"] for point in told.hidden.points)
    assert not any("says more than" in doubt for doubt in told.doubts)


def test_explanations_that_encode_are_listed_ringed_and_doubted():
    told = explainer(0, labels="yes")
    assert told.hidden.encodes is True
    assert {line["explanation"] for line in told.hidden.flagged} == {"a <= 2", "b <= 2"}
    assert all(point["flagged"] for point in told.hidden.points)
    assert any(doubt.startswith("The choice of this rule says more than the rule") for doubt in told.doubts)
