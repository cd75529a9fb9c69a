"""What a monitor counts is what all rows together give, whatever the batches, the order and where rows come from."""

import datetime

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, NotProven
from monitor.watched_rows import START, TEXTS, add, drawn, holds_all
from refused import refused

MEASURES = pytest.mark.parametrize("options", [{}, {"scopes": TEXTS}], ids=["consistency", "sufficiency"])
BOTH = pytest.mark.parametrize("options", [pytest.param({}, marks=pytest.mark.thorough), {"scopes": TEXTS}])
ROWS = st.lists(
    st.tuples(*(st.integers(0, most) for most in (3, 1, 4, 2, 2)), st.sampled_from("uv")), min_size=1, max_size=25
)


@MEASURES
@settings(max_examples=5)  # each is added in parts, and measured by group and by day
@given(lines=ROWS, parts=st.integers(1, 4))
def test_how_rows_are_divided_into_batches_does_not_matter(options, lines, parts):
    """Also of rows that their own rules do not cover."""
    rows = pd.DataFrame(lines, columns=["a", "b", "own", "y", "d", "g"])
    rows["rule"] = [TEXTS[own] for own in rows["own"]]
    rows["day"] = [START + datetime.timedelta(day) for day in rows["d"]]
    monitor = fs.Monitor(**options, by="g")
    for place in range(min(parts, len(rows))):
        part = rows[place::parts]
        add(monitor, part, when=part["day"].tolist(), batch=str(place))
    holds_all(monitor, rows)
    limits = monitor.limits()
    assert 0 <= limits.low <= limits.high <= 1
    assert limits.openers == limits.pairs + limits.waiting <= limits.n == len(rows)
    assert set(monitor.table()["day"]) == set(rows["day"])


@MEASURES
def test_a_batch_counts_once_and_its_name_is_not_taken_for_other_rows(tmp_path, options):
    rows, state = drawn(50), tmp_path / "state.duckdb"
    monitor = fs.Monitor(state, **options, by="g")
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
    for other in [*others, *([rows.assign(a=3 - rows["a"])] if options else [])]:
        refused(BadInput, "with other rows", add, monitor, other, when="2026-01-01", batch="1")
    assert monitor.to_dict() == before


@MEASURES
def test_a_replay_draws_the_same_pairs_in_any_order_of_rows_labels_groups_and_scopes(options):
    rows, told = drawn(2000), []
    turned = {name: scopes[::-1] for name, scopes in options.items()}
    for order, chosen in ((slice(None), options), (slice(None, None, -1), turned), ("y", options)):
        later = rows[20:].sort_values(["y", "g"]) if order == "y" else rows[20:][order]
        monitor = fs.Monitor(**chosen, by="g", at_least=0.5)
        add(monitor, rows[:20][::-1] if order == "y" else rows[:20], when="2026-01-01", batch="first")
        add(monitor, later, when="2026-01-02", batch="second")
        told.append(monitor.to_dict())
    assert told[0] == told[1] == told[2]
    other = fs.Monitor(**options, seed=1)
    add(other, rows, when="2026-01-01")
    assert other.limits().openers != monitor.limits().openers


def test_monitors_do_not_add_up():
    with pytest.raises(NotProven, match="to one state"):
        fs.Monitor() + fs.Monitor()
