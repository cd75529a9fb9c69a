"""Sample, the one door: what a caller hands over is checked once, and sliced alike everywhere."""

import inspect

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brute
import faithscope as fs
from faithscope.counting.coverage import cover
from faithscope.errors import BadInput
from faithscope.relations import to_relation
from faithscope.sample import Sample

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
LABELS = (X[:, 0] > 0).astype(int)
RULES = fs.Rules.from_conditions([[("a", "<=", round(float(x), 1))] for x in X[:, 0]], features=["a", "b"])
WEIGHTS = RNG.integers(0, 4, 300).astype(float)


def sample_of(weights=None):
    return Sample.of(RULES, LABELS, X, weights)


def test_a_part_of_a_sample_is_the_sample_of_the_parts():
    rows = np.array([5, 3, 200])
    part = sample_of(WEIGHTS).take(rows)
    assert part.labels.tolist() == LABELS[rows].tolist()
    assert part.weights.tolist() == WEIGHTS[rows].tolist()
    assert (X[rows] == part.X).all()
    assert [part.explanations.describe(i) for i in range(3)] == [RULES.describe(int(i)) for i in rows]
    assert part.take(np.array([2, 0])).positions.tolist() == [200, 5]


def test_groups_are_every_row_once_and_keep_their_names():
    groups = pd.Series(np.where(X[:, 1] > 0, "up", "down"), name="side")
    parts = sample_of().split(groups)
    assert list(parts) == ["down", "up"]
    together = np.concatenate([part.positions for part in parts.values()])
    assert sorted(together) == list(range(300))
    assert fs.evaluate(LABELS, RULES, X).by(groups).by == "side"


@given(st.integers(4, 60), st.integers(0, 5))
def test_halves_are_every_row_once_in_order_and_depend_on_the_seed_alone(n, seed):
    one, other = Sample(fs.Importances(np.zeros((n, 1))), np.zeros(n)).halves(seed)
    assert sorted([*one.positions, *other.positions]) == list(range(n))
    assert one.n == n // 2
    assert (np.diff(one.positions) > 0).all()
    again, _ = Sample(fs.Importances(np.ones((n, 1))), np.ones(n)).halves(seed)
    assert again.positions.tolist() == one.positions.tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fs.sufficiency(RULES, X, LABELS), "Predictions and X seem to be swapped"),
        (lambda: fs.sufficiency(RULES, pd.DataFrame(X), LABELS), "Predictions and X seem to be swapped"),
        (lambda: fs.sufficiency(RULES, X.tolist(), LABELS.tolist()), "Predictions and X seem to be swapped"),
        (lambda: fs.count(LABELS, RULES), "seem to be swapped"),
        (
            lambda: fs.sufficiency(
                fs.Highlights([{"a"}] * 3), pd.Series(["a b", "a c", "a d"]), pd.Series(["pos", "neg", "pos"])
            ),
            "predictions are longer and more different than documents",
        ),
        (lambda: fs.sufficiency(LABELS, RULES, X), "seem to be swapped"),
        (lambda: fs.consistency(LABELS, RULES), "seem to be swapped"),
        (
            lambda: fs.sufficiency(fs.Highlights([{"a"}] * 3), ["a b", "a c", "a d"], ["pos", "neg", "pos"]),
            "predictions are longer and more different than documents",
        ),
        (lambda: fs.evaluate(fs.explainers.Constant(), lambda rows: LABELS, X), "the model is an explainer"),
        (lambda: fs.evaluate(RULES, LABELS, X), "the model is an explainer"),
        (lambda: fs.compare(fs.explainers.Constant(), {"a": RULES}, X), "the model is an explainer"),
    ],
)
def test_arguments_in_each_others_place_are_an_error_that_says_so(call, message):
    with pytest.raises(BadInput, match=message) as caught:
        call()
    assert "pass (" in str(caught.value)


def test_a_model_in_the_explainers_place_is_told_apart():
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(random_state=0).fit(X, LABELS)
    with pytest.raises(BadInput, match=r"the explainer is a model \(DecisionTreeClassifier\)"):
        fs.evaluate(LABELS, tree, X)
    with pytest.raises(BadInput, match=r"the explainer is a model \(DecisionTreeClassifier\)"):
        fs.compare(LABELS, {"tree": tree}, X)


def test_a_swap_that_only_numbers_could_tell_is_noted():
    rows = RNG.normal(size=(200, 1)).round()
    labels = (rows[:, 0] > 0).astype(int)
    prototypes = fs.Prototypes(labels, [[-1.0], [1.0]])
    right, swapped = (
        fs.sufficiency(prototypes, *pair, relation=fs.Nearest()) for pair in ((labels, rows), (rows, labels))
    )
    assert not any("swapped" in note for note in right.notes)
    assert any("no function of X: check that the two are not swapped" in note for note in swapped.notes)


def test_labels_that_are_tuples_and_models_with_more_labels_than_documents_are_no_swap():
    words = fs.Highlights([["a"], ["b"], ["a"]])
    assert fs.sufficiency(words, [(0, 1), (1, 0), (0, 1)], ["a x", "b y", "a z"]).value == pytest.approx(2 / 3)
    assert fs.sufficiency(words, ["p", "q", "r"], ["a", "b", "a"]).value == 0
    assert fs.sufficiency(words, ["yes", "no", "no"], ["", "", ""]).unverifiable == 1


def test_callables_with_two_faces_are_called():
    class Both:
        def __call__(self, rows):
            return np.sign(rows)

        def predict(self, rows):
            raise AssertionError

    assert fs.evaluate(LABELS, Both(), X).consistency.n == 300


def test_rows_of_which_none_has_weight_are_refused_in_a_sentence():
    weights = np.zeros(8)
    weights[np.random.default_rng(0).permutation(8)[0]] = 1  # in the half that `Best` chooses on
    rows = np.arange(8.0)[:, None]
    with pytest.raises(BadInput, match="All 4 rows measured here have weight 0"):
        fs.evaluate([0, 1] * 4, rows, rows, weights=weights, discretizer="best", seed=0)


def test_where_all_weight_is_silent_nothing_is_verified():
    rules = fs.Rules.from_conditions([[("a", "==", float(i))] for i in range(10)], features=["a"])
    for weights in ([0.1] * 10, np.random.default_rng(3).random(10)):
        estimate = fs.sufficiency(rules, [0, 1] * 5, np.arange(10.0)[:, None], weights=weights)
        assert (estimate.unverifiable, estimate.verified, estimate.above_chance) == (1.0, None, None)


def test_an_interval_that_is_not_proven_says_so():
    evaluation = fs.evaluate(LABELS, RULES, X, interval="mcdiarmid", groups=LABELS)
    parts = evaluation.sufficiency_populations.estimates.values()
    assert evaluation.consistency.method == "mcdiarmid"
    for estimate in (evaluation.sufficiency, *parts):
        assert any("is a jackknife: mcdiarmid is proven for consistency only" in note for note in estimate.notes)


def test_equal_weights_are_no_weights_for_sufficiency():
    plain, weighted = (fs.sufficiency(RULES, LABELS, X, weights=weights) for weights in (None, np.full(300, 3.0)))
    assert (plain.value, plain.low, plain.high) == (weighted.value, weighted.low, weighted.high)


def test_documents_and_labels_in_their_places_are_no_swap():
    texts = ["great film", "dull plot", "great plot", "great film"]
    words = fs.Highlights([{"great"}, {"dull"}, {"great"}, {"great"}])
    assert fs.sufficiency(words, ["pos", "neg", "pos", "pos"], texts).value == pytest.approx(0.75)


def test_predictions_and_lengths_are_checked_once_per_evaluation(monkeypatch):
    calls = []
    for module in ("evaluation.outputs", "agreements.base"):
        original = inspect.getattr_static(__import__(f"faithscope.{module}", fromlist=["x"]), "to_predictions")
        monkeypatch.setattr(f"faithscope.{module}.to_predictions", lambda v, f=original: calls.append(1) or f(v))
    fs.evaluate(lambda rows: LABELS, RULES, X, groups=LABELS, weights=WEIGHTS + 1, progress=False)
    assert len(calls) == 1


def test_rows_of_weight_0_are_left_out_of_both_measures_and_told():
    kept = WEIGHTS > 0
    with_zeros = fs.evaluate(LABELS, RULES, X, weights=WEIGHTS)
    without = fs.evaluate(LABELS[kept], RULES.take(kept), X[kept], weights=WEIGHTS[kept])
    for measure in ("consistency", "sufficiency"):
        one, other = getattr(with_zeros, measure), getattr(without, measure)
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=1e-12)
        assert f"{int((~kept).sum())} rows of weight 0 left out" in one.notes
    assert len(with_zeros.local()) == 300


@pytest.mark.parametrize("seed", range(6))
def test_leaving_out_a_block_of_weighted_rows_is_measuring_without_it(seed):
    rng = np.random.default_rng(seed)
    n, masks = 90, rng.random((8, 90)) < 0.3
    which, labels, weights = rng.integers(0, 8, n), rng.integers(0, 3, n), rng.integers(1, 5, n).astype(float)
    explanations = Sample.of(which, labels).explanations
    sample = Sample(explanations, labels, np.zeros((n, 1)), weights)
    coverage = cover(sample, to_relation(lambda rows, number: masks[number], explanations))
    left, total = coverage.left_out, weights.sum()
    value, silent = brute.weighted_sufficiency(which.tolist(), masks[which], labels.tolist(), weights.tolist())
    assert (coverage.sums.agreeing / total, coverage.sums.silent / total) == pytest.approx((value, silent), abs=1e-12)
    for block in range(len(left.value)):
        kept = np.flatnonzero(coverage.block != block)
        expected = brute.weighted_sufficiency(
            which[kept].tolist(), masks[which][np.ix_(kept, kept)], labels[kept].tolist(), weights[kept].tolist()
        )
        assert (left.value[block], left.silent[block]) == pytest.approx(expected, abs=1e-12)


def test_evaluate_takes_groups_and_compare_takes_what_evaluate_takes():
    groups = np.where(X[:, 1] > 0, "up", "down")
    options = {"weights": WEIGHTS + 1, "groups": groups, "confidence": 0.9}
    alone = fs.evaluate(LABELS, RULES, X, **options)
    together = fs.compare(LABELS, {"rules": RULES, "signs": np.sign(X)}, X, **options)
    assert together["rules"].consistency == alone.consistency
    assert together["rules"].sufficiency == alone.sufficiency
    assert alone.populations.table().equals(alone.by(groups).table())
    assert together.populations["rules"].table().equals(alone.populations.table())
    assert together.sufficiency_populations["rules"].table().equals(alone.by(groups, "sufficiency").table())
    assert "signs" not in together.sufficiency_populations
    wide = fs.compare(LABELS, {"signs": np.sign(X)}, X, interval="mcdiarmid")
    assert wide["signs"].consistency.method == "mcdiarmid"
    prototypes = fs.Prototypes([[0]] * 300, points=X[:3])
    near = fs.compare(LABELS, {"a": prototypes, "b": RULES}, X, relation={"a": fs.Ball(1.0)})
    assert near["a"].sufficiency == fs.evaluate(LABELS, prototypes, X, relation=fs.Ball(1.0)).sufficiency


def test_weighted_explainers_differ_by_pairs_of_rows():
    """The same explainer twice differs by nothing but silence; weights of 1 change no difference."""
    explainers = {"one": RULES, "two": fs.Rules.from_conditions([[("a", "<=", 0.0)]] * 300, features=["a", "b"])}
    plain = fs.compare(LABELS, explainers, X).differences()
    ones = fs.compare(LABELS, explainers, X, weights=np.ones(300)).differences()
    consistent = plain["measure"] == "consistency"
    assert np.allclose(plain.loc[consistent, ["value", "low", "high"]], ones.loc[consistent, ["value", "low", "high"]])
    assert np.allclose(plain["value"], ones["value"])


def test_what_is_the_same_for_equal_weights_is_what_it_is_without():
    plain, weighted = (fs.consistency(np.round(X, 0), LABELS, weights=weights) for weights in (None, np.full(300, 2.5)))
    for name in ("value", "low", "high", "unverifiable", "chance", "effective_n"):
        assert getattr(plain, name) == pytest.approx(getattr(weighted, name), abs=1e-12)
