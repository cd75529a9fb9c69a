"""Beside everybody where explanations cover rows, and by Spread: as brute force has it, with all rows and without."""

from dataclasses import replace

import numpy as np
import pytest

import faithscope as fs
from faithscope.counting.clusters import Kinds
from faithscope.counting.coverage import tallies
from faithscope.errors import BadInput, NotProven
from faithscope.relations import to_relation
from refused import refused
from small_systems import systems


def grouped(names):
    """A few rows in three groups, under overlapping rules of which some miss their own row."""
    for system, name, why in systems("rules", range(3), ("labels", "repeated"), names, most=14):
        groups = np.random.default_rng(system.n).integers(0, 3, system.n)
        sample = replace(system.sample("rules", name), askers=groups).counted().evenly()
        yield system, name, groups, sample, why


def asking(sample, *wanted, **how):
    return tallies(sample, [to_relation(None, sample.explanations)], *wanted, groups=sample.askers, **how)[0]


def check(terms, place, system, expected, asks, why):
    """Sums of all rows that ask, or shares where a block is left out."""
    value, silent, chance, _ = expected
    if place < 0:
        total = asks.sum() if system.weights is None else system.weights[asks].sum()
        assert terms.sums == pytest.approx((value * total, silent * total, total)), why
        assert (terms.chance or 0.0) == pytest.approx(np.nan_to_num(chance)), why
    elif terms.left_out is not None:
        assert (terms.left_out.value[place], terms.left_out.silent[place]) == pytest.approx((value, silent)), why
        if terms.chance_left_out is not None:
            assert terms.chance_left_out[place] == pytest.approx(np.nan_to_num(chance)), why


def blocks(system, block):
    """All rows, and all but those of each block."""
    yield -1, np.ones(system.n, bool)
    yield from ((number, block != number) for number in range(int(block.max()) + 1))


def kind_of(kinds, system, sample, groups, row):
    """The place of a row among kinds of rows."""
    weights = np.ones(system.n) if system.weights is None else system.weights
    columns = (sample.explanations.group()[0], sample.numbered_labels[1], groups, weights)
    here = zip((kinds.code, kinds.value, kinds.group, kinds.each), columns, strict=True)
    return np.flatnonzero(np.all([kind == column[row] for kind, column in here], axis=0))[0]


def test_consistency_of_a_group_and_the_same_without_each_unit_are_those_of_brute_force():
    for system, name, groups, sample, why in grouped(["close"]):
        kinds, asks, other = Kinds.of(sample, groups), groups == groups[0], groups[-1]
        chosen = replace(kinds, answers=kinds.group != other)
        for answers, each in ((groups >= 0, kinds), (groups != other, chosen)):
            asked, how = each.coverage(each.group == groups[0]), {"asks": asks, "answers": answers}
            check(asked, -1, system, system.brute("consistency", name, **how), asks, why)
            units = np.arange(system.n) if system.clusters is None else system.clusters
            for row in range(system.n):
                kept = units != units[row]
                if (asks & kept).any() and asked.left_out is not None:
                    place = sample.clusters[row] if system.clusters is not None else None
                    place = kind_of(kinds, system, sample, groups, row) if place is None else place
                    left = system.brute("consistency", name, kept=kept, **how)
                    found = (asked.left_out.value[place], asked.left_out.silent[place])
                    assert found == pytest.approx((left.value, left.unverifiable)), why


@pytest.mark.parametrize("measure", ["rules", "necessity"])
def test_a_group_and_the_same_without_each_block_are_those_of_brute_force(measure):
    for system, name, groups, sample, why in grouped(["close", "tolerance"]):
        asked = asking(sample, ("recall" if measure == "necessity" else "share",))
        for group in np.unique(groups).tolist():
            asks, found = groups == group, asked.asking([group])
            if measure == "rules":
                missed = (asks & ~np.diag(system.covers("rules"))).sum()
                assert (found.counts.n, found.counts.missed.sum()) == (asks.sum(), missed), why
            for place, kept in blocks(system, found.block):
                if (asks & kept).any():
                    expected = system.brute(measure, name, kept=kept, asks=asks)
                    check(found, place, system, expected, asks, why)


@pytest.mark.parametrize("among", [False, True])
def test_spread_of_a_group_is_a_share_of_the_variance_of_all_rows(among):
    for system, name, groups, sample, why in grouped(["spread"]):
        if name != "spread":
            continue
        kinds, asked = Kinds.of(sample, groups), asking(sample, among=among)
        for group in np.unique(groups).tolist():
            how = {"asks": groups == group, "answers": groups == group if among else groups >= 0}
            chosen = replace(kinds, answers=kinds.group == group) if among else kinds
            spread, covered = chosen.coverage(chosen.group == group).spread, asked.asking([group])
            rows = [
                (kind_of(kinds, system, sample, groups, row), np.arange(system.n) != row) for row in range(system.n)
            ]
            for measure, parts, without in (
                ("consistency", spread, rows),
                ("rules", covered.spread, list(blocks(system, covered.block))[1:]),
            ):
                for place, kept in [(None, groups >= 0), *without]:
                    if (how["asks"] & kept).any() and np.ptp(system.predictions[kept]) > 0:
                        left = (
                            parts.whole if place is None else type(parts.without)(*(c[[place]] for c in parts.without))
                        )
                        expected = system.brute(measure, name, kept=kept, **how)
                        told = (left.explained[0], left.explained[0] + left.silence[0])
                        assert told == pytest.approx((expected.value, expected.upper)), why


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


@pytest.mark.parametrize("rows", ["weights", "clusters"])
def test_the_heaviest_row_counts_once_in_a_difference_too(rows):
    rng, n = np.random.default_rng(0), 2_000
    codes, groups = rng.integers(0, 6, n), rng.random(n) < 0.3
    heavy = {"weights": rng.lognormal(0, 1, n), "clusters": np.repeat(np.arange(n), rng.geometric(0.3, n))[:n]}
    rules = fs.Rules.from_conditions([[("a", "<=", float(code))] for code in codes], features=["a"])
    labels = codes % 2 ^ (rng.random(n) < 0.02)
    found = fs.necessity(rules, labels, codes[:, None].astype(float), by=groups, **{rows: heavy[rows]})
    (low, high), each = found.differences()[["low", "high"]].to_numpy()[0], found.estimates.values()
    assert high - low < sum(estimate.high - estimate.low for estimate in each) < 1.2


def test_what_cannot_be_asked_is_refused_in_a_sentence():
    system, *_ = next(systems("rules", [1], ["labels"]))
    (rules, X, _), asks = system.given("rules"), np.arange(system.n) < 1
    given = (rules, system.predictions, X)
    for measure in (fs.sufficiency, fs.necessity):
        refused(BadInput, "or askers=, the rows of one group; not both", measure, *given, askers=asks, by=asks)
        refused(NotProven, "interval=None", measure, *given, askers=asks, interval="proven")
    answers = fs.pairs_to_ask(rules, per_explanation=2).assign(applies=True)
    judged = {"relation": fs.Judged(answers), "askers": asks}
    refused(NotProven, "asked about some pairs only: ask about all", fs.sufficiency, *given, **judged)


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
