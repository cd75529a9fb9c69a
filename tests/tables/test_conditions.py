"""Rows of a log by a condition of SQL and since a moment: the rows that brute force chooses."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused
from tables import engines
from tables.logs import assert_same

RANDOM = default_rng(5)
N = 240
LOG = pd.DataFrame(
    {
        "leaf": RANDOM.integers(0, 5, N),
        "y": RANDOM.integers(0, 2, N),
        "region": RANDOM.choice(["EU", "US", "eu"], N),
        "amount": RANDOM.normal(size=N).round(3),
        "education-num": RANDOM.integers(1, 16, N),
        "day": (pd.Timestamp("2026-03-01") + pd.to_timedelta(RANDOM.integers(0, 20, N), "D")).astype("datetime64[us]"),
    }
)
HOW = {"prediction": "y", "explanation": "leaf", "kind": "keys"}
CONDITIONS = {
    "region = 'EU'": LOG.region == "EU",
    "region <> 'EU' and amount > 0": (LOG.region != "EU") & (LOG.amount > 0),
    "region ilike 'eu' or amount between -0.5 and 0.5": (LOG.region.str.lower() == "eu")
    | LOG.amount.between(-0.5, 0.5),
    'not ("education-num" in (1, 2, 3))': ~LOG["education-num"].isin([1, 2, 3]),
    "day >= '2026-03-05' and region is not null": LOG.day >= "2026-03-05",
    "region like 'E%' and amount < leaf": (LOG.region == "EU") & (LOG.amount < LOG.leaf),
    "region not like 'E%'": LOG.region != "EU",
    "not region like 'E%'": LOG.region != "EU",
    "region not ilike 'e%'": LOG.region == "US",
    "region not in ('EU', 'US')": LOG.region == "eu",
    "amount not between -1 and 1": ~LOG.amount.between(-1, 1),
    "(region is not null) is not false": LOG.region.notna(),
}


def same(estimate, rows):
    assert_same(estimate, fs.consistency(LOG.leaf[rows].tolist(), LOG.y[rows].tolist()))


@engines.EACH
def test_a_condition_chooses_the_rows_of_brute_force(engine):
    log = engines.put(engine, "conditions", pa.Table.from_pandas(LOG, preserve_index=False))
    for condition, chosen in CONDITIONS.items():
        rows, audit = chosen.to_numpy(), fs.audit(**log, **HOW, where=condition)
        same(audit.consistency, rows)
        assert audit.notes[0] == f"{rows.sum():,} of {N:,} rows, where {condition}"
    same(fs.audit(**log, **HOW, since="2026-03-10").consistency, (LOG.day >= "2026-03-10").to_numpy())


def test_a_csv_file_keeps_its_rows_when_its_columns_are_read_as_numbers(tmp_path):
    LOG.assign(zip=np.where(LOG.amount > 0, "007", "7")).to_csv(tmp_path / "log.csv", index=False)
    read = {"prediction": "y", "explanation": ["leaf", "amount"], "discretizer": "sign"}
    audit = fs.audit(tmp_path / "log.csv", **read, where="zip = '007' and amount > 0.5")
    assert audit.consistency.n == (LOG.amount > 0.5).sum()
    assert fs.audit(tmp_path / "log.csv", **HOW, where="zip = 7").consistency.n == N


def test_rows_for_which_a_condition_is_unknown_are_left_out():
    log = LOG.assign(region=LOG.region.where(LOG.amount > 0))
    assert fs.audit(log, **HOW, where="region <> 'EU'").consistency.n == ((LOG.region != "EU") & (LOG.amount > 0)).sum()


def test_a_condition_that_names_no_column_holds_for_all_rows_or_for_none():
    for condition in ("true", "1 = 1"):
        assert fs.audit(LOG, **HOW, where=condition).consistency.n == N


REFUSED = {
    "1 = 2": "None of 240 rows is left where 1 = 2",
    "region = 'EU'; DROP TABLE log": "2 statements",
    "1 = 1) --": "cannot be read",
    "amount >": "cannot be read",
    "amount > (SELECT max(amount) FROM log)": "SELECT",
    "amount IN (SELECT 1)": "list the values",
    "EXISTS (SELECT 1)": "EXISTS",
    "amount > 1 UNION SELECT 1": "UNION",
    "read_text('/etc/passwd') IS NOT NULL": "READ_TEXT",
    "pg_sleep(9) IS NULL": "PG_SLEEP",
    "getenv('HOME') = 'x'": "GETENV",
    "random() < 0.5": "RANDOM",
    "count(*) > 1": "COUNT",
    "row_number() OVER () = 1": "ROW_NUMBER",
    "amount": "neither true nor false",
    "": "condition of SQL",
    "nosuch = 1": "no column 'nosuch'",
    "education-num > 3": "not asked of a log.*double quotes",
    "log.region = 'EU'": "name a column",
    "region > 3": "cannot be asked .* values of one type",
    "region = 'Mars'": "None of 240 rows is left where region = 'Mars'",
    "DROP TABLE log": "DROP",
    "amount = $1": r"\$1",
    "amount = ?": r"\?",
    "2 * amount > 1": "is not asked of a log.*a view or a query",
    "lower(region) = 'eu'": "is not asked of a log.*a view or a query",
    # What is not understood is never left out.
    "amount between symmetric 1 and -1": "is not asked of a log|stands a text",
    "cast(region as varchar(1)) = 'E'": "is not asked of a log|stands a text",
    "trim(leading 'E' from region) = 'U'": "is not asked of a log|stands a text",
    "region like 'E!%' escape '!'": "is not asked of a log|stands a text",
    "region like any ('E%')": "is not asked of a log|stands a text",
}


@pytest.mark.parametrize("condition", REFUSED)
def test_anything_but_a_condition_is_refused_in_one_sentence(condition):
    with pytest.raises(BadInput, match=REFUSED[condition]) as problem:
        fs.audit(LOG, **HOW, where=condition)
    assert "\n" not in str(problem.value)


def test_since_takes_the_moment_itself_and_later_ones():
    zoned = datetime(2026, 3, 10, 1, tzinfo=UTC) - timedelta(hours=1)
    for since in ("2026-03-10", date(2026, 3, 10), datetime(2026, 3, 10), zoned):
        audit = fs.audit(LOG, **HOW, since=since)
        same(audit.consistency, (LOG.day >= "2026-03-10").to_numpy())
        assert "where day is 2026-03-10" in audit.notes[0]


@engines.EACH
def test_nan_is_unknown_to_a_condition_of_every_engine(engine):
    amount = LOG.amount.where(LOG.amount < 1, np.nan).to_numpy()
    columns = {name: pa.array(LOG[name]) for name in ("leaf", "y")} | {"amount": pa.array(amount)}
    log = engines.put(engine, "nan_conditions", pa.table(columns))
    same(fs.audit(**log, **HOW, where="amount > 0").consistency, amount > 0)
    same(fs.audit(**log, **HOW, where="amount is null").consistency, np.isnan(amount))


@pytest.mark.parametrize(
    "condition",
    [
        "day > '2026-03-05T23:00:00-01:00'",
        "'2026-03-06T02:00:00+02:00' < day",
        "not (day between '2026-03-01' and '2026-03-06T01:00:00+01:00')",
    ],
)
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_an_offset_counts(condition, zone):
    log = LOG.assign(day=LOG.day.dt.tz_localize(zone))
    same(fs.audit(log, **HOW, where=condition).consistency, (LOG.day > "2026-03-06").to_numpy())


def test_a_date_lies_before_the_hours_of_its_day():
    log = LOG.assign(day=LOG.day.dt.date)
    same(fs.audit(log, **HOW, where="day < '2026-03-06T12:00'").consistency, (LOG.day <= "2026-03-06").to_numpy())
    same(fs.audit(log, **HOW, where="day >= '2026-03-06'").consistency, (LOG.day >= "2026-03-06").to_numpy())


@pytest.mark.parametrize("condition", ["\"SEX\" = 'M'", "SEX = 'M'"])
def test_names_that_differ_in_case_are_never_mixed_up(condition):
    log = LOG.assign(sex="M", SEX=np.where(LOG.amount > 0, "M", "F"))
    refused(BadInput, "no column 'SEX'", fs.audit, log, **HOW, where=condition)
    assert fs.audit(log, **HOW, where="sex = 'M' and \"SEX_1\" = 'M'").consistency.n == (LOG.amount > 0).sum()
