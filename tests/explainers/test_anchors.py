"""Anchors of table rows, and the search that text shares."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.explainers.anchors import Anchors
from faithscope.explainers.lucb import Answers, Search, lower_bound, upper_bound

CANCER, Y = load_breast_cancer(return_X_y=True)
CANCER = CANCER[:, :8]
FOREST = RandomForestClassifier(8, max_depth=5, random_state=0).fit(CANCER[:400], Y[:400])
rng = np.random.default_rng(0)
UNIFORM = rng.random((2000, 4))
MEDIAN = float(np.median(UNIFORM[:, 0]))


def first_is_high(rows):
    return np.asarray(rows)[:, 0] > MEDIAN


def corner(rows):
    """High where two features are: an anchor of it needs both, or one that is low."""
    return ((rows[:, 0] > 0.5) & (rows[:, 1] > 0.5)).astype(int)


def written(rules):
    return [rules.describe(row) for row in range(len(rules))]


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


def test_other_seeds_draw_anew():
    rules = [written(Anchors(FOREST, CANCER[:400], beam=1, seed=seed).explain(CANCER[400:440])) for seed in (0, 1, -1)]
    assert rules[0] != rules[1] != rules[2]


@pytest.mark.parametrize("threshold", [0.6, 0.95])
def test_rules_cover_their_own_row(threshold):
    rows = CANCER[400:460]
    rules = Anchors(FOREST, CANCER[:400], threshold=threshold, beam=2, max_conditions=5).explain(rows)
    assert fs.sufficiency(rules, rows, FOREST.predict(rows)).counts.missed.sum() == 0


@pytest.mark.parametrize("threshold", [0.7, 0.95])
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


def test_coverage_of_many_rows_is_estimated_on_some():
    _, _, coverage = Anchors(first_is_high, UNIFORM, coverage_samples=300).explain_with_precision(UNIFORM[:5])
    assert (np.abs(coverage - 0.5) < 0.1).all()
    assert (coverage * 300 == np.round(coverage * 300)).all()


def test_a_higher_threshold_gives_longer_rules_on_average():
    rows = CANCER[400:460]
    mean = [
        lengths(Anchors(FOREST, CANCER[:400], threshold=one, beam=1).explain(rows)).mean() for one in (0.5, 0.7, 0.95)
    ]
    assert mean[0] <= mean[1] <= mean[2]
    assert mean[0] < mean[2]


def test_a_wider_beam_finds_wider_rules():
    rows = UNIFORM[:100]
    coverage = [
        Anchors(corner, UNIFORM, threshold=0.7, beam=beam).explain_with_precision(rows)[2].mean() for beam in (1, 4)
    ]
    assert coverage[1] > coverage[0] + 0.02


def test_what_needs_two_conditions_gets_two():
    rows = np.array([[0.9, 0.9, 0.5, 0.5], [0.1, 0.9, 0.5, 0.5]])
    rules = Anchors(corner, UNIFORM, threshold=0.9).explain(rows)
    assert {one.feature for one in rules.conjunction(0)} == {"x0", "x1"}
    assert {one.feature for one in rules.conjunction(1)} == {"x0"}


def test_no_rule_is_longer_than_allowed():
    rules = Anchors(FOREST, CANCER[:400], threshold=0.99, beam=1, max_conditions=2).explain(CANCER[400:430])
    assert lengths(rules).max() <= 2


def test_both_bounds_of_a_number_make_one_condition():
    rows = np.linspace(0, 1, 1001)[:, None].repeat(2, axis=1)
    rules = Anchors(lambda X: (X[:, 0] > 0.25) & (X[:, 0] <= 0.5), rows).explain([[0.4, 0.9]])
    assert rules.describe(0) == "0.25 < x0 <= 0.5"


def table(n=600):
    chance = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "job": chance.choice(["clerk", "cook", "pilot"], n),
            "age": chance.integers(18, 80, n),
            "member": chance.random(n) < 0.5,
        }
    )


class Clerks:
    """A model that insists on its own kind of table, and answers in words."""

    def predict(self, rows):
        assert isinstance(rows, pd.DataFrame)
        assert rows.dtypes.equals(table().dtypes)
        return np.where(rows["job"] == "clerk", "yes", "no")


def test_categories_are_equalities_and_pandas_models_get_pandas():
    rows = table()
    rules = Anchors(Clerks(), rows).explain(rows.head(20))
    assert {written(rules)[i] for i in np.flatnonzero(rows["job"].head(20) == "clerk")} == {"job == clerk"}
    assert fs.sufficiency(rules, rows.head(20), np.zeros(20)).counts.missed.sum() == 0


def test_numbers_may_be_codes_of_categories():
    codes = np.column_stack([np.arange(300) % 5, np.arange(300) % 7])
    rules = Anchors(lambda rows: rows[:, 0] == 3, codes, categorical=[0, 1]).explain([[3, 2], [4, 3]])
    assert rules.describe(0) == "x0 == 3"


def test_truth_values_and_whole_numbers_have_bounds():
    rows = table()
    rules = Anchors(lambda X: X["member"].to_numpy(), rows).explain(rows.head(10))
    assert {one.feature for row in range(10) for one in rules.conjunction(row)} == {"member"}
    assert fs.sufficiency(rules, rows.head(10), np.zeros(10)).counts.missed.sum() == 0


def test_an_unseen_category_is_refused():
    with pytest.raises(BadInput, match="'baker'"):
        Anchors(Clerks(), table()).explain(pd.DataFrame({"job": ["baker"], "age": [30], "member": [True]}))


def test_several_classes_and_labels_of_any_kind():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, names[y])
    rules, precision, _ = Anchors(tree, X, threshold=0.9).explain_with_precision(X[::10])
    assert written(rules)[:5] == ["x3 <= 0.3"] * 5
    assert written(rules)[-5:] == ["x3 > 1.8"] * 5
    assert (precision[:5] == 1).all()
    assert (precision[5:10] > 0.5).all()  # quarters of the training rows are too coarse here, and it says so


def test_a_constant_feature_is_never_used():
    rows = UNIFORM.copy()
    rows[:, 2] = 7.0
    rules = Anchors(corner, rows, threshold=0.99).explain(rows[:50])
    assert "x2" not in {one.feature for row in range(50) for one in rules.conjunction(row)}


def test_a_row_beyond_all_training_rows_keeps_its_rule():
    rules = Anchors(first_is_high, UNIFORM).explain([[9.0, 9.0, -9.0, 9.0], [-9.0, 9.0, 9.0, 9.0]])
    assert written(rules) == [f"x0 > {MEDIAN:.7g}", f"x0 <= {MEDIAN:.7g}"]


def test_a_model_of_one_class_gives_the_rule_that_covers_everything():
    rules, precision, coverage = Anchors(lambda rows: np.zeros(len(rows)), UNIFORM).explain_with_precision(UNIFORM[:5])
    assert written(rules) == ["everything"] * 5
    assert (precision == 1).all()
    assert (coverage == 1).all()


def test_one_training_row_has_no_conditions_to_offer():
    rules, precision, _ = Anchors(first_is_high, UNIFORM[:1]).explain_with_precision(UNIFORM[:10])
    assert written(rules) == ["everything"] * 10
    same = first_is_high(UNIFORM[:10]) == first_is_high(UNIFORM[:1])
    assert (precision == same).all()


def test_no_rows_give_no_rules():
    rules, precision, coverage = Anchors(first_is_high, UNIFORM).explain_with_precision(UNIFORM[:0])
    assert len(rules) == len(precision) == len(coverage) == 0
    assert rules.features == ("x0", "x1", "x2", "x3")


def test_explainers_pickle():
    explainer = Anchors(FOREST, CANCER[:400], beam=1, max_conditions=3)
    again = pickle.loads(pickle.dumps(explainer))
    assert written(again.explain(CANCER[400:410])) == written(explainer.explain(CANCER[400:410]))


def test_progress_reaches_the_end():
    seen = []
    Anchors(first_is_high, UNIFORM).explain(UNIFORM[:30], progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (30, 30)


def test_a_model_that_gives_probabilities_is_refused():
    with pytest.raises(BadInput, match="continuous"):
        Anchors(lambda rows: rows[:, 0], UNIFORM).explain(UNIFORM[:3])
    with pytest.raises(BadInput, match="probabilities"):
        Anchors(FOREST.predict_proba, CANCER[:400]).explain(CANCER[:3])


def test_a_model_that_forgets_rows_is_refused():
    with pytest.raises(BadInput, match="one a row"):
        Anchors(lambda rows: np.zeros(len(rows) - 1), UNIFORM).explain(UNIFORM[:30])


@pytest.mark.parametrize(
    "wrong", [{"threshold": 0}, {"threshold": 1.2}, {"beam": 0}, {"delta": 1}, {"tau": 0}, {"batch": 0},
              {"max_conditions": 0}, {"coverage_samples": 0}, {"categorical": ["nobody"]}],
    ids=str,
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(BadInput):
        Anchors(first_is_high, UNIFORM, **wrong)


def test_what_is_no_model_is_refused_at_once():
    with pytest.raises(WrongType):
        Anchors("model", UNIFORM)


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


@pytest.mark.parametrize("mean", [0.0, 0.03, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("level", [0.001, 0.1, 2.0])
def test_bounds_are_where_the_divergence_passes_the_level(mean, level):
    def divergence(q):
        q = min(max(q, 1e-9), 1 - 1e-9)
        return sum(a * np.log(a / b) for a, b in ((mean, q), (1 - mean, 1 - q)) if a > 0)

    low, high = (bound(np.array([mean]), np.array([level]))[0] for bound in (lower_bound, upper_bound))
    assert 0 <= low <= mean <= high <= 1
    near = 2.0**-15
    assert divergence(min(low + near, mean)) <= level + 1e-6
    assert divergence(max(high - near, mean)) <= level + 1e-6
    assert low < near or divergence(low) >= level - 1e-6
    assert high > 1 - near or divergence(high) >= level - 1e-6


def test_answers_are_a_dictionary():
    chance, known, answers, asked = np.random.default_rng(4), {}, Answers(), []
    for _ in range(30):
        keys = chance.integers(1, 300_000, size=(40, 500)).astype(np.uint64)

        def ask(positions, keys=keys):
            asked.extend(keys.ravel()[positions].tolist())
            return (keys.ravel()[positions] % np.uint64(1000)).astype(np.int64)

        assert (answers.of(keys, ask) == keys % np.uint64(1000)).all()
        known.update(dict.fromkeys(keys.ravel().tolist()))
    assert sorted(asked) == sorted(known)


class Urns:
    """Candidates with known precision: feature j alone agrees with probability p[j], whatever else is there."""

    batch = 100

    def __init__(self, precision, seed):
        self.precision, self.width, self.seed, self.draws = np.array(precision), len(precision), seed, 0

    def extend(self, rows, anchors):
        return np.arange(self.width), (anchors == 0).astype(np.int32)

    def coverage(self, anchors, features, codes):
        return np.zeros(codes.shape)

    def agreeing(self, wanted):
        anchors = wanted.anchors(slice(None))
        best = np.where(anchors != 0, self.precision, 0.1).max(axis=1)
        self.draws += len(best) * self.batch
        keys = zip(wanted.row.tolist(), wanted.batch.tolist(), wanted.key.tolist(), strict=True)
        chance = [np.random.default_rng([self.seed, *key]) for key in keys]
        return np.array([one.binomial(self.batch, p) for one, p in zip(chance, best, strict=True)])


def test_the_best_candidate_is_missed_by_more_than_tau_in_less_than_delta_of_searches():
    urns = Urns([0.5, 0.62, 0.45, 0.7, 0.68, 0.3, 0.55, 0.2], seed=5)
    found = Search(0.99, beam=1, delta=0.1, tau=0.15, longest=1).run(urns, np.arange(200))
    chosen = urns.precision[found.argmax(axis=1)]
    assert np.mean(chosen < 0.7 - 0.15) <= 0.1
    assert urns.draws < 200 * 8 * 2000


def test_anchors_below_the_threshold_pass_in_less_than_delta_of_searches():
    urns = Urns([0.84, 0.3, 0.3, 0.97], seed=6)
    found = Search(0.9, beam=2, delta=0.1, tau=0.15).run(urns, np.arange(200))
    assert np.mean(found[:, 3] == 0) <= 0.1


def test_where_nothing_passes_the_most_precise_is_given():
    urns = Urns([0.2, 0.5, 0.3], seed=7)
    found = Search(0.95, beam=1, delta=0.1, tau=0.05).run(urns, np.arange(30))
    assert (found[:, 1] == 1).mean() > 0.9


@pytest.fixture(scope="module")
def anchor_exp():
    pytest.importorskip("anchor")
    from anchor.anchor_tabular import AnchorTabularExplainer

    chance = np.random.default_rng(8)
    rows = np.column_stack([chance.normal(size=(1500, 3)), chance.integers(0, 3, (1500, 2))])
    labels = (rows[:, 0] + 0.7 * rows[:, 1] + (rows[:, 3] == 1) + 0.3 * chance.normal(size=1500) > 0.3).astype(int)
    model = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(rows, labels)
    theirs = AnchorTabularExplainer([0, 1], [f"x{j}" for j in range(5)], rows, {3: ["a", "b", "c"], 4: ["a", "b", "c"]})
    return model, rows, theirs


def test_draws_are_those_of_anchor_exp(anchor_exp):
    model, rows, theirs = anchor_exp
    rules, precision, _ = Anchors(model, rows, categorical=(3, 4), threshold=0.8, beam=1).explain_with_precision(
        rows[:12], samples=4000
    )
    for row in range(12):
        draw, mapping = theirs.get_sample_fn(rows[row], model.predict)
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
def test_rules_are_as_precise_as_those_of_anchor_exp_and_about_as_long(anchor_exp, threshold):
    from anchor.anchor_base import AnchorBaseBeam

    model, rows, theirs = anchor_exp
    np.random.seed(0)  # noqa: NPY002 - theirs
    length, fresh = [], []
    for row in rows[:20]:
        draw, mapping = theirs.get_sample_fn(row, model.predict)
        found = AnchorBaseBeam.anchor_beam(draw, delta=0.1, epsilon=0.15, batch_size=100, desired_confidence=threshold)
        length.append(len({mapping[place][0] for place in found["feature"]}))
        fresh.append(draw(list(found["feature"]), 1000)[2].mean())
    ours = Anchors(model, rows, categorical=(3, 4), threshold=threshold, beam=1)
    rules, precision, _ = ours.explain_with_precision(rows[:20])
    assert precision.mean() >= np.mean(fresh) - 0.02
    assert abs(lengths(rules).mean() - np.mean(length)) <= 1
