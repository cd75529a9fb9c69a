"""Anchors of table rows."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import faithscope as fs
from anchor_systems import MEDIAN, UNIFORM, corner, first_is_high, written
from faithscope.explainers.anchors.explainer import Anchors

CANCER, Y = load_breast_cancer(return_X_y=True)
CANCER = CANCER[:, :8]
FOREST = RandomForestClassifier(8, max_depth=5, random_state=0).fit(CANCER[:400], Y[:400])


def lengths(rules):
    return np.array([len(rules.conjunction(row)) for row in range(len(rules))])


def fresh_precision(conditions, predict, train, label, draws=2000, seed=1):
    """The definition, drawn anew: broken values are replaced by values of the same column that keep the rule."""
    chance = np.random.default_rng(seed)
    rows = train[chance.integers(len(train), size=draws)].copy()
    for j in {feature for feature, _, _ in conditions}:
        keeps = np.ones(len(train), bool)
        broken = np.zeros(draws, bool)
        for feature, operator, value in conditions:
            if feature == j:
                compare = {"<=": np.less_equal, ">": np.greater, "==": np.equal}[operator]
                keeps &= compare(train[:, j], value)
                broken |= ~compare(rows[:, j], value)
        rows[broken, j] = chance.choice(train[keeps, j], broken.sum())
    return float(np.mean(predict(rows) == label))


def by_position(rules, row):
    names = {name: j for j, name in enumerate(rules.features)}
    return [(names[name], operator, value) for name, operator, value in rules.to_conditions()[row]]


def test_the_rule_of_a_threshold_at_the_median_is_that_threshold():
    rows = UNIFORM[:40]
    rules, precision, coverage = Anchors(first_is_high, UNIFORM).explain_with_precision(rows)
    expected = np.where(rows[:, 0] > MEDIAN, f"x0 > {MEDIAN:.7g}", f"x0 <= {MEDIAN:.7g}")
    assert written(rules) == expected.tolist()
    assert (precision == 1).all()
    assert coverage == pytest.approx(0.5)


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.slow
def test_a_rule_is_the_same_alone_shuffled_and_together(beam):
    explainer = Anchors(FOREST, CANCER[:400], beam=beam, threshold=0.9, max_conditions=4)
    rows = CANCER[400:430]
    together = written(explainer.explain(rows))
    order = np.random.default_rng(2).permutation(len(rows))
    assert written(explainer.explain(rows[order])) == [together[row] for row in order]
    for row in range(0, len(rows), 5):
        assert written(explainer.explain(rows[row : row + 1])) == together[row : row + 1]
    assert written(Anchors(FOREST, CANCER[:400], beam=beam, threshold=0.9, max_conditions=4).explain(rows)) == together


def test_precision_of_a_row_does_not_depend_on_the_batch_either():
    explainer = Anchors(FOREST, CANCER[:400], beam=1)
    _, precision, coverage = explainer.explain_with_precision(CANCER[400:420])
    _, alone, covered = explainer.explain_with_precision(CANCER[410:411])
    assert (alone[0], covered[0]) == (precision[10], coverage[10])


@pytest.mark.slow
def test_other_seeds_draw_anew():
    rules = [written(Anchors(FOREST, CANCER[:400], beam=1, seed=seed).explain(CANCER[400:440])) for seed in (0, 1, -1)]
    assert rules[0] != rules[1] != rules[2]


@pytest.mark.parametrize("threshold", [0.6, 0.95])
def test_rules_cover_their_own_row(threshold):
    rows = CANCER[400:460]
    rules = Anchors(FOREST, CANCER[:400], threshold=threshold, beam=2, max_conditions=5).explain(rows)
    assert fs.sufficiency(rules, FOREST.predict(rows), rows).counts.missed.sum() == 0


@pytest.mark.parametrize("threshold", [0.7, 0.95])
@pytest.mark.slow
def test_precision_is_what_the_definition_gives_on_draws_of_ones_own(threshold):
    rows = CANCER[400:440]
    rules, precision, _ = Anchors(FOREST, CANCER[:400], threshold=threshold, beam=1).explain_with_precision(rows)
    labels = FOREST.predict(rows)
    brute = np.array(
        [fresh_precision(by_position(rules, i), FOREST.predict, CANCER[:400], labels[i]) for i in range(len(rows))]
    )
    assert np.abs(precision - brute).max() < 0.06
    assert np.mean(brute >= threshold - 0.1) >= 0.9
    assert brute.mean() >= threshold - 0.02


def test_coverage_is_the_share_of_training_rows_that_the_rule_covers():
    rules, _, coverage = Anchors(FOREST, CANCER[:400], beam=1, threshold=0.8).explain_with_precision(CANCER[400:420])
    for row in range(len(rules)):
        holds = list(rules.holds(rules.conjunction(row), CANCER[:400]))
        assert coverage[row] == np.logical_and.reduce([np.ones(400, bool), *holds]).mean()


def test_coverage_of_many_rows_is_estimated_on_some(monkeypatch):
    monkeypatch.setattr("faithscope.explainers.anchors.explainer._COVERED", 300)
    _, _, coverage = Anchors(first_is_high, UNIFORM).explain_with_precision(UNIFORM[:5])
    assert (np.abs(coverage - 0.5) < 0.1).all()
    assert (coverage * 300 == np.round(coverage * 300)).all()


@pytest.mark.slow
def test_a_higher_threshold_gives_longer_rules_on_average():
    rows = CANCER[400:460]
    mean = [
        lengths(Anchors(FOREST, CANCER[:400], threshold=threshold, beam=1).explain(rows)).mean()
        for threshold in (0.5, 0.7, 0.95)
    ]
    assert mean[0] <= mean[1] <= mean[2]
    assert mean[0] < mean[2]


def test_a_wider_beam_finds_wider_rules():
    rows = UNIFORM[:100]
    coverage = [
        Anchors(corner, UNIFORM, threshold=0.7, beam=beam).explain_with_precision(rows)[2].mean() for beam in (1, 4)
    ]
    assert coverage[1] > coverage[0] + 0.02


def test_the_widest_rule_that_passes_is_given_though_a_shorter_one_passes():
    low, high = np.percentile(UNIFORM, (25, 75), axis=0)

    def either(rows):
        return (rows[:, 0] > high[0]) | ((rows[:, 1] <= high[1]) & (rows[:, 2] > low[2]))

    row = [[0.9, 0.4, 0.6, 0.5]]
    narrow, wide = (Anchors(either, UNIFORM, threshold=0.99, beam=beam).explain_with_precision(row) for beam in (1, 4))
    assert narrow[0].describe(0) == f"x0 > {high[0]:.7g}"
    assert wide[0].describe(0) == f"x1 <= {high[1]:.7g} and x2 > {low[2]:.7g}"
    assert wide[2] > narrow[2]


def test_a_row_without_a_rule_that_reaches_the_threshold_is_seen_by_its_precision():
    def stripes(rows):
        return (np.floor(rows[:, 0] * 40) % 2).astype(int)  # ten in a quarter: no condition tells them apart

    def half(rows):
        return np.where(rows[:, 3] > np.median(UNIFORM[:, 3]), 2, stripes(rows))

    rules, precision, _ = Anchors(half, UNIFORM, threshold=0.9, beam=2).explain_with_precision(UNIFORM[:60])
    reached = half(UNIFORM[:60]) == 2
    assert 10 < reached.sum() < 50
    assert (precision[reached] == 1).all()
    assert (precision[~reached] < 0.75).all()
    brute = [fresh_precision(by_position(rules, i), half, UNIFORM, half(UNIFORM[i : i + 1])[0]) for i in range(20)]
    assert np.abs(precision[:20] - brute).max() < 0.06
    assert fs.sufficiency(rules, half(UNIFORM[:60]), UNIFORM[:60]).counts.missed.sum() == 0


def test_what_needs_two_conditions_gets_two():
    rows = np.array([[0.9, 0.9, 0.5, 0.5], [0.1, 0.9, 0.5, 0.5]])
    rules = Anchors(corner, UNIFORM, threshold=0.9).explain(rows)
    assert {condition.feature for condition in rules.conjunction(0)} == {"x0", "x1"}
    assert {condition.feature for condition in rules.conjunction(1)} == {"x0"}


def test_no_rule_is_longer_than_allowed():
    rules = Anchors(FOREST, CANCER[:400], threshold=0.99, beam=1, max_conditions=2).explain(CANCER[400:430])
    assert lengths(rules).max() <= 2


def test_both_bounds_of_a_number_make_one_condition():
    rows = np.linspace(0, 1, 1001)[:, None].repeat(2, axis=1)
    rules = Anchors(lambda X: (X[:, 0] > 0.25) & (X[:, 0] <= 0.5), rows).explain([[0.4, 0.9]])
    assert rules.describe(0) == "0.25 < x0 <= 0.5"


def test_explainers_pickle():
    explainer = Anchors(FOREST, CANCER[:400], beam=1, max_conditions=3)
    again = pickle.loads(pickle.dumps(explainer))
    assert written(again.explain(CANCER[400:410])) == written(explainer.explain(CANCER[400:410]))


def test_progress_never_goes_back_and_reaches_the_end(monkeypatch):
    monkeypatch.setattr("faithscope.explainers.anchors.explainer._GROUP", 12)
    seen = []
    rows = np.concatenate([UNIFORM[:40], UNIFORM[:10]])
    Anchors(corner, UNIFORM, beam=1).explain(rows, progress=lambda done, total: seen.append((done, total)))
    assert {total for _, total in seen} == {50}
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen[-1] == (50, 50)
    assert len(seen) > 4


class Counting:
    """A model that counts what it is asked."""

    def __init__(self):
        self.rows = self.calls = 0

    def predict(self, rows):
        self.rows += len(rows)
        self.calls += 1
        return corner(rows)


def test_rows_share_what_the_model_was_asked():
    few, many = Counting(), Counting()
    Anchors(few, UNIFORM, beam=1).explain(UNIFORM[:50])
    Anchors(many, UNIFORM, beam=1).explain(np.tile(UNIFORM[:50], (20, 1)))
    assert many.rows == few.rows + 950
    assert many.calls == few.calls


@pytest.fixture(scope="module")
def anchor_exp():
    pytest.importorskip("anchor")
    from anchor.anchor_tabular import AnchorTabularExplainer

    chance = np.random.default_rng(8)
    rows = np.column_stack([chance.normal(size=(1500, 3)), chance.integers(0, 3, (1500, 2))])
    labels = (rows[:, 0] + 0.7 * rows[:, 1] + (rows[:, 3] == 1) + 0.3 * chance.normal(size=1500) > 0.3).astype(int)
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(rows, labels)
    reference = AnchorTabularExplainer(
        [0, 1], [f"x{j}" for j in range(5)], rows, {3: ["a", "b", "c"], 4: ["a", "b", "c"]}
    )
    return model, rows, reference


def test_draws_are_those_of_anchor_exp(anchor_exp):
    model, rows, reference = anchor_exp
    rules, precision, _ = Anchors(model, rows, categorical=(3, 4), threshold=0.8, beam=1).explain_with_precision(
        rows[:12], samples=4000
    )
    for row in range(12):
        draw, mapping = reference.get_sample_fn(rows[row], model.predict)
        wanted = by_position(rules, row)
        edges = [np.unique(np.percentile(rows[:, j], (25, 50, 75))) for j in range(3)]
        codes = {"<=": "leq", ">": "geq", "==": "eq"}
        conditions = [
            (j, codes[op], value if op == "==" else int(np.searchsorted(edges[j], value))) for j, op, value in wanted
        ]
        present = [place for place, (j, op, value) in mapping.items() if (j, op, value) in conditions]
        assert len(present) == len(conditions)
        np.random.seed(row)  # noqa: NPY002 - theirs
        assert precision[row] == pytest.approx(draw(present, 4000)[2].mean(), abs=0.04)


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.95])
@pytest.mark.slow
def test_rules_are_as_precise_as_those_of_anchor_exp_and_about_as_long(anchor_exp, threshold):
    from anchor.anchor_base import AnchorBaseBeam

    model, rows, reference = anchor_exp
    np.random.seed(0)  # noqa: NPY002 - theirs
    length, fresh = [], []
    for row in rows[:20]:
        draw, mapping = reference.get_sample_fn(row, model.predict)
        explanations = AnchorBaseBeam.anchor_beam(
            draw, delta=0.1, epsilon=0.15, batch_size=100, desired_confidence=threshold
        )
        length.append(len({mapping[place][0] for place in explanations["feature"]}))
        fresh.append(draw(list(explanations["feature"]), 1000)[2].mean())
    ours = Anchors(model, rows, categorical=(3, 4), threshold=threshold, beam=1)
    rules, precision, _ = ours.explain_with_precision(rows[:20])
    assert precision.mean() >= np.mean(fresh) - 0.02
    assert abs(lengths(rules).mean() - np.mean(length)) <= 1
