"""Beside everybody where explanations cover rows, and by Spread: as brute force has it, with all rows and without."""

from dataclasses import replace

import numpy as np
import pytest

import faithscope as fs
from faithscope.counting.beside import Kinds
from faithscope.counting.coverage import ask_groups
from faithscope.errors import BadInput, NotProven
from faithscope.relations import to_relation
from faithscope.sample import Sample
from refused import refused

AGREEMENTS = {
    "labels": (None, lambda a, b: float(a == b)),
    "close": (fs.Close(1.5), lambda a, b: max(0.0, 1 - abs(a - b) / 1.5)),
    "tolerance": (fs.Tolerance(1.0), lambda a, b: float(abs(a - b) <= 1)),
    "spread": (fs.Spread(), lambda a, b: (a - b) ** 2 / 2),
}


class Drawn:
    """A few rows under overlapping rules, some of which miss their own row."""

    def __init__(self, seed, agreement, weighted=False, clustered=False):
        rng = np.random.default_rng(seed)
        self.n = n = int(rng.integers(6, 15))
        self.x, least = rng.integers(0, 5, n).astype(float), rng.integers(0, 3, n)
        ends = np.column_stack([least, least + rng.integers(0, 3, n)]).astype(float)
        self.y, self.groups = rng.integers(0, 3, n), rng.integers(0, 3, n)
        self.y[:2] = 0, 2
        self.weights = rng.choice([0.5, 1.0, 2.0], n) if weighted else np.ones(n)
        self.units = rng.permutation(n) % 5 if clustered else np.arange(n)
        chosen, self.agree = AGREEMENTS[agreement]
        rules = [[("x", ">=", low), ("x", "<=", high)] for low, high in ends.tolist()]
        self.given = (
            fs.Rules.from_conditions(rules, features=["x"]),
            self.y if chosen is None else self.y.astype(float),
            self.x[:, None],
        )
        self.options = {
            "weights": self.weights if weighted else None,
            "agreement": chosen,
            "clusters": self.units if clustered else None,
        }
        sample = Sample.of(*self.given, self.options["weights"], chosen, self.options["clusters"])
        self.sample = replace(sample, askers=self.groups).counted().evenly()
        self.codes = self.sample.explanations.group()[0]
        self.covers = (self.x >= ends[:, :1]) & (self.x <= ends[:, 1:])  # does the rule of row i cover row j?
        self.same = self.codes[:, None] == self.codes

    def asking(self, **how):
        return ask_groups(self.sample, to_relation(None, self.sample.explanations), **how)

    def kind(self, kinds, row):
        """The place of a row among kinds of rows."""
        columns = (self.codes, self.sample.numbered_labels[1], self.groups, self.weights)
        here = zip((kinds.code, kinds.value, kinds.group, kinds.each), columns, strict=True)
        return np.flatnonzero(np.all([kind == column[row] for kind, column in here], axis=0))[0]

    def blocks(self, block):
        """All rows, and all but those of each block."""
        return [np.ones(self.n, bool), *(block != number for number in range(int(block.max()) + 1))]

    def share(self, covers, asks, kept, answers, codes=None):
        """Sums over groups of askers: m P / Q, the weight of silent askers, and that of all; and who is silent."""
        codes, own = self.codes if codes is None else codes, np.diag(covers)
        agreeing = silent = total = 0.0
        alone = np.zeros(self.n, bool)
        for code, inside in {(codes[i], own[i]) for i in np.flatnonzero(kept & asks)}:
            askers = np.flatnonzero(kept & asks & (codes == code) & (own == inside))
            witnesses = np.flatnonzero(kept & answers & covers[askers[0]])
            pairs = [(i, j) for i in askers for j in witnesses if self.units[i] != self.units[j]]
            mass, weights = self.weights[askers].sum(), [self.weights[i] * self.weights[j] for i, j in pairs]
            total += mass
            if not pairs:
                silent += mass
                alone[askers] = True
                continue
            agreed = [w * self.agree(self.y[i], self.y[j]) for w, (i, j) in zip(weights, pairs, strict=True)]
            agreeing += mass * sum(agreed) / sum(weights)
        return agreeing, silent, total, alone

    def recall(self, asks, kept):
        """Sums over cells of askers: m P / A, silent and all weight, and the share of all that is covered."""
        agreeing = silent = total = reached = 0.0
        own = np.diag(self.covers)
        for code, inside, value in {(self.codes[i], own[i], self.y[i]) for i in np.flatnonzero(kept & asks)}:
            chosen = kept & asks & (self.codes == code) & (own == inside) & (self.y == value)
            askers, everybody = np.flatnonzero(chosen), np.flatnonzero(kept)
            mass = self.weights[askers].sum()
            sums = np.zeros(4)
            for i in askers:
                others = everybody[self.units[everybody] != self.units[i]]
                weights = self.weights[i] * self.weights[others]
                alike = weights * [self.agree(value, self.y[j]) for j in others]
                covered = self.covers[i, others]
                sums += alike @ covered, alike.sum(), weights @ covered, weights.sum()
            total += mass
            if sums[1] == 0:
                silent += mass
                continue
            agreeing += mass * sums[0] / sums[1]
            reached += mass * sums[2] / sums[3]
        return agreeing, silent, total, reached

    def explained(self, covers, asks, kept, answers):
        """The share of the variance of all rows, and how much of it is silent, of whoever answers."""
        weight = self.weights[kept]
        apart = self.weights * (self.y - weight @ self.y[kept] / weight.sum()) ** 2
        within, _, total, _ = self.share(covers, asks, kept, answers)
        alone = self.share(covers, answers, kept, answers)[3]
        variance = apart[kept].sum()
        silent = apart[alone].sum() / variance * weight.sum() / total
        freedom = weight.sum() - weight @ weight / weight.sum()
        return 1 - within / total * freedom / variance - silent, silent


CASES = pytest.mark.parametrize(("weighted", "clustered"), [(False, False), (True, False), (False, True), (True, True)])
SEEDS = pytest.mark.parametrize("seed", range(3))


@CASES
@SEEDS
@pytest.mark.parametrize("agreement", ["labels", "close"])
def test_consistency_of_a_group_and_the_same_without_each_unit_are_those_of_brute_force(
    agreement, seed, weighted, clustered
):
    drawn = Drawn(seed, agreement, weighted, clustered)
    group, kinds, everybody = drawn.groups[0], Kinds.of(drawn.sample, drawn.groups), np.ones(drawn.n, bool)
    asks, other = drawn.groups == group, drawn.groups[-1]
    for answers, chosen in ((everybody, kinds), (drawn.groups != other, replace(kinds, answers=kinds.group != other))):
        asked = chosen.asked(chosen.group == group)
        assert asked.sums == pytest.approx(drawn.share(drawn.same, asks, everybody, answers)[:3])
        chance = drawn.share(np.ones_like(drawn.same), asks, everybody, answers, 0 * drawn.codes)
        assert (asked.chance or 0.0) == pytest.approx(chance[0] / chance[2])
        for row in range(drawn.n):
            kept = drawn.units != drawn.units[row]
            agreeing, silent, total, _ = drawn.share(drawn.same, asks, kept, answers)
            if total > 0:
                place = drawn.sample.clusters[row] if clustered else drawn.kind(kinds, row)
                assert asked.left_out.value[place] == pytest.approx(agreeing / total)
                assert asked.left_out.silent[place] == pytest.approx(silent / total)


@CASES
@SEEDS
@pytest.mark.parametrize("agreement", ["labels", "close", "tolerance"])
def test_sufficiency_of_a_group_and_the_same_without_each_block_are_those_of_brute_force(
    agreement, seed, weighted, clustered
):
    drawn = Drawn(seed, agreement, weighted, clustered)
    asking, everybody = drawn.asking(), np.ones(drawn.n, bool)
    for group in np.unique(drawn.groups).tolist():
        asks, found = drawn.groups == group, asking.coverage([group])
        assert (found.counts.n, found.counts.missed.sum()) == (asks.sum(), (asks & ~np.diag(drawn.covers)).sum())
        for place, kept in enumerate(drawn.blocks(found.block)):
            agreeing, silent, total, _ = drawn.share(drawn.covers, asks, kept, everybody)
            chance = drawn.share(np.ones_like(drawn.covers), asks, kept, everybody, 0 * drawn.codes)
            if place == 0:
                assert found.sums == pytest.approx((agreeing, silent, total))
                assert (found.chance or 0.0) == pytest.approx(chance[0] / chance[2])
            elif found.left_out is not None and total > 0:
                assert found.left_out.value[place - 1] == pytest.approx(agreeing / total)
                assert found.left_out.silent[place - 1] == pytest.approx(silent / total)
                assert found.chance_left_out[place - 1] == pytest.approx(chance[0] / chance[2])


@CASES
@SEEDS
@pytest.mark.parametrize("agreement", ["labels", "close", "tolerance"])
def test_necessity_of_a_group_and_the_same_without_each_block_are_those_of_brute_force(
    agreement, seed, weighted, clustered
):
    drawn = Drawn(seed, agreement, weighted, clustered)
    asking = drawn.asking(recall=True)
    for group in np.unique(drawn.groups).tolist():
        asks, found = drawn.groups == group, asking.necessity([group])
        terms = found.terms
        for place, kept in enumerate(drawn.blocks(found.block)):
            agreeing, silent, total, reached = drawn.recall(asks, kept)
            chance = reached / (total - silent) if total > silent else None
            if place == 0:
                assert terms.sums == pytest.approx((agreeing, silent, total))
                assert terms.chance == pytest.approx(chance)
            elif terms.left_out is not None and total > 0:
                assert terms.left_out.value[place - 1] == pytest.approx(agreeing / total)
                assert terms.left_out.silent[place - 1] == pytest.approx(silent / total)
                assert terms.chance_left_out[place - 1] == pytest.approx(chance or 0.0)


@SEEDS
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("among", [False, True])
def test_spread_of_a_group_is_a_share_of_the_variance_of_all_rows(seed, weighted, among):
    drawn = Drawn(seed, "spread", weighted)
    kinds, asking = Kinds.of(drawn.sample, drawn.groups), drawn.asking(among=among)
    for group in np.unique(drawn.groups).tolist():
        asks = drawn.groups == group
        answers = asks if among else np.ones(drawn.n, bool)
        chosen = replace(kinds, answers=kinds.group == group) if among else kinds
        asked = chosen.asked(chosen.group == group)
        spread, covered = chosen.spread(chosen.group == group, asked, 1.0), asking.coverage([group])
        everyone = np.ones(drawn.n, bool)
        for parts, covers in ((spread, drawn.same), (covered.spread, drawn.covers)):
            expected = drawn.explained(covers, asks, everyone, answers)
            assert (parts.whole.explained[0], parts.whole.silence[0]) == pytest.approx(expected)
        for row in range(drawn.n):
            kept = np.arange(drawn.n) != row
            assert_without(drawn, drawn.same, asks, kept, answers, spread.without, drawn.kind(kinds, row))
        for place, kept in enumerate(drawn.blocks(covered.block)[1:]):
            assert_without(drawn, drawn.covers, asks, kept, answers, covered.spread.without, place)


def assert_without(drawn, covers, asks, kept, answers, without, place):
    if (asks & kept).any() and len(set(drawn.y[kept].tolist())) > 1:
        expected = drawn.explained(covers, asks, kept, answers)
        left = type(without)(*(column[[place]] for column in without))
        assert (left.explained[0], left.silence[0]) == pytest.approx(expected)


def test_terms_of_groups_add_up_and_askers_are_one_of_two_groups():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    rules = fs.Rules.parse([f"x <= {bound:.1f}" for bound in x + rng.random(300)], features=["x"])
    labels, groups = (x + rng.normal(size=300) > 0).astype(int), rng.integers(0, 3, 300)
    for measure in (fs.sufficiency, fs.necessity):
        whole, parts = measure(rules, labels, x[:, None]), measure(rules, labels, x[:, None], by=groups)
        mean = sum(each.n * each.value for each in parts.estimates.values()) / 300
        assert mean == pytest.approx(whole.value)
        assert parts.among[0] == measure(
            rules.take(np.flatnonzero(groups == 0)), labels[groups == 0], x[groups == 0, None]
        )
        alone = measure(rules, labels, x[:, None], askers=groups == 1)
        assert (alone.value, alone.interval) == (pytest.approx(parts[1].value), pytest.approx(parts[1].interval))
        order = rng.permutation(300)
        other = measure(rules.take(order), labels[order], x[order, None], by=groups[order])
        numbers = ["value", "low", "high"]
        assert other.differences()[numbers].to_numpy() == pytest.approx(parts.differences()[numbers].to_numpy())
        against = parts.differences(against="rest").set_index("a")
        assert against.loc[1, "n"] == (groups == 1).sum()


def test_what_cannot_be_asked_is_refused_in_a_sentence():
    drawn = Drawn(0, "labels")
    asks = drawn.groups == 0
    for measure in (fs.sufficiency, fs.necessity):
        refused(BadInput, "or askers=, the rows of one group; not both", measure, *drawn.given, askers=asks, by=asks)
        refused(NotProven, "interval=None", measure, *drawn.given, askers=asks, interval="proven")
    refused(BadInput, "not counted on a GPU", fs.sufficiency, *drawn.given, askers=asks, device="cuda")
    answers = fs.pairs_to_ask(drawn.given[0], per_explanation=2).assign(applies=True)
    judged = {"relation": fs.Judged(answers), "askers": asks}
    refused(NotProven, "asked about some pairs only: ask about all", fs.sufficiency, *drawn.given, **judged)


def test_on_draws_a_group_is_measured_by_its_own_rows():
    rng = np.random.default_rng(3)
    X, groups = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    rules = fs.Rules.from_conditions([[("a", "<=" if x <= 0 else ">", 0.0)] for x in X[:, 0]], features=["a", "b"])
    how = {"population": fs.Perturbed(X, draws=5)}

    def model(rows):
        return (np.asarray(rows)[:, 0] > 0).astype(int)

    parts = fs.sufficiency(rules, model, X, **how, by=groups)
    assert parts.among is None
    alone = fs.sufficiency(rules, model, X, **how, askers=groups == 1)
    assert (alone.value, alone.interval, alone.n) == (parts[1].value, parts[1].interval, (groups == 1).sum())
