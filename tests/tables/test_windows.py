"""Over time: windows are whole, and a change is marked only where the interval on the difference excludes zero."""

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.tables.audit import audit
from faithscope.tables.windows import Every

RNG = np.random.default_rng(11)
ROWS = 4000
LEAVES = RNG.integers(0, 8, ROWS)
DAYS = np.repeat(np.arange(8), ROWS // 8)
BROKEN = DAYS >= 5  # from the sixth day on predictions have nothing to do with the leaf
LABELS = np.where(BROKEN, RNG.integers(0, 2, ROWS), LEAVES % 2)
LOG = pd.DataFrame(
    {"leaf": LEAVES, "yhat": LABELS, "when": pd.Timestamp("2026-03-01") + pd.to_timedelta(DAYS, "D"), "day": DAYS}
)
HOW = {"prediction": "yhat", "explanation": "leaf"}


def test_a_break_is_marked_and_nothing_else():
    found = audit(LOG, **HOW, time="when", every="1d").windows
    assert [start.day for start in found.changes] == [6, 7, 8]
    assert found.table.changed.tolist() == [False] * 5 + [True] * 3
    assert str(found).count("CHANGED") == 3
    assert sum(one.n for one in found.estimates.values()) == ROWS


def test_another_log_may_be_the_reference():
    good, bad = LOG[~BROKEN], LOG[BROKEN]
    assert len(audit(bad, **HOW, time="when", reference=good).windows.changes) == 3
    assert audit(good, **HOW, time="when", reference=good).windows.changes == []
    assert len(audit(bad, **HOW).over_time("when", "1d", audit(good, **HOW)).changes) == 3


def test_windows_are_what_rows_of_that_day_alone_say():
    found = audit(LOG, **HOW, time="when", every="1d").windows
    for day, one in enumerate(found.estimates.values()):
        part = LOG[LOG.day == day]
        assert one.value == pytest.approx(fs.consistency(part.leaf, part.yhat).value)


def test_dates_and_zones_are_read():
    dates = LOG.assign(when=LOG.when.dt.date)
    zoned = LOG.assign(when=LOG.when.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    for log in (dates, zoned):
        found = audit(log, **HOW, time="when", every="1d").windows
        assert list(found.estimates) == [pd.Timestamp(f"2026-03-0{day}").to_pydatetime() for day in range(1, 9)]


def test_moments_that_are_missing_are_refused_or_left_out():
    holes = LOG.assign(when=LOG.when.where(LOG.index > 2))
    with pytest.raises(BadInput, match="'when' in 3 of 4,000"):
        audit(holes, **HOW, time="when")
    kept = audit(holes, **HOW, time="when", nulls="key").windows
    assert sum(one.n for one in kept.estimates.values()) == ROWS - 3


@pytest.mark.parametrize("word", ["", "1", "d", "0d", "1y", "-1d", "1.5h", 3])
def test_only_lengths_of_time_are_lengths_of_windows(word):
    with pytest.raises(BadInput, match="every must be a number with"):
        Every.of(word)


def test_all_numbers_are_ready_for_json():
    found = audit(LOG, **HOW, time="when", every="1w", by="day").to_dict()
    assert found["windows"]["reference"]["name"].startswith("the window of 2026-02-23")
    assert len(found["populations"]["groups"]) == 8
