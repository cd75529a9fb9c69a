"""For whom does it fail: groups add up, and are called different only with reason."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.counting.counts import Counts
from faithscope.measures.comparing.populations import difference
from faithscope.measures.planning.rarefaction import rarefy
from faithscope.testing.systems import SYSTEMS
from strategies import samples


def evaluated(explanations, predictions, **options):
    return fs.evaluate(predictions, explanations, np.arange(len(predictions))[:, None], **options)


@given(samples(min_size=2), st.data())
def test_groups_sum_to_the_whole(sample, data):
    groups = data.draw(st.lists(st.sampled_from("abc"), min_size=len(sample[0]), max_size=len(sample[0])))
    ev = evaluated(*sample)
    parts = ev.by(groups)
    assert sum((found.counts for found in parts.estimates.values()), Counts.zero()) == ev.consistency.counts
    for group, found in parts.estimates.items():
        rows = [i for i, g in enumerate(groups) if g == group]
        assert found == fs.consistency([sample[0][i] for i in rows], [sample[1][i] for i in rows])


def test_a_difference_carries_silence():
    rng = np.random.default_rng(0)
    a = fs.consistency(*SYSTEMS["many rare"].draw(400, rng))
    b = fs.consistency(*SYSTEMS["few common"].draw(300, rng))
    d = difference(a, b, ("a", "b"))
    assert d.value == a.value - b.value
    assert d.low == pytest.approx(a.bracket[0] - b.bracket[1] - np.hypot(a.margins.below, b.margins.above))
    assert d.high == pytest.approx(min(1, a.bracket[1] - b.bracket[0] + np.hypot(a.margins.above, b.margins.below)))
    assert d.n == 300
    assert d.a_at_equal_n == rarefy(a.counts.profile(), 300)[0]
    assert d.b_at_equal_n == pytest.approx(b.value)


def test_identical_populations_of_unequal_size_are_not_called_different():
    called = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        e, y = SYSTEMS["many rare"].draw(4400, rng)
        parts = evaluated(e, y).by(np.arange(4400) < 4000)
        (line,) = parts.differences().itertuples()
        called.append(line.differ)
        if seed == 0:
            assert abs(line.value) > 0.2, "the values differ by silence alone ..."
            assert abs(line.a_at_equal_n - line.b_at_equal_n) < 0.1, "... and not at equal numbers of rows"
    assert np.mean(called) <= 0.05


def test_populations_that_differ_are_called_different():
    rng = np.random.default_rng(0)
    good, bad = SYSTEMS["perfect"].draw(2000, rng), SYSTEMS["noisy"].draw(2000, rng)
    parts = evaluated(np.concatenate([good[0], bad[0] + 1000]), np.concatenate([good[1], bad[1]])).by(
        np.repeat(["good", "bad"], 2000)
    )
    (line,) = parts.differences().itertuples()
    assert (line.a, line.b) == ("bad", "good")
    assert line.differ
    assert line.high < 0
    assert parts.table()["group"].tolist() == ["bad", "good"]
    assert parts.table()["value"].tolist() == [found.value for found in parts.estimates.values()]
    assert str(parts).startswith("bad: consistency")


def test_every_pair_of_groups_has_a_line():
    e, y = SYSTEMS["few common"].draw(400, np.random.default_rng(0))
    parts = evaluated(e, y).by(pd.Series(np.arange(400) % 4, dtype="category"))
    assert len(parts.differences()) == 6
    assert len(parts.table()) == 4


def test_weights_apply_within_groups():
    e, y = SYSTEMS["few common"].draw(400, np.random.default_rng(0))
    w = np.random.default_rng(1).random(400)
    group = np.arange(400) % 2
    parts = evaluated(e, y, weights=w).by(group)
    assert parts.estimates[0].value == fs.consistency(e[::2], y[::2], weights=w[::2]).value
    assert parts.differences()["a_at_equal_n"].isna().all()


def test_bad_groups():
    ev = evaluated(["a", "b"], [0, 1])
    with pytest.raises(fs.errors.BadInput, match="2 rows but groups have 1"):
        ev.by(["x"])
    with pytest.raises(fs.errors.BadInput, match="Groups are missing at row 1"):
        ev.by(["x", None])
    with pytest.raises(fs.errors.WrongType, match="Groups mix types"):
        ev.by(["x", 1])
    big = evaluated(np.zeros(2000), np.zeros(2000))
    with pytest.raises(fs.errors.BadInput, match="2,000 different values"):
        big.by(np.arange(2000))


def test_a_part_is_not_refused_where_the_whole_was_measured():
    ev = evaluated(["a"] * 200, np.arange(200) % 100 + 0.5)
    assert len(ev.by(np.arange(200) < 100).table()) == 2


def test_a_group_without_weight_is_named():
    ev = evaluated(["a", "a", "b"], [0, 1, 1], weights=[1.0, 1.0, 0.0])
    with pytest.raises(fs.errors.BadInput, match="All rows of group 'y' have weight 0"):
        ev.by(["x", "x", "y"])


def test_populations_go_through_json():
    import json

    e, y = SYSTEMS["few common"].draw(400, np.random.default_rng(0))
    found = json.loads(json.dumps(evaluated(e, y).by(np.repeat(["u", "v"], 200)).to_dict()))
    assert [line["group"] for line in found["groups"]] == ["u", "v"]
    assert found["differences"][0]["differ"] is False


@pytest.mark.parametrize(("groups", "told"), [(50, True), (51, False), (1000, False)])
def test_differences_of_many_groups_are_told_on_request_only(groups, told):
    names = np.repeat(np.arange(groups), 4).astype(str)
    found = evaluated(["a", "b"] * (2 * groups), ["y", "z"] * (2 * groups)).by(names).to_dict()
    assert len(found["groups"]) == groups
    assert (found["differences"] is not None) == told
    assert told or found["notes"] == [
        f"differences of {groups:,} groups are left out: ask for them with .differences()"
    ]
    assert told or len(json.dumps(found)) < 2000 * groups
