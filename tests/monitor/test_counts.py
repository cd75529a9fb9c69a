"""What a monitor counts is what all rows together give, whatever the batches, the order and where rows come from."""

import datetime

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, Incompatible
from monitor.watched_rows import START, TEXTS, add, drawn, holds_all, looked, same
from refused import refused

ROWS = st.lists(
    st.tuples(*(st.integers(0, most) for most in (3, 1, 4, 2, 2)), st.sampled_from("uv")), min_size=1, max_size=25
)


@settings(max_examples=5)  # each is added in parts, and measured by group and by day
@given(lines=ROWS, parts=st.integers(1, 4))
def test_how_rows_are_divided_into_batches_does_not_matter(lines, parts):
    rows = pd.DataFrame(lines, columns=["a", "b", "own", "y", "d", "g"])
    rows["rule"] = [TEXTS[own] for own in rows["own"]]
    rows["day"] = [START + datetime.timedelta(day) for day in rows["d"]]
    monitor = fs.Monitor(by="g")
    for place in range(min(parts, len(rows))):
        part = rows[place::parts]
        add(monitor, part, when=part["day"].tolist(), batch=str(place))
    holds_all(monitor, rows)
    limits = monitor.limits()
    assert 0 <= limits.low <= limits.high <= 1
    assert limits.openers == limits.pairs + limits.waiting <= limits.n == len(rows)
    assert set(monitor.table()["day"]) == set(rows["day"])


@pytest.mark.thorough
def test_monitors_added_up_hold_what_one_holds_to_which_all_was_added(tmp_path):
    rows = drawn(200, days=4)
    rows["day"] = [day + 4 * (day - START) for day in rows["day"]]
    each, whole = (
        [fs.Monitor(tmp_path / str(side), by="g") for side in range(2)],
        fs.Monitor(by="g"),
    )
    how = {"prediction": "y", "explanation": "rule", "kind": "keys"}
    for place, (day, part) in enumerate(rows.groupby("day")):
        later = fs.Monitor(each[place % 2]._store.path)  # the settings are those of the state
        for monitor in (later, whole):
            if place % 3:
                add(monitor, part, when=day, batch=str(day))
            else:
                monitor.add_log(part, **how, when="day", batch=str(day))
    for merged in (each[0] + each[1], each[1] + each[0]):
        assert merged.to_dict() == whole.to_dict()
        holds_all(merged, rows)
    limits = merged.limits()
    assert limits.pairs + limits.waiting == limits.openers <= limits.n == sum(part.limits().n for part in each)
    pairs = looked(merged, lambda look: look.pairs)
    assert pairs["rows"][pairs["grp"] == -1].sum() == len(rows)
    assert (pairs["agreeing"] <= pairs["matched"]).all()
    merged.save(tmp_path / "all")
    assert fs.Monitor(tmp_path / "all").to_dict() == merged.to_dict()
    refused(BadInput, "already", merged.save, tmp_path / "all")


def test_a_batch_in_both_monitors_counts_once():
    rows = drawn(300, days=3)
    first, second = (fs.Monitor() for _ in range(2))
    for monitor, parts in ((first, (0, 1)), (second, (1, 2))):
        for part in parts:
            add(monitor, rows[100 * part : 100 * (part + 1)], when=START + datetime.timedelta(part), batch=str(part))
    for merged in (first + second, second + first):
        holds_all(merged, rows)
    same((first + first).single_look(), rows[:200])
    assert (first + fs.Monitor()).to_dict() == first.to_dict()


def test_a_batch_counts_once_and_its_name_is_not_taken_for_other_rows(tmp_path):
    rows, state = drawn(50), tmp_path / "state.duckdb"
    monitor = fs.Monitor(state, by="g")
    for day in range(3):
        assert add(monitor, rows, when=START + datetime.timedelta(day), batch=str(day)).counted
    before = monitor.to_dict()
    again = add(fs.Monitor(state), rows[::-1], when="2027-01-01", batch="1")
    assert not again.counted
    assert "added before" in str(again)
    others = [
        rows.assign(y=2 - rows["y"]),
        rows.assign(rule=TEXTS[0]),
        rows.assign(g=rows["g"][::-1].tolist()),
        rows[:9],
    ]
    for other in others:
        refused(BadInput, "with other rows", add, monitor, other, when="2026-01-01", batch="1")
    assert monitor.to_dict() == before


def test_a_replay_draws_the_same_pairs_in_any_order_of_rows_labels_and_groups():
    rows, told = drawn(2000), []
    for order in (slice(None), slice(None, None, -1), "y"):
        later = rows[20:].sort_values(["y", "g"]) if order == "y" else rows[20:][order]
        monitor = fs.Monitor(by="g", at_least=0.5)
        add(monitor, rows[:20][::-1] if order == "y" else rows[:20], when="2026-01-01", batch="first")
        add(monitor, later, when="2026-01-02", batch="second")
        told.append(monitor.to_dict())
    assert told[0] == told[1] == told[2]
    other = fs.Monitor(seed=1)
    add(other, rows, when="2026-01-01")
    assert other.limits().openers != monitor.limits().openers


def test_what_cannot_be_merged_is_refused():
    def added(explanations, labels=(0, 1), **how):
        monitor = fs.Monitor()
        monitor.add(explanations, list(labels), **how)
        return monitor

    first = added(["a", "a"], batch="b", when="2026-01-01")
    for one, other, words in (
        (first, added(["a", "a"], (0, 0), batch="b", when="2026-01-01"), "different rows"),
        (first, added([[0.5, 1.0], [0.5, 1.0]]), "different kind"),
        (fs.Monitor(by="region"), fs.Monitor(), "different by"),
        (fs.Monitor(reference=3), fs.Monitor(), "different reference"),
    ):
        with pytest.raises((Incompatible, BadInput), match=words):
            one + other
