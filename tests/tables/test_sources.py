"""A log is read from files, frames and databases; what cannot be read says so in one line."""

import os
import re
import signal
import stat
import subprocess
import sys

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import faithscope as fs
from child import python
from faithscope.errors import BadInput, FaithscopeError, NotProven, WrongType
from faithscope.tables.audit import audit
from faithscope.tables.engines import clear_errors
from faithscope.tables.source import open_source
from refused import refused
from tables import engines, postgres

RNG = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "phi_a": np.round(RNG.normal(size=80), 0),
        "phi_b": np.round(RNG.normal(size=80), 0),
        "yhat": RNG.integers(0, 2, 80),
        "score": RNG.random(80),
        "leaf": RNG.choice(["l1", "l2"], 80),
        "nothing": [None] * 80,
        "day": pd.date_range("2026-01-01", periods=80),
    }
)
HOW = {"prediction": "yhat", "explanation": "phi_*"}
EXPECTED = fs.consistency(FRAME[["phi_a", "phi_b"]], FRAME.yhat)


@pytest.fixture
def files(tmp_path):
    FRAME.to_parquet(tmp_path / "log.parquet")
    FRAME.to_csv(tmp_path / "log.csv", index=False)
    FRAME.to_csv(tmp_path / "log.csv.gz", index=False)
    FRAME.to_json(tmp_path / "log.jsonl", orient="records", lines=True, date_format="iso")
    (tmp_path / "parts").mkdir()
    FRAME[:30].to_parquet(tmp_path / "parts" / "it's 1.parquet")
    FRAME[30:].to_parquet(tmp_path / "parts" / "it's 2.parquet")
    return tmp_path


def test_files_folders_globs_frames_and_databases_are_read(files):
    own = ibis.duckdb.connect(files / "own.duckdb")
    own.raw_sql(f"CREATE TABLE log AS SELECT * FROM '{files}/log.parquet'")
    arrow = pa.Table.from_pandas(FRAME)
    logs = [FRAME, pl.DataFrame(FRAME), arrow, arrow.to_batches()[0], own.table("log")]
    logs += [[files / "parts" / "it's 1.parquet", files / "parts" / "it's 2.parquet"]]
    for name in (
        "log.parquet",
        "log.csv",
        "log.csv.gz",
        "log.jsonl",
        "parts",
        "parts/*.parquet",
        "parts/it's ?.parquet",
    ):
        logs += [files / name, str(files / name)]
    for log in logs:
        audited = audit(log, **HOW, by="leaf")
        assert audited.consistency.value == pytest.approx(EXPECTED.value)
        assert audited.populations.estimates.keys() == {"l1", "l2"}
    own.disconnect()
    audited = audit("log", connect=f"duckdb://{files}/own.duckdb", **HOW)
    assert audited.consistency.value == pytest.approx(EXPECTED.value)


@pytest.mark.engine
@pytest.mark.thorough
def test_postgres_says_what_went_wrong_and_grants_of_the_columns_that_are_asked_are_enough():
    import psycopg

    server, reader = engines.server(), postgres.READER
    with psycopg.connect(server.owner, autocommit=True) as owner:
        owner.execute(
            "CREATE TABLE granted AS SELECT i % 3 phi_a, i % 5 phi_b, i % 2 yhat, i d FROM generate_series(1, 99) i"
        )
        owner.execute("CREATE VIEW broken AS SELECT phi_a, phi_b / (d - 7) phi_b, yhat FROM granted")
        owner.execute(
            "CREATE VIEW late AS SELECT phi_a, phi_b + 0 * length(pg_sleep(9)::text) phi_b, yhat FROM granted"
        )
        owner.execute(
            f"GRANT SELECT (phi_a, phi_b, yhat) ON granted TO {reader}; GRANT SELECT ON broken, late TO {reader}"
        )
        for discretizer in (None, "sign-of-top-5"):
            how = {**HOW, "connect": server.url(), "discretizer": discretizer}
            assert audit("granted", **how).consistency.n == 99
            refused(BadInput, "failed: division by zero", audit, "broken", **how)
            owner.execute(f"ALTER ROLE {reader} SET statement_timeout = '50ms'")
            refused(BadInput, "failed: canceling statement due to statement timeout", audit, "late", **how)
            owner.execute(f"ALTER ROLE {reader} RESET statement_timeout")
        audited = audit(ibis.connect(server.url()).table("granted"), **HOW)
        owner.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{reader}'")
    assert len(audited.by("phi_a").estimates) == 3  # of the rows as they were


@pytest.mark.engine
@pytest.mark.thorough
def test_a_postgres_table_outside_the_search_path_is_named():
    import psycopg

    server = engines.server()
    with psycopg.connect(server.owner, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS risk CASCADE; CREATE SCHEMA risk")
        connection.execute("CREATE TABLE risk.churned (phi_a float8, phi_b float8, yhat int)")
        connection.execute("CREATE TABLE risk.secret (a int)")
        connection.execute(f"GRANT USAGE ON SCHEMA risk TO {postgres.READER}")
        connection.execute(f"GRANT SELECT ON risk.churned TO {postgres.READER}")
        connection.execute("INSERT INTO risk.churned VALUES (1, 2, 0), (1, 2, 0)")
    for name, message in {
        "churned": "; it has risk.churned: write the whole name.",
        "chruned": ". Did you mean 'risk.churned'?",
    }.items():
        refused(BadInput, re.escape(f"no table '{name}'{message}"), audit, name, connect=server.url(), **HOW)
    with pytest.raises(BadInput) as caught:
        audit("secrets", connect=server.url(), **HOW)
    assert "secret," not in str(caught.value)
    assert audit("risk.churned", connect=server.url(), **HOW).consistency.value == 1.0


ODD = FRAME.assign(
    lists=[[1.0]] * 80,
    words=[["a"], ["b"]] * 40,
    raw=[b"x"] * 80,
    big=[2**60, 1] * 40,
    one="A",
    row=range(80),
    far=np.where(FRAME.phi_a > 1, np.inf, FRAME.phi_a),
)
LEAVES = {"explanation": "leaf", "kind": "keys"}
NUMBERS = {**LEAVES, "prediction": "score"}
MIXED_KEYS = ["phi_a", "leaf"]
SINCE = "2026-01-10"
# Of whose rows with an explanation nothing else is known.
LEFT = {"table": pd.DataFrame({"phi_a": [None, 1.0], "yhat": [1, 1], "late": pd.to_datetime(["2026-01-01", None])})}
LEFT["nulls"] = "drop"
REFUSED = [
    (BadInput, {"prediction": "yhta"}, "no column 'yhta' for prediction. Did you mean 'yhat'"),
    (BadInput, {"prediction": None}, "Say which column is the prediction"),
    (BadInput, {"explanation": None}, "Say which columns are the explanation"),
    (BadInput, {"explanation": "shap_*"}, r"no column 'shap_\*' for explanation"),
    (BadInput, {"explanation": []}, "No column was named for explanation"),
    (BadInput, {"prediction": "score"}, "are numbers, 80 different ones in 80 rows"),
    (BadInput, {"prediction": "nothing"}, "'nothing' is null in all 80 rows"),
    (BadInput, {"explanation": MIXED_KEYS, "discretizer": fs.Sign()}, "discretizes importances; the log holds keys"),
    (BadInput, {"explanation": MIXED_KEYS, "discretizer": fs.Rank()}, "the log holds keys. If they are meant to be"),
    (BadInput, {"discretizer": fs.Rank() | fs.Floor(1)}, "discretizes importances"),
    (BadInput, {"explanation": "leaf", "kind": "importances"}, "column 'leaf' holds string"),
    (BadInput, {"explanation": "leaf", "kind": "words"}, "Words are a column of lists; 'leaf' holds string"),
    (BadInput, {"explanation": "leaf", "kind": "rules"}, "cannot be read: at character 1"),
    (BadInput, {"explanation": "leaf", "kind": "poems"}, "kind must be"),
    (BadInput, {"explanation": MIXED_KEYS, "kind": "rules"}, "sit in one column"),
    (BadInput, {"discretizer": fs.Delta()}, "discretizes counterfactuals"),
    (WrongType, {"discretizer": lambda explanations: explanations}, "cannot be applied in an engine"),
    (BadInput, {"nulls": "maybe"}, "nulls must be one of 'error', 'drop', 'key'"),
    (BadInput, {"by": "regoin"}, "no column 'regoin' for by"),
    (BadInput, {"by": "nothing"}, "'nothing' is null in all"),
    (BadInput, {"time": "leaf"}, "holds string, not dates"),
    (BadInput, {"time": "day", "every": "1 fortnight"}, "every must be a number with"),
    (BadInput, {"against": 3}, "say which column is the time"),
    (BadInput, {"confidence": 2}, "confidence must be"),
    (BadInput, {"interval": "bootstrap"}, "interval must be"),
    (WrongType, {"table": 3}, "A log is a file"),
    (BadInput, {"table": pd.DataFrame({"phi_a": [1, "x"], "yhat": [0, 1]})}, "Reading the frame failed"),
    (BadInput, {"table": FRAME[:0]}, "no rows"),
    (BadInput, {"table": pd.DataFrame({"phi_a": [None, 1.0], "yhat": [1, None]}), "nulls": "drop"}, "No row is left"),
    *((BadInput, {**LEFT, role: "late"}, "No row is left") for role in ("by", "time")),
    (BadInput, {"every": "1d"}, "every='1d' is the length of windows of time: name their column"),
    # Lists are neither labels nor keys; a population, a cluster and an id are one value.
    (WrongType, {"prediction": "words"}, "a prediction is one label per row"),
    (WrongType, {"explanation": ["words", "leaf"]}, "a key is one value"),
    *((WrongType, {role: "lists"}, "Column 'lists' holds") for role in ("by", "id", "prediction")),
    *((WrongType, {**LEAVES, "clusters": name}, name) for name in ("lists", "raw")),
    # Numbers that are infinite or too large.
    (BadInput, {"explanation": ["far", "phi_b"], "nulls": "drop"}, "'far' holds an infinite number"),
    (BadInput, {"explanation": ["far", "phi_b"], "discretizer": fs.Rank()}, "'far' holds an infinite number"),
    (BadInput, {"table": FRAME.assign(phi_a=1e300), "discretizer": fs.Floor(10)}, "too large for Floor"),
    (BadInput, {"table": FRAME.assign(phi_a=1e300), "discretizer": fs.Floor(10) | fs.Rank()}, "too large for Floor"),
    (BadInput, {"table": FRAME.assign(phi_a=2**60)}, "integers beyond"),
    (BadInput, {"table": FRAME.assign(phi_a=2**53 + 1), "discretizer": fs.Rank()}, "integers beyond"),
    (
        BadInput,
        {"table": pd.DataFrame({"phi": [[1.0], [1.0, 2.0]], "yhat": [0, 1]}), "explanation": "phi"},
        "lists of 1 to 2 numbers",
    ),
    # Agreements.
    (
        WrongType,
        {"prediction": "leaf", "agreement": fs.Spread()},
        r"Column 'leaf' holds .*, but Spread\(\) compares numbers",
    ),
    (BadInput, {**LEAVES, "prediction": "big", "agreement": fs.Spread()}, r"beyond 2\*\*53"),
    (BadInput, {**LEAVES, "prediction": ["score", "big"]}, "one column; got 2"),
    (
        BadInput,
        {"prediction": ["score", "big"], "agreement": fs.Close(1.0)},
        r"one column; got 2: .* agreement=fs.Spread\(\)",
    ),
    (NotProven, {**NUMBERS, "agreement": fs.Spread(), "interval": "proven"}, "not for Spread"),
    # Clusters.
    (BadInput, {**LEAVES, "clusters": "one"}, "All 80 rows are of one cluster in column 'one'"),
    (
        NotProven,
        {**NUMBERS, "clusters": "row", "agreement": fs.Spread()},
        r"use agreement=fs.Close\(eps\) with clusters",
    ),
    (BadInput, {"clusters": "rows"}, "no column 'rows' for clusters"),
    (WrongType, {"clusters": ["row"]}, "clusters is the name of a column"),
    (BadInput, {"clusters": "yhat"}, "both for clusters and for prediction"),
    (BadInput, {**LEAVES, "clusters": "leaf"}, "both for clusters and for explanation"),
    # What identifies rows.
    (BadInput, {"id": "leeaf"}, "no column 'leeaf' for id. Did you mean 'leaf'"),
    (BadInput, {"id": "yhat"}, "'yhat' is named both for id and for prediction"),
    (BadInput, {"id": "phi_a", "explanation": ["phi_a", "phi_b"]}, "'phi_a' is named both for id and for explanation"),
    (WrongType, {"id": 3}, "names of columns"),
    # Moments.
    (BadInput, {"table": FRAME.drop(columns="day"), "since": SINCE}, "has none: name one with time="),
    (BadInput, {"table": FRAME.assign(other=FRAME.day), "since": SINCE}, "has several: day, other"),
    (BadInput, {"since": "yesterday"}, "such as 2026-03-01"),
    (BadInput, {"since": 3}, "such as 2026-03-01"),
    (BadInput, {"since": "2026-03-10T00:00:00.1234567"}, "finer than microseconds"),
    (BadInput, {"since": "2030-01-01"}, "None of 80 rows is left where day is 2030-01-01 or later"),
    # Names that stand twice.
    (BadInput, {"table": FRAME.set_axis([*FRAME.columns[:-1], "yhat"], axis=1)}, "Duplicate column names"),
    (BadInput, {"table": pa.table([[1, 1], [0, 1], [1, 2]], names=["yhat", "a", "a"])}, "Two columns have one name"),
]


@pytest.mark.parametrize(("error", "changes", "message"), REFUSED)
def test_what_cannot_be_audited_says_why(error, changes, message):
    with pytest.raises(FaithscopeError, match=message) as caught:
        audit(**{"table": ODD, **HOW, **changes})
    assert isinstance(caught.value, error)
    assert "\n" not in str(caught.value)


def test_lists_of_words_are_explanations():
    assert audit(ODD, prediction="yhat", explanation="words").consistency.distinct == 2


def test_files_that_cannot_be_read_say_why(files):
    whole = (files / "log.parquet").read_bytes()
    (files / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (files / "log.xlsx").write_bytes(b"")
    (files / "mixed.csv").write_text("phi_a,phi_b,yhat\n1,2,0\nx,2,1\n")
    for name, message in {
        "cut.parquet": "Reading .*cut.parquet failed",
        "log.xlsx": "is no kind of file that can be read",
        "logg.parquet": "No file matches .*Did you mean .*log.parquet",
        "none/*.parquet": "No file matches",
        "mixed.csv": "column 'phi_a' holds string",
    }.items():
        refused(BadInput, message, audit, files / name, prediction="yhat", explanation="phi_*", kind="importances")
    refused(BadInput, "mixes kinds of files", audit, [files / "log.parquet", files / "log.csv"], **HOW)


@pytest.mark.engine
@pytest.mark.thorough
def test_a_wrong_password_and_a_database_that_is_not_there_are_one_line_without_the_password():
    server = engines.server()
    for url, message in {
        server.url(password="hunter2%40x"): "password authentication failed",
        "postgres://reader:hunter2@127.0.0.1:1/postgres": "Connecting to postgres://127.0.0.1 failed",
        server.url(database="nowhere"): "nowhere",
    }.items():
        with pytest.raises(BadInput) as caught:
            audit("log", connect=url, **HOW)
        assert message in str(caught.value)
        assert "hunter2" not in str(caught.value)
        assert postgres.PASSWORD not in str(caught.value)
        assert "\n" not in str(caught.value)
    refused(BadInput, "no table 'lgo'", audit, "lgo", connect=server.url(), **HOW)
    refused(BadInput, "looks like postgres://", audit, "log", connect="nonsense", **HOW)


def test_a_password_is_taken_out_of_whatever_a_driver_says():
    with pytest.raises(BadInput) as caught, clear_errors("Trying", "p@ss"):
        raise RuntimeError("could not open postgres://me:p@ss@host/db with password=p@ss\nat line 3")
    assert str(caught.value) == "Trying failed: could not open postgres://me:***@host/db with password=***"


SECRETS = [
    "user:hunter2@host/db",
    "postgres://user:hunter2@[::1/x",
    "postgres://[::1/x?password=hunter2",
    "postgres://user:hunter2@host:port/db",
    "postgress://user:hunter2@host/db",
    "mysql://user:hunter2@host/db",
    "//user:hunter2@host/db",
    "postgres:user:hunter2@host/db",
    "postgres://user:hun@ter2/hunter2@127.0.0.1:1/db",
    "postgres://127.0.0.1:1/db?user=u&password=hunter2",
]


@pytest.mark.parametrize("address", SECRETS)
def test_no_message_repeats_a_password_however_the_address_is_mistyped(address):
    for given in (
        {"table": "log", "connect": address},
        {"table": address},
        {"table": FRAME, "time": "day", "against": address},
    ):
        with pytest.raises(FaithscopeError) as caught:
            audit(**given, **HOW)
        assert "ter2" not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_duckdb_file_is_only_ever_opened_to_be_read(tmp_path):
    file = tmp_path / "own.duckdb"
    with duckdb.connect(str(file)) as own:
        own.register("frame", pa.Table.from_pandas(FRAME.drop(columns="nothing")))
        own.execute("CREATE TABLE log AS SELECT * FROM frame")
    for option in ("access_mode=read_write", "ACCESS_MODE=automatic", "read_only=False", "enable_external_access=true"):
        refused(
            BadInput,
            f"and nothing else: leave {option.partition('=')[0]} out",
            audit,
            "log",
            connect=f"duckdb://{file}?{option}",
            **HOW,
        )
    source = open_source("log", f"duckdb://{file}?threads=1")
    assert audit(source, **HOW).consistency.value == pytest.approx(EXPECTED.value)
    refused(duckdb.Error, "read-only", source.table.get_backend().raw_sql, "CREATE TABLE t AS SELECT 1")
    refused(BadInput, "There is no DuckDB file", audit, "log", connect=f"duckdb://{tmp_path}/none.duckdb", **HOW)
    assert not (tmp_path / "none.duckdb").exists()


def test_nan_in_parquet_counts_through_any_connection_and_a_view_in_a_duckdb_file_reads_no_other_file(tmp_path):
    age = np.where(RNG.random(200) < 0.2, np.nan, RNG.integers(20, 60, 200))
    rules = RNG.choice(["age <= 35", "age > 35"], 200)
    table = pa.table({"age": age, "rule": rules.tolist(), "yhat": (np.nan_to_num(age) > 40).astype(int)})
    pq.write_table(table, tmp_path / "log.parquet")
    with duckdb.connect(str(tmp_path / "views.duckdb")) as own:
        own.execute(f"CREATE VIEW log AS SELECT * FROM '{tmp_path}/log.parquet'")
    how = {"prediction": "yhat", "explanation": "rule"}
    expected = audit(table, **how).sufficiency
    own = duckdb.connect(str(tmp_path / "views.duckdb"), read_only=True)
    connection = ibis.duckdb.from_connection(own)
    for log in (tmp_path / "log.parquet", own.table("log"), connection.table("log")):
        assert audit(log, **how).sufficiency == expected
        refused(
            BadInput,
            r"Values are missing \(null or NaN\)",
            audit,
            log,
            prediction="yhat",
            explanation="age",
            kind="keys",
        )
        assert audit(log, **how, where="age > 30").sufficiency == audit(table, **how, where="age > 30").sufficiency
    own.close()
    refused(BadInput, "disabled by configuration", audit, "log", connect=f"duckdb://{tmp_path}/views.duckdb", **how)


def test_other_databases_are_not_opened_here(tmp_path):
    for scheme in ("sqlite", "mysql", "snowflake", "md", "file", "bigquery"):
        refused(
            BadInput,
            "Open any other database with Ibis, and pass its table",
            audit,
            "log",
            connect=f"{scheme}://{tmp_path}/x.db",
            **HOW,
        )
    assert not list(tmp_path.iterdir())


def test_what_spills_to_disk_lies_in_a_folder_of_this_process_that_nobody_else_can_read():
    code = (
        "import os, stat; from faithscope.tables.connections import embedded; "
        "f = embedded().raw_sql(\"SELECT current_setting('temp_directory')\").fetchall()[0][0]; "
        "print(f, oct(stat.S_IMODE(os.stat(f).st_mode)), os.path.isdir(f))"
    )
    lines = [python(code).stdout for _ in range(2)]
    (folder, mode, there), (other, *_) = (line.split() for line in lines)
    assert (mode, there) == ("0o700", "True")
    assert folder != other
    assert not os.path.exists(folder)


@pytest.mark.slow
def test_nothing_that_spilled_is_left_after_sigterm(tmp_path):
    code = (
        "import sys; from faithscope.tables.connections import embedded; "
        "import faithscope.monitor.store as own; own.connected(None); "
        "c = embedded(temp_directory=sys.argv[1], memory_limit='60MB'); "
        "c.raw_sql('CREATE TABLE t AS SELECT range, hash(range) FROM range(9000000)'); print(flush=True); "
        "c.raw_sql('SELECT count(*) FROM t a, t b WHERE hash(a.range + b.range) % 7 = 1').fetchall()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "scratch")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}) as process:
        process.stdout.readline()
        folders = [path for path in tmp_path.rglob("faithscope-*") if path.is_dir()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}
        assert [file for path in folders for file in path.iterdir()]
        process.terminate()
        assert process.wait(20) == -signal.SIGTERM
    assert not list(tmp_path.rglob("faithscope-*"))
