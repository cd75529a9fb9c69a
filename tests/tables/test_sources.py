"""A log is read from files, frames and databases; what cannot be read says so in one line."""

import json
import os
import re
import subprocess
import sys

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.tables.audit import audit
from faithscope.tables.engine.failures import clear_errors
from faithscope.tables.log.writing import to_log
from faithscope.tables.sources.source import open_source
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


@pytest.mark.parametrize(
    "name", ["log.parquet", "log.csv", "log.csv.gz", "log.jsonl", "parts", "parts/*.parquet", "parts/it's ?.parquet"]
)
@pytest.mark.slow
def test_files_folders_and_globs_are_read(files, name):
    assert audit(files / name, **HOW).consistency.value == pytest.approx(EXPECTED.value)
    assert audit(str(files / name), **HOW, by="leaf").populations.estimates.keys() == {"l1", "l2"}


def test_several_files_are_one_log(files):
    audited = audit([files / "parts" / "it's 1.parquet", files / "parts" / "it's 2.parquet"], **HOW)
    assert audited.consistency.value == pytest.approx(EXPECTED.value)


@pytest.mark.parametrize(
    "frame",
    [FRAME, pl.DataFrame(FRAME), pa.Table.from_pandas(FRAME), pa.table(pa.Table.from_pandas(FRAME)).to_batches()[0]],
    ids=["pandas", "polars", "arrow", "batch"],
)
def test_frames_are_read(frame):
    assert audit(frame, **HOW).consistency.value == pytest.approx(EXPECTED.value)


def test_an_ibis_table_and_a_duckdb_file_are_read(files):
    connection = ibis.duckdb.connect(files / "own.duckdb")
    connection.raw_sql(f"CREATE TABLE log AS SELECT * FROM '{files}/log.parquet'")
    assert audit(connection.table("log"), **HOW).consistency.value == pytest.approx(EXPECTED.value)
    connection.disconnect()
    audited = audit("log", connect=f"duckdb://{files}/own.duckdb", **HOW)
    assert audited.consistency.value == pytest.approx(EXPECTED.value)


def test_a_table_that_is_not_in_a_duckdb_file_says_which_are(tmp_path):
    connection = ibis.duckdb.connect(tmp_path / "own.duckdb")
    connection.raw_sql("CREATE TABLE predictions AS SELECT 1 AS yhat")
    connection.raw_sql("CREATE SCHEMA risk; CREATE TABLE risk.churn AS SELECT 1 AS yhat")
    connection.disconnect()
    address = f"duckdb://{tmp_path}/own.duckdb"
    for name, message in {
        "predictoins": "no table 'predictoins'. Did you mean 'predictions'?",
        "churn": "no table 'churn'; it has risk.churn: write the whole name.",
        "risk.predictions": "no table 'risk.predictions'; it has predictions: write the whole name.",
        "zzz": "no table 'zzz'. There are 'predictions', 'risk.churn'.",
    }.items():
        with pytest.raises(BadInput, match=re.escape(message)):
            audit(name, connect=address, **HOW)


@pytest.mark.engine
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
        with pytest.raises(BadInput, match=re.escape(f"no table '{name}'{message}")):
            audit(name, connect=server.url(), **HOW)
    with pytest.raises(BadInput) as caught:
        audit("secrets", connect=server.url(), **HOW)
    assert "secret," not in str(caught.value)
    assert audit("risk.churned", connect=server.url(), **HOW).consistency.value == 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prediction": "yhta"}, "no column 'yhta' for prediction. Did you mean 'yhat'"),
        ({"prediction": None}, "Say which column is the prediction"),
        ({"explanation": None}, "Say which columns are the explanation"),
        ({"explanation": "shap_*"}, "no column 'shap_*' for explanation"),
        ({"explanation": []}, "No column was named for explanation"),
        ({"prediction": "score"}, "are numbers, 80 different ones in 80 rows"),
        ({"prediction": "nothing"}, "'nothing' is null in all 80 rows"),
        ({"explanation": ["phi_a", "leaf"], "discretizer": fs.Sign()}, "discretizes importances; the log holds keys"),
        ({"explanation": ["phi_a", "leaf"], "discretizer": fs.Rank()}, "discretizes importances; the log holds keys"),
        ({"discretizer": fs.Rank() | fs.Floor(1)}, "discretizes importances"),
        ({"explanation": "leaf", "kind": "importances"}, "column 'leaf' holds string"),
        ({"explanation": "leaf", "kind": "words"}, "Words are a column of lists; 'leaf' holds string"),
        ({"explanation": "leaf", "kind": "rules"}, "cannot be read at character 1"),
        ({"explanation": "leaf", "kind": "poems"}, "kind must be"),
        ({"explanation": ["phi_a", "leaf"], "kind": "rules"}, "sit in one column"),
        ({"discretizer": fs.Delta()}, "discretizes counterfactuals"),
        ({"nulls": "maybe"}, "nulls must be one of error, drop, key"),
        ({"by": "regoin"}, "no column 'regoin' for by"),
        ({"by": "nothing"}, "'nothing' is null in all"),
        ({"time": "leaf"}, "holds string, not dates"),
        ({"time": "day", "every": "1 fortnight"}, "every must be a number with"),
        ({"reference": 3}, "say which column is the time"),
        ({"confidence": 2}, "confidence must be"),
        ({"interval": "bootstrap"}, "interval must be"),
    ],
)
@pytest.mark.slow
def test_what_cannot_be_audited_says_why(changes, message):
    with pytest.raises(FaithscopeError) as caught:
        audit(FRAME, **{**HOW, **changes})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_lists_are_neither_labels_nor_keys():
    frame = FRAME.assign(lists=[[1.0]] * 80, words=[["a"], ["b"]] * 40)
    with pytest.raises(WrongType, match="a prediction is one label per row"):
        audit(frame, prediction="words", explanation="phi_*")
    with pytest.raises(WrongType, match="a key is one value"):
        audit(frame, prediction="yhat", explanation=["words", "leaf"])
    assert audit(frame, prediction="yhat", explanation="words").consistency.distinct == 2


def test_documents_may_be_texts():
    texts = [" ".join(RNG.choice(["good", "bad", "né", "it's"], 3)) for _ in range(80)]
    words = [text.split()[:1] for text in texts]
    frame = pd.DataFrame({"words": words, "document": texts, "yhat": FRAME.yhat})
    estimate = audit(frame, prediction="yhat", explanation="words").sufficiency
    expected = fs.sufficiency(fs.Highlights(words), FRAME.yhat, texts)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((expected.value, expected.low, expected.high))


def test_a_function_is_no_discretizer_of_an_engine():
    with pytest.raises(WrongType, match="cannot be applied in an engine"):
        audit(FRAME, **HOW, discretizer=lambda explanations: explanations)


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
        with pytest.raises(BadInput, match=message):
            audit(files / name, prediction="yhat", explanation="phi_*", kind="importances")
    with pytest.raises(BadInput, match="mixes kinds of files"):
        audit([files / "log.parquet", files / "log.csv"], **HOW)
    with pytest.raises(WrongType, match="A log is a file"):
        audit(3, **HOW)


def test_mixed_types_in_a_frame_say_so():
    with pytest.raises(BadInput, match="Reading the frame failed"):
        audit(pd.DataFrame({"phi_a": [1, "x"], "yhat": [0, 1]}), **HOW)


def test_infinite_numbers_and_too_large_ones_are_refused():
    frame = FRAME.assign(phi_a=np.where(FRAME.phi_a > 1, np.inf, FRAME.phi_a))
    with pytest.raises(BadInput, match="'phi_a' holds an infinite number"):
        audit(frame, **HOW, nulls="drop")
    with pytest.raises(BadInput, match="have no 10 decimals to keep"):
        audit(FRAME.assign(phi_a=1e300), **HOW, discretizer=fs.Floor(10))
    with pytest.raises(BadInput, match="integers beyond"):
        audit(FRAME.assign(phi_a=2**60), **HOW)
    with pytest.raises(BadInput, match="integers beyond"):
        audit(FRAME.assign(phi_a=2**53 + 1), **HOW, discretizer=fs.Rank())
    with pytest.raises(BadInput, match="'phi_a' holds an infinite number"):
        audit(frame, **HOW, nulls="drop", discretizer=fs.Rank())
    with pytest.raises(BadInput, match="have no 10 decimals to keep"):
        audit(FRAME.assign(phi_a=1e300), **HOW, discretizer=fs.Floor(10) | fs.Rank())
    with pytest.raises(BadInput, match="lists of 2 numbers in 1 rows, but of 1 in 1"):
        audit(pd.DataFrame({"phi": [[1.0], [1.0, 2.0]], "yhat": [0, 1]}), prediction="yhat", explanation="phi")


def test_no_rows_and_no_rows_left_are_errors():
    with pytest.raises(BadInput, match="no rows"):
        audit(FRAME[:0], **HOW)
    holes = pd.DataFrame({"phi_a": [None, 1.0], "yhat": [1, None]})
    with pytest.raises(BadInput, match="No row is left"):
        audit(holes, **HOW, nulls="drop")


@pytest.mark.engine
@pytest.mark.slow
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
    with pytest.raises(BadInput, match="no table 'lgo'"):
        audit("lgo", connect=server.url(), **HOW)
    with pytest.raises(BadInput, match="looks like postgres://"):
        audit("log", connect="nonsense", **HOW)


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
@pytest.mark.slow
def test_no_message_repeats_a_password_however_the_address_is_mistyped(address):
    for ask in (
        lambda: audit("log", connect=address, **HOW),
        lambda: audit(address, **HOW),
        lambda: audit(FRAME.assign(day=FRAME.day), **HOW, time="day", reference=address),
    ):
        with pytest.raises(FaithscopeError) as caught:
            ask()
        assert "hunter2" not in str(caught.value)
        assert "ter2" not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_duckdb_file_is_only_ever_opened_to_be_read(tmp_path):
    file = tmp_path / "own.duckdb"
    with duckdb.connect(str(file)) as own:
        own.register("frame", pa.Table.from_pandas(FRAME.drop(columns="nothing")))
        own.execute("CREATE TABLE log AS SELECT * FROM frame")
    for option in ("access_mode=read_write", "ACCESS_MODE=automatic", "read_only=False"):
        with pytest.raises(BadInput, match="to read only: leave access_mode out"):
            audit("log", connect=f"duckdb://{file}?{option}", **HOW)
    source = open_source("log", f"duckdb://{file}?threads=1")
    assert audit(source, **HOW).consistency.value == pytest.approx(EXPECTED.value)
    with pytest.raises(duckdb.Error, match="read-only"):
        source.table.get_backend().raw_sql("CREATE TABLE t AS SELECT 1")
    with pytest.raises(BadInput, match="There is no DuckDB file"):
        audit("log", connect=f"duckdb://{tmp_path}/none.duckdb", **HOW)
    assert not (tmp_path / "none.duckdb").exists()


@pytest.mark.parametrize("scheme", ["sqlite", "mysql", "snowflake", "md", "file", "bigquery"])
def test_other_databases_are_not_opened_here(scheme, tmp_path):
    with pytest.raises(BadInput, match="Open any other database with Ibis, and pass its table"):
        audit("log", connect=f"{scheme}://{tmp_path}/x.db", **HOW)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_what_spills_to_disk_lies_in_a_folder_of_this_process_that_nobody_else_can_read():
    code = (
        "import os, stat; from faithscope.tables.sources.connections import embedded; "
        "f = embedded().raw_sql(\"SELECT current_setting('temp_directory')\").fetchall()[0][0]; "
        "print(f, oct(stat.S_IMODE(os.stat(f).st_mode)), os.path.isdir(f))"
    )
    lines = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout for _ in range(2)]
    (folder, mode, there), (other, *_) = (line.split() for line in lines)
    assert (mode, there) == ("0o700", "True")
    assert folder != other
    assert not os.path.exists(folder)


def test_a_log_of_our_own_that_lost_a_column_says_which(tmp_path):
    table = to_log(fs.Importances(FRAME[["phi_a", "phi_b"]].to_numpy(), names=["a", "b"]), FRAME.yhat)
    lost = table.column_names[0]
    with pytest.raises(BadInput, match=f"in column '{lost}', which it no longer has"):
        audit(table.drop_columns([lost]))
    with pytest.raises(BadInput, match="no column 'prediction' for prediction"):
        audit(table.drop_columns(["prediction"]))


def test_a_population_and_an_id_are_one_value():
    table = pa.table({"leaf": ["a", "b"], "yhat": [0, 1], "list": [[1], [2]], "record": [{"a": 1}, {"a": 2}]})
    for name in ("list", "record"):
        for role in ("by", "id", "prediction"):
            with pytest.raises(WrongType, match=f"Column '{name}' holds"):
                audit(table, **{"prediction": "yhat", "explanation": "leaf", role: name})


@pytest.mark.slow
def test_an_audit_is_the_same_bytes_at_every_run(tmp_path):
    rng = np.random.default_rng(0)
    log = pd.DataFrame({f"phi_{j}": rng.normal(size=60_000) for j in range(3)})
    log["yhat"], log["region"] = rng.choice(list("abc"), 60_000), rng.choice(list("xyz"), 60_000)
    log["rule"] = rng.choice([f"phi_0 <= {x}" for x in (0.1, 0.3, -0.7, 1.1)], 60_000)
    log.to_parquet(tmp_path / "log.parquet", row_group_size=2_000)
    for how in ({"explanation": "phi_*", "discretizer": fs.Floor(0)}, {"explanation": "rule"}):
        answers = {
            json.dumps(audit(tmp_path / "log.parquet", prediction="yhat", by="region", **how).to_dict())
            for _ in range(4)
        }
        assert len(answers) == 1
