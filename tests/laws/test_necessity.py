"""Necessity equals its definition, pair by pair, with every row or block left out; and what it must always obey."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
import faithscope as fs
from faithscope.counting.necessity.reaching import count_necessity
from faithscope.errors import NotProven, NotScoped
from faithscope.measures import scopes
from faithscope.measures.necessity import reached
from faithscope.relations import to_relation
from faithscope.sample import Sample

SEEDS = st.integers(0, 100_000)
AGREEMENTS = {
    "labels": (None, lambda a, b: a == b),
    "close": (fs.Close(0.97), lambda a, b: max(0.0, 1 - abs(a - b) / 0.97)),  # no distance is nearly eps
    "tolerance": (fs.Tolerance(0.45), lambda a, b: abs(a - b) <= 0.45),
    "own": (lambda a, b: 1 / (1 + np.abs(a - b)), lambda a, b: 1 / (1 + abs(a - b))),
}
ROWS = {"alone": (False, False), "weighted": (True, False), "clustered": (False, True), "both": (True, True)}


class Drawn:
    """A random system: few rules, so that many rows share one, and some that miss their own row or cover nobody."""

    def __init__(self, seed, agreement="labels", weighted=False, clustered=False, most=14):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, most))
        self.x = rng.integers(0, 4, (n, 2)).astype(float)
        pool = [self._conditions(rng) for _ in range(int(rng.integers(1, 6)))]
        self.conditions = [pool[k] for k in rng.integers(0, len(pool), n)]
        self.agreement, self.agree = AGREEMENTS[agreement]
        labels = rng.integers(0, int(rng.integers(1, 5)), n)
        self.y = labels if agreement == "labels" else np.round(rng.random(n) * 3, 1)
        self.weights = rng.integers(1, 5, n) * rng.random() if weighted else None
        self.clusters = np.concatenate([[0, 1], rng.integers(0, max(2, n // 2), n - 2)]) if clustered else None

    def _conditions(self, rng):
        ops = ["<=", ">", "==", "!="]
        return [("ab"[k], str(rng.choice(ops)), float(rng.integers(0, 5))) for k in rng.choice(2, rng.integers(0, 3))]

    @property
    def rules(self):
        return fs.Rules.from_conditions(self.conditions, features=["a", "b"])

    @property
    def covers(self):
        test = {"<=": np.less_equal, ">": np.greater, "==": np.equal, "!=": np.not_equal}
        return [
            [all(test[op](x["ab".index(name)], value) for name, op, value in rule) for x in self.x]
            for rule in self.conditions
        ]

    @property
    def sample(self):
        return Sample.of(self.rules, self.y, self.x, self.weights, self.agreement, self.clusters)

    def brute(self, keep=None):
        rows = np.arange(len(self.y)) if keep is None else keep
        covers = self.covers
        part = [[covers[i][j] for j in rows] for i in rows]
        weights = None if self.weights is None else self.weights[rows]
        clusters = None if self.clusters is None else self.clusters[rows]
        return brute.necessity(part, self.y[rows], self.agree, weights, clusters)

    def estimate(self, **how):
        kept = {"weights": self.weights, "clusters": self.clusters, "agreement": self.agreement}
        return fs.necessity(self.rules, self.y, self.x, **kept, **how)


def check_left_out(drawn, counted):
    """What is left out gives what brute force gives without those rows."""
    left_out = counted.terms.left_out
    for part in range(len(left_out.value)):
        block = np.arange(len(drawn.y)) if counted.block is None else counted.block
        value, silent, chance = drawn.brute(np.flatnonzero(block != part))
        assert left_out.value[part] == pytest.approx(value, abs=1e-9)
        assert left_out.silent[part] == pytest.approx(silent, abs=1e-9)
        assert counted.terms.chance_left_out[part] == pytest.approx(chance or 0.0, abs=1e-9)


@pytest.mark.parametrize("agreement", AGREEMENTS)
@pytest.mark.parametrize("rows", ROWS)
@given(seed=SEEDS)
@settings(max_examples=15)
def test_necessity_is_its_definition_and_so_is_what_it_becomes_without_rows(agreement, rows, seed):
    drawn = Drawn(seed, agreement, *ROWS[rows])
    estimate, (value, silent, chance) = drawn.estimate(), drawn.brute()
    assert estimate.value == pytest.approx(value, abs=1e-9)
    assert estimate.unverifiable == pytest.approx(silent, abs=1e-9)
    assert estimate.chance == (None if chance is None else pytest.approx(chance, abs=1e-9))
    assert 0 <= estimate.low <= estimate.value <= estimate.upper <= estimate.high <= 1
    check_left_out(drawn, reached(drawn.sample))


@given(seed=SEEDS)
@settings(max_examples=20)
def test_blocks_of_labeled_rows_are_left_out_exactly(seed):
    drawn = Drawn(seed, most=40)
    sample = drawn.sample
    counted = count_necessity(sample, to_relation(None, sample.explanations), exact=0)
    value, silent, _ = drawn.brute()
    assert counted.terms.sums.agreeing == pytest.approx(value * len(drawn.y), abs=1e-9)
    assert counted.terms.sums.silent == pytest.approx(silent * len(drawn.y), abs=1e-9)
    check_left_out(drawn, counted)


def test_dense_and_padded_bitmaps_and_blocks_agree():
    rng = np.random.default_rng(0)
    x, y = rng.random((6_000, 2)), rng.integers(0, 3, 6_000)
    pool = [[("a", "<=", float(cut))] for cut in np.linspace(0.3, 1, 20)] + [[("b", ">", 0.999)], [("b", ">", 2.0)]]
    rules = fs.Rules.from_conditions([pool[k] for k in rng.integers(0, len(pool), 6_000)], features=["a", "b"])
    sample, relation = Sample.of(rules, y, x), to_relation(None, rules)
    rows, blocks = count_necessity(sample, relation).terms, count_necessity(sample, relation, exact=0).terms
    weighed = count_necessity(Sample.of(rules, y, x, np.full(6_000, 0.5)), relation).terms
    for other in (blocks, weighed):
        assert other.sums.agreeing / other.sums.total == pytest.approx(rows.sums.agreeing / 6_000, abs=1e-12)
        assert other.chance == pytest.approx(rows.chance, abs=1e-12)
    variances = [np.var(t.left_out.value) * len(t.left_out.value) for t in (rows, blocks)]
    assert variances[1] == pytest.approx(variances[0], rel=0.5)


@pytest.mark.parametrize("kind", ["highlights", "prototypes", "counterfactuals", "callable", "nearest"])
def test_every_relation_that_says_where_it_applies_is_counted(kind):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 5, (60, 2)).astype(float), rng.integers(0, 3, 60)
    relation, rows = None, x
    if kind == "highlights":
        rows = [" ".join(rng.choice(list("abcd"), 3)) for _ in range(60)]
        words = [{rng.choice(text.split())} for text in rows]
        explanations = fs.Highlights(words)
        covers = [[all(word in text.split() for word in row) for text in rows] for row in words]
    elif kind in ("prototypes", "nearest"):
        explanations = fs.Prototypes(rng.integers(0, 6, 60), points=x[:6])
        relation = fs.Ball(1.5) if kind == "prototypes" else fs.Nearest()
        covers = None
    elif kind == "counterfactuals":
        explanations, covers = fs.Counterfactuals(x[::-1].copy() + 0.5, x), None
    else:
        explanations, relation = [f"{int(v)}" for v in x[:, 0]], lambda X, text: X[:, 1] <= float(text)
        covers = [[x[j, 1] <= x[i, 0] for j in range(60)] for i in range(60)]
    estimate = fs.necessity(explanations, y, rows, relation=relation)
    if covers is None:
        sample = Sample.of(explanations, y, rows)
        covers = _masks(to_relation(relation, sample.explanations), sample)
    value, silent, chance = brute.necessity(covers, y)
    assert (estimate.value, estimate.unverifiable) == pytest.approx((value, silent), abs=1e-12)
    assert estimate.chance == pytest.approx(chance, abs=1e-12)


def _masks(relation, sample):
    """Whom the explanation of every row covers, one row after the other."""
    given = relation.scopes(sample.explanations)
    codes, first = given.group()
    return scopes._masks(given.take(first), sample, relation)[codes].tolist()


@given(seed=SEEDS)
@settings(max_examples=25)
def test_dropping_conditions_never_lowers_necessity(seed):
    drawn = Drawn(seed)
    before = drawn.estimate().value
    drawn.conditions = [rule[:-1] for rule in drawn.conditions]
    assert drawn.estimate().value >= before - 1e-12


@given(seed=SEEDS)
@settings(max_examples=25)
def test_the_order_of_rows_does_not_matter(seed):
    drawn = Drawn(seed, weighted=bool(seed % 2), most=30)
    order = np.random.default_rng(seed).permutation(len(drawn.y))
    weights = None if drawn.weights is None else drawn.weights[order]
    a, b = drawn.estimate(), fs.necessity(drawn.rules.take(order), drawn.y[order], drawn.x[order], weights=weights)
    assert (a.value, a.low, a.high, a.chance) == pytest.approx((b.value, b.low, b.high, b.chance), abs=1e-9)


def test_a_rule_for_everybody_has_necessity_one_which_is_chance():
    rules = fs.Rules.from_conditions([[]] * 50, features=["a"])
    estimate = fs.necessity(rules, [0, 1] * 25, np.zeros((50, 1)))
    assert (estimate.value, estimate.chance, estimate.above_chance) == (1.0, 1.0, None)
    assert estimate.low == pytest.approx(1 - 2 * math.log(40) / 50)


def test_the_prediction_as_its_own_explanation_is_necessary_and_above_chance():
    y = np.arange(60) % 3
    rules = fs.Rules.from_conditions([[("y", "==", float(label))] for label in y], features=["y"])
    estimate = fs.necessity(rules, y, y[:, None].astype(float))
    assert estimate.value == 1.0
    assert estimate.above_chance
    assert estimate.low < 1


def test_rules_that_cover_nobody_else_have_necessity_zero_with_a_margin():
    x = np.arange(50.0)[:, None]
    rules = fs.Rules.from_conditions([[("a", "==", v)] for v in x[:, 0]], features=["a"])
    estimate = fs.necessity(rules, [0, 1] * 25, x)
    assert (estimate.value, estimate.low) == (0.0, 0.0)
    assert estimate.high == pytest.approx(2 * math.log(40) / 50)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_predictions_that_nobody_else_gets_cannot_be_checked(n):
    rules = fs.Rules.from_conditions([[]] * n, features=["a"])
    estimate = fs.necessity(rules, np.arange(n), np.zeros((n, 1)))
    assert (estimate.value, estimate.unverifiable, estimate.low, estimate.high) == (0.0, 1.0, 0.0, 1.0)
    assert (estimate.verified, estimate.chance, estimate.above_chance) == (None, None, None)


def test_rows_of_weight_zero_do_not_count():
    drawn = Drawn(8, most=30)
    weights = np.where(np.arange(len(drawn.y)) % 4 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    alone = fs.necessity(drawn.rules.take(kept), drawn.y[kept], drawn.x[kept])
    estimate = fs.necessity(drawn.rules, drawn.y, drawn.x, weights=weights)
    assert (estimate.value, estimate.low, estimate.chance) == (alone.value, alone.low, alone.chance)


def test_weights_by_label_change_only_how_much_labels_count():
    drawn = Drawn(6, most=40)
    y = drawn.y
    weighted = fs.necessity(drawn.rules, y, drawn.x, weights=np.where(y == 0, 2.0, 1.0))
    covers, total = np.array(drawn.covers), 0.0
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        alone, *_ = brute.necessity(covers[np.ix_(rows, rows)].tolist(), y[rows])
        total += alone * len(rows) * (2 if label == 0 else 1)
    assert weighted.value == pytest.approx(total / np.where(y == 0, 2, 1).sum(), abs=1e-12)


@pytest.mark.parametrize("agreement", [None, fs.Close(0.5), fs.Tolerance(0.5)])
def test_rows_that_nobody_agrees_with_stay_unverifiable_whatever_their_weight(agreement):
    generator = np.random.default_rng(1)
    rules = fs.Rules.from_conditions([[]] * 300 + [[("a", ">", 9.0)]] * 300, features=["a"])
    predictions = np.concatenate([np.zeros(300), 1.0 + np.arange(300)])
    weights = np.exp(4 * generator.normal(size=600)).clip(1e-4, 1e4)
    estimate = fs.necessity(rules, predictions, np.zeros((600, 1)), weights=weights, agreement=agreement)
    assert estimate.unverifiable == pytest.approx(weights[300:].sum() / weights.sum(), abs=1e-12)
    assert (estimate.verified, estimate.chance) == (pytest.approx(1.0, abs=1e-12), pytest.approx(1.0, abs=1e-12))


def test_spread_has_no_necessity():
    drawn = Drawn(1, "close")
    with pytest.raises(NotProven, match=r"Close\(eps\) or Tolerance"):
        fs.necessity(drawn.rules, drawn.y, drawn.x, agreement=fs.Spread())
    assert fs.evaluate(drawn.y, drawn.rules, drawn.x, agreement=fs.Spread()).necessity is None


def test_explanations_that_do_not_say_where_they_apply_are_refused():
    with pytest.raises(NotScoped, match="so necessity is undefined: pass relation="):
        fs.necessity(fs.Importances([[1.0], [2.0]]), [0, 1], [[1.0], [2.0]])
    assert fs.evaluate([0, 1], fs.Importances([[1.0], [2.0]]), [[1.0], [2.0]]).necessity is None
