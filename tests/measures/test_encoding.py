"""Encoding in words, tables and pictures; what encodes is found, and what cannot is said in plain sentences."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.errors import BadInput, NotProven, NotScoped
from faithscope.measures.telling.encoding import encoding_verdict

N = 400
RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.uniform(20, 80, N), "hours": RNG.uniform(0, 60, N)})
LABELS = np.where(RNG.random(N) < 0.4, "yes", "no")
ALWAYS = {"yes": "age <= 200", "no": "hours <= 200"}


def rules(texts):
    return fs.Rules.parse(texts, features=["age", "hours"])


def prediction_itself():
    return rules([ALWAYS[label] for label in LABELS])


def chosen_at_random():
    return rules(np.random.default_rng(1).choice(list(ALWAYS.values()), N).tolist())


def test_the_prediction_as_its_own_explanation_is_flagged():
    encoding = fs.encoding(prediction_itself(), LABELS, X)
    assert encoding.encodes is True
    assert (encoding.value, encoding.flagged, encoding.tested, encoding.unverifiable) == (1.0, 2, 2, 0.0)
    assert encoding.low > 0.9
    assert fs.evaluate(LABELS, prediction_itself(), X).consistency.value == 1.0  # which is why this is needed


def test_its_value_is_one_less_the_agreement_of_the_others():
    noisy = np.where(np.random.default_rng(2).random(N) < 0.3, LABELS[::-1], LABELS)
    encoding = fs.encoding(prediction_itself(), noisy, X)
    given = noisy[:, None] == noisy
    same = LABELS[:, None] == LABELS
    among = [(given[i] & same[i]).sum() - 1 for i in range(N)] / (same.sum(axis=1) - 1)
    apart = [(given[i] & ~same[i]).sum() for i in range(N)] / (~same).sum(axis=1)
    assert encoding.value == pytest.approx(float(np.mean(among - apart)))


def test_a_random_choice_among_valid_rules_is_not_flagged():
    encoding = fs.encoding(chosen_at_random(), LABELS, X)
    assert encoding.encodes is False
    assert encoding.low < 0 < encoding.high
    assert encoding_verdict(encoding).startswith("No encoding found: the predictions of the rows given a rule")


def test_few_rows_are_not_said_to_be_alike():
    few = fs.encoding(rules(["age <= 200", "hours <= 200"] * 2), ["yes", "no"] * 2, X[:4])
    assert (few.value, few.encodes) == (1.0, False)
    said = encoding_verdict(few)
    assert "differ by no more than chance gives (a gap of 1.000" in said
    assert "all in all the same" not in encoding_verdict(dataclasses.replace(few, flagged=2))


def test_rules_that_nobody_obeys_are_not_said_to_hide_nothing():
    texts = np.where(LABELS[0] == LABELS, "age > 1000", "age > 2000").tolist()
    encoding = fs.encoding(rules(texts), LABELS, X)
    assert encoding.encodes is None
    assert encoding_verdict(encoding).startswith("Cannot tell: no rule can be tested, and 400 rows are not covered by")


def test_the_verdict_reads_aloud():
    table = fs.encoding(prediction_itself(), LABELS, X).table(1).iloc[0]
    said = encoding_verdict(fs.encoding(prediction_itself(), LABELS, X))
    expected = (
        f"The choice of this rule says more than the rule: of the {table.n} rows given `{table.explanation}`, 100% "
        f"get '{table.label}'; of the {table.others} other rows that it covers, 0% do."
    )
    assert said.startswith(expected)


def test_rules_that_partition_the_rows_are_said_to_leave_nothing_to_choose():
    texts = np.where(X["age"] <= 50, "age <= 50", "age > 50").tolist()
    encoding = fs.encoding(rules(texts), LABELS, X)
    assert (encoding.value, encoding.encodes, encoding.exclusive, encoding.alone) == (None, None, 1.0, 0.0)
    assert encoding_verdict(encoding).startswith("Nothing is encoded in the choice of a rule")
    assert str(encoding) == "encoding unknown: no explanation could be tested; n=400, 100% unverifiable"
    assert len(encoding.table()) == 0
    encoding.plot()


def test_rows_that_are_all_alone_cannot_be_told():
    encoding = fs.encoding(rules([f"age <= {100 + row}" for row in range(N)]), LABELS, X)
    assert (encoding.value, encoding.encodes, encoding.alone) == (None, None, 1.0)
    assert encoding_verdict(encoding).startswith("Cannot tell: nobody was given the rule of another row")


def test_only_the_sum_tells_where_every_rule_has_few_rows():
    turn = np.arange(N) // 2 % 100
    texts = [f"age <= {200 + 2 * t + (label == 'yes')}" for t, label in zip(turn, LABELS, strict=True)]
    encoding = fs.encoding(rules(texts), LABELS, X)
    assert encoding.flagged == 0
    assert encoding.encodes is True
    assert "although no single one shows it" in encoding_verdict(encoding)


def test_one_label_encodes_nothing():
    encoding = fs.encoding(chosen_at_random(), ["yes"] * N, X)
    assert (encoding.value, encoding.flagged, encoding.encodes) == (0.0, 0, False)


def test_one_row_and_one_explanation_cannot_be_tested():
    alone = fs.encoding(rules(["age <= 200"]), ["yes"], X[:1])
    assert (alone.value, alone.interval, alone.encodes) == (None, (-1.0, 1.0), None)
    single = fs.encoding(rules(["age <= 200"] * N), LABELS, X)
    assert (single.value, single.exclusive, single.encodes) == (None, 1.0, None)


def test_rows_that_their_rule_misses_are_told():
    encoding = fs.encoding(rules(["age > 1000"] * 3 + ["age <= 200"] * 5), ["yes", "no"] * 4, X[:8])
    assert any("3 rows are not covered by their own explanation" in note for note in encoding.notes)
    assert encoding.tested == 1  # the rule that covers nobody has no others


def test_rows_of_weight_0_do_not_count():
    weights = np.r_[np.ones(N - 50), np.zeros(50)]
    kept = fs.encoding(chosen_at_random().take(np.arange(N - 50)), LABELS[: N - 50], X[: N - 50])
    weighted = fs.encoding(chosen_at_random(), LABELS, X, weights=weights)
    assert (weighted.value, weighted.low, weighted.high) == (kept.value, kept.low, kept.high)
    assert weighted.tested == kept.tested
    assert any("weight 0" in note for note in weighted.notes)


def test_copies_of_rows_in_clusters_add_no_evidence():
    half = np.repeat(np.arange(20), 20)
    few = fs.encoding(chosen_at_random().take(half), LABELS[half], X.iloc[half], clusters=half)
    assert few.encodes is False
    alone = fs.encoding(chosen_at_random().take(half), LABELS[half], X.iloc[half])
    assert alone.encodes is True  # 400 rows that are 20
    assert any("repeat" in note for note in alone.notes)


def test_an_evaluation_a_comparison_and_the_function_say_the_same():
    explained = {"itself": prediction_itself(), "random": chosen_at_random(), "numbers": fs.Importances(X.to_numpy())}
    compared = fs.compare(LABELS, explained, X, progress=False)
    table = compared.encoding()
    assert table.explainer.tolist() == ["itself", "random"]
    assert table.encodes.tolist() == [True, False]
    for name in table.explainer:
        one, other = compared[name].encoding(), fs.encoding(explained[name], LABELS, X)
        assert one.to_dict() == other.to_dict()
        pd.testing.assert_frame_equal(one.table(), other.table())


@pytest.mark.parametrize("how", [{"weights": RNG.uniform(1, 2, N)}, {"clusters": np.arange(N) // 2}])
def test_an_evaluation_knows_weights_and_clusters(how):
    evaluation = fs.evaluate(LABELS, chosen_at_random(), X, progress=False, confidence=0.9, **how)
    assert (
        evaluation.encoding().to_dict() == fs.encoding(chosen_at_random(), LABELS, X, confidence=0.9, **how).to_dict()
    )


def test_numbers_are_told_by_their_means():
    numbers = (LABELS == "yes") + np.random.default_rng(3).random(N)
    encoding = fs.encoding(prediction_itself(), numbers, X, agreement=fs.Close(0.5))
    assert encoding.encodes is True
    assert "the mean prediction is" in encoding_verdict(encoding)
    assert {"given_mean", "covered_mean", "distance"} <= set(encoding.table())
    encoding.plot()


def test_every_kind_that_says_where_it_applies_can_be_tested():
    documents = ["great fun", "great plot", "dull plot", "dull fun", "great dull"] * 8
    words = fs.Highlights([{"great"}, {"plot"}, {"dull"}, {"fun"}, {"dull"}] * 8)
    assert fs.encoding(words, [1, 1, 0, 0, 0] * 8, documents, clusters=range(40)).tested == 4
    points = X.to_numpy()[:40]
    near = fs.Prototypes(np.arange(40) % 4, points[:4])
    assert fs.encoding(near, LABELS[:40], points, relation=fs.Ball(500.0)).tested == 4
    moved = fs.Counterfactuals(points + 1.0, points)
    assert fs.encoding(moved, LABELS[:40], points).alone == 1.0


@pytest.mark.parametrize(
    ("explained", "how", "error", "words"),
    [
        (fs.Importances(X.to_numpy()), {}, NotScoped, "encoding is undefined: pass relation="),
        (["a"] * N, {}, NotScoped, "plain keys"),
        (fs.Prototypes(np.zeros(N, int)), {}, NotScoped, r"Prototypes\(indices, points\)"),
        (prediction_itself(), {"agreement": fs.Spread()}, NotProven, r"agreement=fs.Close\(eps\)"),
        (prediction_itself(), {"confidence": 1.0}, BadInput, "confidence"),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_sentence(explained, how, error, words):
    predictions = np.arange(N) / N if "agreement" in how else LABELS
    with pytest.raises(error, match=words):
        fs.encoding(explained, predictions, X, **how)


def test_the_advice_runs():
    def applies(rows, explanation):
        return np.asarray(rows)[:, 0] * explanation[0] > 0

    assert fs.encoding(fs.Importances(X.to_numpy().round(-1)), LABELS, X, relation=applies).n == N


def test_an_audit_without_scopes_is_refused_in_one_sentence():
    audited = fs.audit(pd.DataFrame({"leaf": [1, 1, 2], "yhat": [0, 1, 1]}), prediction="yhat", explanation="leaf")
    with pytest.raises(NotScoped, match="log rules or words"):
        audited.encoding()


def test_a_line_fits_100_columns():
    for explained in (prediction_itself(), chosen_at_random()):
        assert len(str(fs.encoding(explained, LABELS, X))) <= 100


def test_a_note_says_that_many_comparisons_lean_on_one_row():
    X = np.r_[np.full(90, 1.0), np.full(299, 9.0), 4.0][:, None]
    rules = fs.Rules.parse(["a <= 5"] * 90 + ["a > 3"] * 300, features=["a"])
    labels = ["yes"] * 90 + ["no"] * 150 + ["yes"] * 150
    assert any("90 rows lean on one other row" in note for note in fs.encoding(rules, labels, X).notes)
    X[200:] = 4.0  # now most rows are covered by both rules
    assert not any("lean on one" in note for note in fs.encoding(rules, labels, X).notes)
