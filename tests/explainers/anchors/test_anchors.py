"""Anchors of table rows: rules under which the prediction stays, of labels and of numbers."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from explainers.systems import (
    MEDIAN,
    UNIFORM,
    corner,
    covered,
    diabetes,
    first_is_high,
    forest,
    library,
    tumors,
    written,
)
from faithscope.agreements import Same, Tolerance
from faithscope.errors import BadInput, WrongType
from faithscope.explainers import Anchors


def conditions(rules, row):
    names = {name: j for j, name in enumerate(rules.features)}
    return [(names[name], operator, value) for name, operator, value in rules.to_conditions()[row]]


def fresh_precision(rules, row, agrees, train, draws=3000):
    """The definition, drawn anew: broken values are replaced by values of the same column that keep the rule."""
    chance = np.random.default_rng(1)
    rows = train[chance.integers(len(train), size=draws)].copy()
    compare = {"<=": np.less_equal, ">": np.greater, "==": np.equal}
    asked = conditions(rules, row)
    for j in {feature for feature, _, _ in asked}:
        own = [(compare[operator], value) for feature, operator, value in asked if feature == j]
        keeps = np.logical_and.reduce([holds(train[:, j], value) for holds, value in own])
        broken = ~np.logical_and.reduce([holds(rows[:, j], value) for holds, value in own])
        rows[broken, j] = chance.choice(train[keeps, j], broken.sum())
    return float(np.mean(agrees(rows)))


def stripes(rows):
    """Of one half all have a label; in the other are ten stripes per quarter, which no condition tells apart."""
    return np.where(rows[:, 3] > np.median(UNIFORM[:, 3]), 2, (np.floor(rows[:, 0] * 40) % 2).astype(int))


PRECISE = {
    "labels": (lambda: (forest().predict, tumors()[0]), 0.95, None),
    "labels, low": (lambda: (forest().predict, tumors()[0]), 0.7, None),
    "numbers": (lambda: (diabetes()[2].predict, diabetes()[0]), 0.7, 40.0),
    "numbers, wide": (lambda: (diabetes()[2].predict, diabetes()[0]), 0.9, 60.0),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] * (", " in name)) for name in PRECISE]
)
def test_precision_is_what_the_definition_gives_on_draws_of_ones_own(name):
    system, threshold, eps = PRECISE[name]
    predict, X = system()
    agreement = None if eps is None else Tolerance(eps)
    explainer = Anchors(predict, X, threshold=threshold, beam=1, max_conditions=6, agreement=agreement)
    rules, precision, _ = explainer.explain_with_precision(X[:60:3], samples=4000)
    own = predict(X[:60:3])

    def agrees(row):
        return lambda rows: predict(rows) == own[row] if eps is None else np.abs(predict(rows) - own[row]) <= eps

    brute = np.array([fresh_precision(rules, row, agrees(row), X) for row in range(20)])
    assert np.abs(precision - brute).max() < 0.04
    assert np.mean(brute >= threshold - 0.1) >= 0.9
    assert brute.mean() >= threshold - 0.02
    alone = explainer.explain_with_precision(X[6:7], samples=4000)
    assert alone[1] == precision[2], "whatever batch the row is in"


def test_a_row_without_a_rule_that_reaches_the_threshold_is_seen_by_its_precision():
    rules, precision, _ = Anchors(stripes, UNIFORM, threshold=0.9, beam=2).explain_with_precision(UNIFORM[:60])
    reached = stripes(UNIFORM[:60]) == 2
    assert 10 < reached.sum() < 50
    assert (precision[reached] == 1).all()
    assert (precision[~reached] < 0.75).all()
    own = stripes(UNIFORM[:20])
    brute = [fresh_precision(rules, i, lambda rows, i=i: stripes(rows) == own[i], UNIFORM) for i in range(20)]
    assert np.abs(precision[:20] - brute).max() < 0.06
    assert covered(rules, UNIFORM[:60]).diagonal().all()


def test_the_rule_of_a_threshold_at_the_median_is_that_threshold_also_beyond_all_training_rows():
    rows = np.vstack([UNIFORM[:40], [[9.0, 9.0, -9.0, 9.0], [-9.0, 9.0, 9.0, 9.0]]])
    rules, precision, coverage = Anchors(first_is_high, UNIFORM).explain_with_precision(rows)
    expected = np.where(rows[:, 0] > MEDIAN, f"x0 > {MEDIAN:.7g}", f"x0 <= {MEDIAN:.7g}")
    assert written(rules) == expected.tolist()
    assert (precision == 1).all()
    assert coverage == pytest.approx(0.5)


def test_coverage_is_the_share_of_training_rows_that_the_rule_covers_estimated_on_some_if_they_are_many(monkeypatch):
    X = tumors()[0]
    rules, _, coverage = Anchors(forest(), X, beam=1, threshold=0.8).explain_with_precision(X[:20])
    assert coverage.tolist() == [holds.mean() for holds in covered(rules, X)]
    monkeypatch.setattr("faithscope.explainers.anchors.explainer._COVERED", 300)
    _, _, coverage = Anchors(first_is_high, UNIFORM).explain_with_precision(UNIFORM[:5])
    assert (np.abs(coverage - 0.5) < 0.1).all()
    assert (coverage * 300 == np.round(coverage * 300)).all()


def lengths(rules):
    return np.array([len(rules.conjunction(row)) for row in range(len(rules))])


def test_a_higher_threshold_gives_longer_rules_on_average_and_none_longer_than_allowed():
    X = tumors()[0]
    rules = Anchors(forest(), X, beam=1, max_conditions=3).explain_at(X[:60], (0.5, 0.7, 0.99))
    low, middle, high = (lengths(each) for each in rules.values())
    assert low.mean() <= middle.mean() <= high.mean()
    assert low.mean() < high.mean()
    assert high.max() == 3


def test_the_widest_rule_that_passes_is_given_though_a_shorter_one_passes():
    low, high = np.percentile(UNIFORM, (25, 75), axis=0)

    def either(rows):
        return (rows[:, 0] > high[0]) | ((rows[:, 1] <= high[1]) & (rows[:, 2] > low[2]))

    row = [[0.9, 0.4, 0.6, 0.5]]
    narrow, wide = (Anchors(either, UNIFORM, threshold=0.99, beam=beam).explain_with_precision(row) for beam in (1, 4))
    assert narrow[0].describe(0) == f"x0 > {high[0]:.7g}"
    assert wide[0].describe(0) == f"x1 <= {high[1]:.7g} and x2 > {low[2]:.7g}"
    assert wide[2] > narrow[2]


def test_what_needs_two_conditions_gets_two_and_both_bounds_of_a_number_are_one():
    rules = Anchors(corner, UNIFORM, threshold=0.9).explain([[0.9, 0.9, 0.5, 0.5], [0.1, 0.9, 0.5, 0.5]])
    assert [{condition.feature for condition in rules.conjunction(row)} for row in (0, 1)] == [{"x0", "x1"}, {"x0"}]
    rows = np.linspace(0, 1, 1001)[:, None].repeat(2, axis=1)
    rules = Anchors(lambda X: (X[:, 0] > 0.25) & (X[:, 0] <= 0.5), rows).explain([[0.4, 0.9]])
    assert rules.describe(0) == "0.25 < x0 <= 0.5"


class Counting:
    """A model that counts what it is asked."""

    def __init__(self, model=corner):
        self.model, self.rows, self.calls = model, 0, 0

    def predict(self, rows):
        self.rows += len(rows)
        self.calls += 1
        return self.model(rows)


def test_rows_share_what_the_model_was_asked():
    few, many = Counting(), Counting()
    Anchors(few, UNIFORM, beam=1).explain(UNIFORM[:50])
    Anchors(many, UNIFORM, beam=1).explain(np.tile(UNIFORM[:50], (20, 1)))
    assert many.rows == few.rows + 950
    assert many.calls == few.calls


# The package anchor-exp.


@cache
def anchor_exp():
    library("anchor")
    from anchor.anchor_tabular import AnchorTabularExplainer

    chance = np.random.default_rng(8)
    rows = np.column_stack([chance.normal(size=(1500, 3)), chance.integers(0, 3, (1500, 2))])
    labels = (rows[:, 0] + 0.7 * rows[:, 1] + (rows[:, 3] == 1) + 0.3 * chance.normal(size=1500) > 0.3).astype(int)
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(rows, labels)
    kinds = {place: ["a", "b", "c"] for place in (3, 4)}
    return model, rows, AnchorTabularExplainer([0, 1], [f"x{j}" for j in range(5)], rows, kinds)


def test_draws_are_those_of_anchor_exp():
    model, rows, reference = anchor_exp()
    explainer = Anchors(model, rows, categorical=(3, 4), threshold=0.8, beam=1)
    rules, precision, _ = explainer.explain_with_precision(rows[:12], samples=4000)
    edges = [np.unique(np.percentile(rows[:, j], (25, 50, 75))) for j in range(3)]
    codes = {"<=": "leq", ">": "geq", "==": "eq"}
    for row in range(12):
        draw, mapping = reference.get_sample_fn(rows[row], model.predict)
        wanted = [
            (j, codes[op], value if op == "==" else int(np.searchsorted(edges[j], value)))
            for j, op, value in conditions(rules, row)
        ]
        present = [place for place, condition in mapping.items() if tuple(condition) in wanted]
        assert len(present) == len(wanted)
        np.random.seed(row)  # noqa: NPY002 - theirs
        assert precision[row] == pytest.approx(draw(present, 4000)[2].mean(), abs=0.04)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.95])
def test_rules_are_as_precise_as_those_of_anchor_exp_and_about_as_long(threshold):
    model, rows, reference = anchor_exp()
    from anchor.anchor_base import AnchorBaseBeam

    np.random.seed(0)  # noqa: NPY002 - theirs
    length, fresh = [], []
    for row in rows[:20]:
        draw, mapping = reference.get_sample_fn(row, model.predict)
        how = {"delta": 0.1, "epsilon": 0.15, "batch_size": 100, "desired_confidence": threshold}
        found = AnchorBaseBeam.anchor_beam(draw, **how)["feature"]
        length.append(len({mapping[place][0] for place in found}))
        fresh.append(draw(list(found), 1000)[2].mean())
    ours = Anchors(model, rows, categorical=(3, 4), threshold=threshold, beam=1)
    rules, precision, _ = ours.explain_with_precision(rows[:20])
    assert precision.mean() >= np.mean(fresh) - 0.02
    assert abs(lengths(rules).mean() - np.mean(length)) <= 1


# Several thresholds in one search.

THRESHOLDS = (0.5, 0.7, 0.95, 1.0)


def wavy(rows):
    """Labels that no short rule explains fully, one of them rare."""
    rows = np.asarray(rows, float)
    return np.where(rows[:, 3] > 0.98, 2, (np.sin(7 * rows[:, 0]) + rows[:, 1] * rows[:, 2] > 0.4).astype(int))


def words(rows):
    return ((rows["a"].fillna(0.8) > 0.4) & (rows["b"] == "high")).to_numpy()


def worded():
    table = pd.DataFrame({"a": UNIFORM[:300, 0], "b": np.where(UNIFORM[:300, 1] > 0.6, "high", "low")})
    table.loc[::9, "a"] = np.nan
    return table


@pytest.mark.parametrize(
    ("model", "train", "how"),
    [
        (corner, UNIFORM[:500], {"beam": 1}),
        (wavy, UNIFORM[:500], {"beam": 1}),
        pytest.param(wavy, UNIFORM[:500], {"beam": 3}, marks=pytest.mark.thorough),
        (lambda rows: np.zeros(len(rows), int), UNIFORM[:500], {"beam": 3}),
        (words, worded(), {}),
        (lambda rows: rows[:, 0] + rows[:, 1], UNIFORM[:300], {"agreement": Tolerance(0.2), "max_conditions": 3}),
    ],
)
def test_the_rules_of_several_thresholds_are_those_of_separate_explainers(model, train, how):
    how, rows = {"max_conditions": 4, **how}, train[:8]
    together = Anchors(model, train, **how).explain_at(rows, THRESHOLDS)
    assert list(together) == list(THRESHOLDS)
    for asked, rules in together.items():
        assert written(rules) == written(Anchors(model, train, threshold=asked, **how).explain(rows))


def test_the_model_is_asked_about_a_perturbed_row_once_for_all_thresholds():
    together, alone = Counting(wavy), [Counting(wavy) for _ in THRESHOLDS]
    told = []
    explainer = Anchors(together, UNIFORM, beam=1)
    explainer.explain_at(UNIFORM[:5], THRESHOLDS, progress=lambda *call: told.append(call))
    assert told[-1] == (5, 5)
    assert told == sorted(told)
    for asked, model in zip(THRESHOLDS, alone, strict=True):
        Anchors(model, UNIFORM, threshold=asked, beam=1).explain(UNIFORM[:5])
    counts = [model.rows for model in alone]
    assert max(counts) <= together.rows < 0.6 * sum(counts)
    assert [len(rules) for rules in explainer.explain_at(UNIFORM[:0], [0.5, 0.9]).values()] == [0, 0]
    assert list(explainer.explain_at(UNIFORM[:1], iter([0.9, 0.9]))) == [0.9]


# Numbers that agree within eps.


def first(predict, agreement=None, rows=9):
    return written(Anchors(predict, UNIFORM, agreement=agreement).explain(UNIFORM[:rows]))


@pytest.mark.parametrize("predict", [first_is_high, corner])
def test_labels_are_the_numbers_that_agree_only_if_they_are_equal(predict):
    labels = Anchors(predict, UNIFORM, beam=2).explain_with_precision(UNIFORM[:30])
    for kind, eps in ((float, 1e-9), (int, 0.5), (np.float32, 0.999), (bool, 0.5)):
        numbers = Anchors(lambda rows, k=kind: predict(rows).astype(k), UNIFORM, beam=2, agreement=Tolerance(eps))
        again = numbers.explain_with_precision(UNIFORM[:30])
        assert written(again[0]) == written(labels[0])
        np.testing.assert_array_equal(again[1], labels[1])


def test_a_step_is_told_from_a_slope_by_eps_whose_edge_agrees_at_any_size():
    steps, everything = first(first_is_high), ["everything"] * 9
    for size in (1.0, 1e6, 1.7e307):
        slope = lambda rows, size=size: size * (rows[:, 0] * 0.1 + 8.0 * first_is_high(rows))  # noqa: E731
        assert first(slope, Tolerance(1.0 * size)) == steps
        assert first(slope, Tolerance(9.0 * size)) == everything
    for eps, expected in ((2.0, everything), (1.99, steps)):
        assert first(lambda rows: 2.0 * first_is_high(rows), Tolerance(eps)) == expected
    huge = lambda rows: np.where(first_is_high(rows), 1.7e308, -1.7e308)  # noqa: E731
    assert first(huge, Tolerance(1e300)) == steps


def halves(rows):
    return np.where(first_is_high(rows), 0.5, 1.5)


# Rows and labels of every kind.


def table(n=600):
    chance = np.random.default_rng(3)
    jobs = {"job": chance.choice(["clerk", "cook", "pilot"], n), "age": chance.integers(18, 80, n)}
    return pd.DataFrame({**jobs, "member": chance.random(n) < 0.5})


class Clerks:
    """A model that insists on its own kind of table, and answers in words."""

    def predict(self, rows):
        assert isinstance(rows, pd.DataFrame)
        assert rows.dtypes.equals(table().dtypes)
        return np.where(rows["job"] == "clerk", "yes", "no")


def features(rules):
    return {condition.feature for row in range(len(rules)) for condition in rules.conjunction(row)}


def test_categories_are_equalities_truth_values_have_bounds_and_numbers_may_be_codes():
    rows = table()
    clerks = Anchors(Clerks(), rows).explain(rows.head(20))
    assert {written(clerks)[i] for i in np.flatnonzero(rows["job"].head(20) == "clerk")} == {"job == clerk"}
    members = Anchors(lambda X: X["member"].to_numpy(), rows).explain(rows.head(20))
    assert features(members) == {"member"}
    for rules in (clerks, members):
        assert covered(rules, rows.head(20)).diagonal().all()
    codes = np.column_stack([np.arange(300) % 5, np.arange(300) % 7])
    rules = Anchors(lambda rows: rows[:, 0] == 3, codes, categorical=[0, 1]).explain([[3, 2], [4, 3]])
    assert rules.describe(0) == "x0 == 3"


def test_labels_may_be_of_several_classes_words_tuples_or_fractions_that_are_names():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, names[y])
    rules, precision, _ = Anchors(tree, X, threshold=0.9).explain_with_precision(X[::10])
    assert written(rules)[:5] == ["x3 <= 0.3"] * 5
    assert written(rules)[-5:] == ["x3 > 1.8"] * 5
    assert (precision[:5] == 1).all()
    assert (precision[5:10] > 0.5).all()  # quarters of the training rows are too coarse here, and it says so
    assert first(lambda rows: [("above", bool(high)) for high in first_is_high(rows)]) == first(first_is_high)
    assert first(halves, Same()) == first(first_is_high)


def test_columns_may_be_called_anything():
    for names in ([1, 0, 2], ["", " and ", "x <= 3"], [("a", 1), ("a", 2), ("b", 1)], ["x1", "x0", "=="]):
        frame = pd.DataFrame(UNIFORM[:, :3])
        frame.columns = pd.Index(names, tupleize_cols=False)
        rules = Anchors(lambda rows: first_is_high(rows.to_numpy()), frame).explain(frame.head(20))
        assert {condition.position for row in range(20) for condition in rules.conjunction(row)} == {0}
        assert covered(rules, frame.head(20)).diagonal().all()


def test_rows_in_single_precision_keep_their_rules_and_a_constant_feature_is_never_used():
    rows = np.random.default_rng(9).normal(size=(301, 3)).astype(np.float32)
    rows[:, 2] = 7.0
    rules = Anchors(lambda X: X.sum(axis=1) > 7, rows, threshold=0.9, beam=1).explain(rows)
    assert covered(rules, rows).diagonal().all()
    assert features(rules) == {"x0", "x1"}


def test_a_model_of_one_class_or_one_training_row_gives_the_rule_that_covers_everything():
    rules, precision, coverage = Anchors(lambda rows: np.zeros(len(rows)), UNIFORM).explain_with_precision(UNIFORM[:5])
    assert written(rules) == ["everything"] * 5
    assert (precision == 1).all()
    assert (coverage == 1).all()
    rules, precision, _ = Anchors(first_is_high, UNIFORM[:1]).explain_with_precision(UNIFORM[:10])
    assert written(rules) == ["everything"] * 10
    assert (precision == (first_is_high(UNIFORM[:10]) == first_is_high(UNIFORM[:1]))).all()
    assert Anchors(first_is_high, UNIFORM).explain(UNIFORM[:0]).features == ("x0", "x1", "x2", "x3")


# What is refused.


def infinite():
    rows = UNIFORM.copy()
    rows[[3, 5], 1] = np.inf
    return rows


def explained(predict=first_is_high, rows=UNIFORM[:30], train=UNIFORM, **how):
    return lambda: Anchors(predict, train, **how).explain(rows)


SETTINGS = {"threshold": [0, 1.2], "beam": [0], "delta": [1], "tau": [0]}
BAD_INPUT = [
    (explained(train=pd.DataFrame(UNIFORM[:, :3], columns=["a", "b", "a"])), "Two features are called 'a'"),
    (explained(train=infinite()), "'x1' holds inf at row 3 and 1 more"),
    (explained(rows=infinite()), "'x1' holds inf at row 3 and 1 more"),
    (explained(lambda rows: rows[:, 0]), "continuous"),
    (explained(lambda rows: np.full((len(rows), 2), 0.5)), "probabilities"),
    (explained(lambda rows: np.zeros(len(rows) - 1)), "pass one of each per row"),
    (explained(halves), r"If fractions are the names of classes, pass agreement=fs.Same\(\)"),
    *[(explained(**{name: value}), name) for name, values in SETTINGS.items() for value in values],
    (explained(max_conditions=0), "The most conditions must be"),
    (explained(categorical=["nobody"]), "nobody"),
    *[
        (lambda wrong=wrong: Anchors(corner, UNIFORM).explain_at(UNIFORM[:2], wrong), "threshold")
        for wrong in (0.9, [], "0.9", [0.9, 1.5], [0.0])
    ],
]


@pytest.mark.parametrize(("error", "refusals"), [(BadInput, BAD_INPUT), (WrongType, [(explained("model"), "predict")])])
def test_what_cannot_be_explained_is_refused(error, refusals):
    for call, message in refusals:
        with pytest.raises(error, match=message):
            call()
