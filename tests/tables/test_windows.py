"""Over time: windows are whole, and a change is marked only where the interval on the difference excludes zero."""

import itertools
from contextlib import contextmanager
from datetime import datetime, timedelta

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.measures.comparing.beside import Beside
from faithscope.sample import Sample
from faithscope.tables.audit import audit
from faithscope.tables.engines import fetch
from faithscope.tables.source import open_source
from faithscope.tables.windows import Every
from refused import refused
from tables import engines

RNG = default_rng(11)
ROWS = 4000
LEAVES = RNG.integers(0, 8, ROWS)
DAYS = np.repeat(np.arange(8), ROWS // 8)
BROKEN = DAYS >= 5  # from the sixth day on predictions have nothing to do with the leaf
LABELS = np.where(BROKEN, RNG.integers(0, 2, ROWS), LEAVES % 2)
WHEN = (pd.Timestamp("2026-03-01") + pd.to_timedelta(DAYS, "D")).astype("datetime64[us]")
LOG = pd.DataFrame({"leaf": LEAVES, "yhat": LABELS, "when": WHEN, "day": DAYS})
HOW = {"prediction": "yhat", "explanation": "leaf"}


def test_another_log_may_be_the_reference():
    good, bad = LOG[~BROKEN], LOG[BROKEN]
    assert len(audit(bad, **HOW, time="when", against=good).windows.changes) == 3
    assert audit(good, **HOW, time="when", against=good.copy()).windows.changes == []
    assert len(audit(bad, **HOW, time="when", against=audit(good, **HOW)).windows.changes) == 3


@pytest.mark.parametrize("first", [1, 3])
def test_rows_of_a_window_ask_and_those_of_the_reference_answer(first):
    windows = audit(LOG, **HOW, time="when", every="1d", against=first).windows
    asked = Beside.of(Sample.of(LOG.leaf.tolist(), LOG.yhat).asking(DAYS)).answered_by(range(first))
    for day, (start, estimate) in enumerate(windows.estimates.items()):
        assert estimate.value == pytest.approx(asked.estimate(day).value)
        assert (estimate.low, estimate.high) == pytest.approx(asked.estimate(day).interval)
        if day >= first:
            expected = asked.difference([day], range(first), checked=True)
            assert windows.compared[start].low == pytest.approx(expected.low)
    assert windows.estimates[datetime(2026, 3, 8)].value == pytest.approx(0.5, abs=0.05)
    assert windows.to_dict()["among"]["windows"][0]["n"] == 500


def test_populations_are_measured_in_each_window_too():
    log = LOG.assign(part=np.where(np.arange(ROWS) % 2, "a", "b"))
    windows = audit(log, **HOW, by="part", time="when", every="1d").windows
    assert windows.by.by == "part × windows of 1d"
    assert next(iter(windows.by.estimates)) == ("a", datetime(2026, 3, 1))
    expected = fs.consistency(log.leaf, log.yhat, by=[f"{part}{day}" for part, day in zip(log.part, DAYS, strict=True)])
    assert [each.value for each in windows.by.estimates.values()] == pytest.approx(
        [each.value for each in expected.estimates.values()]
    )
    assert {start.day for _, start in windows.by.lower} == {6, 7, 8}


@engines.EACH
def test_the_first_few_windows_may_be_the_reference(engine):
    stored = engines.put(engine, "first_windows", pa.Table.from_pandas(LOG))
    windows = audit(**stored, **HOW, time="when", every="1d", against=3).windows
    first = LOG[LOG.day < 3]
    assert windows.reference.n == len(first)
    assert windows.reference.value == pytest.approx(fs.consistency(first.leaf, first.yhat).value)
    assert [start.day for start in windows.compared] == [4, 5, 6, 7, 8]
    assert [start.day for start in windows.changes] == [6, 7, 8]
    assert windows.against == "the first 3 windows, up to that of 2026-03-03 00:00"


@pytest.mark.parametrize("windows", [0, -1, 8, 100, 2.5, True])
def test_a_reference_leaves_windows_to_compare(windows):
    refused(
        (BadInput, fs.errors.WrongType), r"reference|windows|table|log", audit, LOG, **HOW, time="when", against=windows
    )


def test_moments_that_are_missing_are_refused_or_left_out():
    holes = LOG.assign(when=LOG.when.where(LOG.index > 2))
    refused(BadInput, "'when' in 3 of 4,000", audit, holes, **HOW, time="when")
    kept = audit(holes, **HOW, time="when", nulls="key").windows
    assert sum(estimate.n for estimate in kept.estimates.values()) == ROWS - 3


def test_only_lengths_of_time_are_lengths_of_windows():
    for word in ("", "1", "d", "0d", "1y", "-1d", "1.5h", 3):
        refused(BadInput, "every must be a number with", Every.of, word)


EVERY = ("1s", "90s", "6h", "1d", "1w", "1mo", "5mo")
HALVES = [0, 1, 499_999, 500_000, 500_001, 999_999]  # microseconds of a second
STARTS = ["1677-09-22", "1900-02-28 23:59:59", "1969-12-31 23:59:59", "1970-01-01", "2026-03-29 01:59:59", "2099-12-31"]


def moments():
    """Moments near the edges of seconds, days, weeks and months, before 1970 and after."""
    edges = [pd.Timestamp(start) + pd.to_timedelta(s, "s") for start in STARTS for s in (-1, 0, 86399)]
    return pd.Series([edge + pd.to_timedelta(us, "us") for edge in edges for us in HALVES]).astype("datetime64[us]")


def near(when):
    """Which of them nanoseconds can tell."""
    return (when > "1678") & (when < "2200")


def floored(when, every):
    """By brute force: the beginning of the window of each moment, from whole microseconds."""
    micros = when.astype("datetime64[us]").astype("int64")
    if every.endswith("mo"):
        months = when.dt.year * 12 + when.dt.month - 1
        months -= months % int(every[:-2])
        return [datetime(m // 12, m % 12 + 1, 1) for m in months]
    width = Every.of(every).seconds * 10**6
    origin = 4 * 86400 * 10**6 if every.endswith("w") else 0
    starts = [(m - origin) // width * width + origin for m in micros]
    return [datetime(1970, 1, 1) + timedelta(microseconds=start) for start in starts]


@engines.EACH
@pytest.mark.parametrize("session", ["UTC", "America/New_York"])
def test_windows_floor_microseconds_whatever_engine_zone_session_or_year(engine, session):
    when = moments()
    micros = when.astype("int64")
    log = pa.table({"row": range(len(when)), "leaf": ["a"] * len(when), "naive": pa.array(when)})
    log = log.append_column("utc", log.column("naive").cast(pa.timestamp("us", "UTC")))
    log = log.append_column("zoned", pa.array(micros).cast(pa.timestamp("us", "Asia/Tokyo")))
    log = log.append_column("date", log.column("naive").cast(pa.date32()))
    if engine == "duckdb":
        nano = [1000 * us + 999 if inside else None for us, inside in zip(micros, near(when), strict=True)]
        log = log.append_column("nano", pa.array(nano, pa.timestamp("ns")))
        log = log.append_column("nano_zoned", log.column("nano").cast(pa.timestamp("ns", "UTC")))
    with zone_of(engine, engines.put(engine, "moments", log), session) as stored:
        table = open_source(stored["table"], stored.get("connect")).copied().table
        names = log.column_names[2:]
        asked = {f"{every} {name}": Every.of(every).number(table[name]) for name in names for every in EVERY}
        answer = fetch(table.select("row", **asked)).to_pandas().sort_values("row")
    for question in asked:
        every, name = question.split()
        chosen = near(when) if name.startswith("nano") else when == when
        expected = when[chosen].dt.floor("D") if name == "date" else when[chosen]
        starts = [Every.of(every).start(int(number)) for number in answer[question][chosen.to_numpy()]]
        assert starts == floored(expected, every), question


@contextmanager
def zone_of(engine, stored, zone):
    """The log in a session of its engine that has another time zone."""
    if engine == "duckdb":
        own = ibis.duckdb.connect()
        own.raw_sql(f"SET TimeZone = '{zone}'").fetchall()
        yield {"table": own.read_parquet(str(stored["table"]))}
    elif engine == "postgres":
        own = ibis.connect(stored["connect"])
        own.con.execute(f"SET TIMEZONE = '{zone}'")
        yield {"table": own.table(stored["table"])}
    else:
        session = engines.spark()._session
        session.conf.set("spark.sql.session.timeZone", zone)
        try:
            yield stored
        finally:
            session.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("postgres", marks=pytest.mark.thorough)])
def test_moments_that_no_date_here_can_tell_are_refused(engine):
    values = ("infinity", "-infinity", "12000-01-01", "290000-01-01")
    for value, kind in itertools.product(values, ("timestamp", "timestamptz", "date")):
        make = f"CREATE TABLE far AS SELECT 'a' AS leaf, 'y' AS yhat, '{value}'::{kind} AS moment"
        if engine == "duckdb":
            own = ibis.duckdb.connect()
            own.raw_sql(make).fetchall()
            stored = {"table": own.table("far")}
        else:
            stored = engines.run_postgres("far", make)
        refused(BadInput, r"outside the years 1 to 9999|too (large|small)", audit, **stored, **HOW, time="moment")
