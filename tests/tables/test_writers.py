"""Logs that others write to while they are audited: an answer is about one state of the log, or there is none."""

from contextlib import contextmanager

import duckdb
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from ibis.expr.types.core import Expr
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.tables.audit import audit
from refused import refused
from tables import engines

RNG = default_rng(3)
ROWS = 400
LOG = pd.DataFrame(
    {
        "phi_a": np.round(RNG.normal(size=ROWS), 0),
        "phi_b": np.round(RNG.normal(size=ROWS), 0),
        "yhat": RNG.choice(["ja", "nein"], ROWS),
        "region": RNG.choice(["north", "south"], ROWS),
        "day": pd.Timestamp("2026-03-01") + pd.to_timedelta(RNG.integers(0, 3, ROWS), "D"),
        "rule": RNG.choice(["phi_a <= 0", "phi_a > 0 and phi_b <= 1", "phi_b > 1"], ROWS),
    }
)
HOW = {"prediction": "yhat", "by": "region", "time": "day"}
KINDS = {
    "numbers": {"explanation": "phi_*"},
    "rank": {"explanation": "phi_*", "discretizer": fs.Rank()},
    "rules": {"explanation": "rule"},
}
INSERT = "INSERT INTO written SELECT * FROM written LIMIT 37"
DELETE = "DELETE FROM written WHERE phi_a > 1"
RELABEL = "UPDATE written SET yhat = 'nie' WHERE phi_b > 0"


@contextmanager
def writing_between_questions(monkeypatch, write):
    """Before every question but the first, somebody else writes."""
    asked = []

    def interrupted(ask):
        def after_writing(self, *args, **kwargs):
            if asked:
                write(len(asked))
            asked.append(1)
            return ask(self, *args, **kwargs)

        return after_writing

    with monkeypatch.context() as patch:
        patch.setattr(Expr, "to_pyarrow", interrupted(Expr.to_pyarrow))
        yield
    assert len(asked) > 1


def in_duckdb():
    own = ibis.duckdb.connect()
    own.con.register("given", pa.Table.from_pandas(LOG))
    own.raw_sql("CREATE TABLE written AS SELECT * FROM given")
    writer = own.con.cursor()
    return {"table": own.table("written")}, lambda sql: writer.execute(sql)


def in_postgres():
    import psycopg

    log = engines.put("postgres", "written", pa.Table.from_pandas(LOG.astype({"day": "datetime64[us]"})))
    writer = psycopg.connect(engines.server().owner, autocommit=True)
    return log, lambda sql: writer.execute(sql)


PLACES = pytest.mark.parametrize("place", [in_duckdb, pytest.param(in_postgres, marks=pytest.mark.thorough)])


def same(audited, wanted):
    assert audited.consistency.to_dict() == wanted.consistency.to_dict()
    assert audited.populations.to_dict() == wanted.populations.to_dict()
    assert audited.windows.to_dict() == wanted.windows.to_dict()
    assert (audited.sufficiency is None) == (wanted.sufficiency is None)
    assert audited.sufficiency is None or audited.sufficiency.value == pytest.approx(wanted.sufficiency.value)


@pytest.mark.parametrize("kind", KINDS)
@PLACES
def test_an_audit_is_of_the_state_it_began_with(place, kind, monkeypatch):
    log, write = place()
    wanted = audit(LOG, **HOW, **KINDS[kind])
    with writing_between_questions(monkeypatch, lambda i: write([INSERT, DELETE, RELABEL][i % 3])):
        audited = audit(**log, **HOW, **KINDS[kind])
    same(audited, wanted)


@PLACES
@pytest.mark.parametrize("sql", [INSERT, DELETE, RELABEL])
def test_what_is_asked_later_is_about_the_state_that_was_audited(place, sql):
    log, write = place()
    audited, wanted = (audit(**each, prediction="yhat", **KINDS["numbers"]) for each in (log, {"table": LOG}))
    write(sql)
    assert audited.by("region").to_dict() == wanted.by("region").to_dict()
    assert audited.table(3)["n"].tolist() == wanted.table(3)["n"].tolist()
    assert len(audited.counterexamples(3)) == 3
    write("DROP TABLE written")  # nothing of ours keeps it locked


@pytest.mark.engine
@pytest.mark.thorough
def test_an_audit_of_a_table_of_spark_is_of_the_state_it_began_with(tmp_path):
    own = engines.spark()

    def write(rows):
        place = tmp_path / f"{rows}.parquet"
        LOG[["phi_a", "phi_b", "yhat", "region"]][:rows].to_parquet(place)
        own.raw_sql(f"CREATE OR REPLACE TEMP VIEW written AS SELECT * FROM parquet.`{place}`")

    write(ROWS)
    audited = audit(own.table("written"), prediction="yhat", **KINDS["numbers"])
    write(ROWS - 1)
    wanted = audit(LOG, prediction="yhat", **KINDS["numbers"])
    assert audited.by("region").to_dict() == wanted.by("region").to_dict()


WRITTEN = "was written to while it was audited"


def test_files_that_are_written_anew_while_they_are_audited_are_an_error(tmp_path, monkeypatch):
    path = tmp_path / "log.parquet"
    LOG.to_parquet(path)
    audited = audit(path, prediction="yhat", **KINDS["numbers"])
    message = pytest.raises(BadInput, match=WRITTEN)
    with writing_between_questions(monkeypatch, lambda i: LOG[: ROWS - i].to_parquet(path)), message:
        audit(path, **HOW, **KINDS["numbers"])
    with message:
        audited.by("region")
    LOG.to_parquet(path)
    audited = audit(path, prediction="yhat", **KINDS["numbers"])
    LOG.assign(region="east").to_parquet(path)  # as many rows of the same labels
    refused(BadInput, "no longer the file that was opened", audited.by, "region")


def test_an_engine_error_inside_leaves_no_transaction_behind():
    log, _ = in_duckdb()
    with pytest.raises(BadInput):
        audit(**log, prediction="yhat", explanation="rule", kind="words")
    with pytest.raises(duckdb.TransactionException):
        log["table"].get_backend().con.rollback()
