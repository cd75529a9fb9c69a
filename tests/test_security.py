"""Data is never run: what SECURITY.md promises, in tests."""

import ast
import os
from pathlib import Path

import duckdb
import ibis
import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs

SOURCE = Path(fs.__file__).parent
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml"}
FUNCTIONS = {"eval", "exec", "compile", "__import__"}
METHODS = {"system", "popen", "extractall", "mktemp"}
HOSTILE = ['a"; DROP TABLE t; --', "b' OR '1'='1", "c`d", "e;\x00f", "g\\", "../../h", "<script>i</script>"]


def called(tree):
    """Dangerous functions that are called by their bare name, and dangerous methods of anything."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from {getattr(node.func, "id", "")} & FUNCTIONS
            yield from {getattr(node.func, "attr", "")} & METHODS


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name.split(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
@pytest.mark.slow
def test_nothing_in_the_package_can_run_what_it_read(path):
    tree = ast.parse(path.read_text())
    assert not MODULES & set(imports(tree))
    assert not set(called(tree))


def hostile_log():
    rng = default_rng(0)
    names = [name for name in HOSTILE if "\x00" not in name]
    log = pd.DataFrame({name: rng.choice(HOSTILE[:3], 200) for name in names})
    log["y'; DROP TABLE t; --"] = rng.choice(HOSTILE[:2], 200)
    return log


def test_an_audit_of_hostile_names_and_values_gives_the_answer_of_plain_ones_and_changes_nothing(tmp_path):
    log = hostile_log()
    plain = log.apply(lambda column: column.astype("category").cat.codes)
    wanted = fs.consistency(plain.iloc[:, :2].to_numpy(), plain.iloc[:, -1].to_numpy())
    with duckdb.connect(str(tmp_path / "w.duckdb")) as base:
        base.sql("CREATE TABLE t AS SELECT * FROM log")
        before = base.sql("SELECT * FROM t").fetchall()
    base = ibis.duckdb.connect(tmp_path / "w.duckdb")
    found = fs.audit(base.table("t"), prediction=log.columns[-1], explanation=list(log.columns[:2]), kind="keys")
    assert found.consistency.value == pytest.approx(wanted.value)
    assert [tuple(row) for row in base.table("t").to_pandas().to_numpy()] == before


def test_a_name_cannot_lead_out_of_the_cache(tmp_path):
    cache = tmp_path / "deep" / "cache"
    X = np.arange(40.0).reshape(20, 2)
    found = {name: fs.explainers.Random(3) for name in ("../../evil", "/tmp/evil", "a\\..\\b", "nul\x00")}
    fs.compare(lambda rows: rows[:, 0] > 9, found, X, cache=cache)
    written = [Path(folder) / name for folder, _, names in os.walk(tmp_path) for name in names]
    assert written
    assert all(cache in one.parents for one in written)


def test_a_database_that_is_handed_over_reads_no_other_file_and_no_variable(tmp_path):
    secret, log, state = tmp_path / "secret.txt", tmp_path / "log.duckdb", tmp_path / "state.duckdb"
    secret.write_text("hunter2")
    read = f"(SELECT content FROM read_text('{secret}'))"
    password_of_the_caller = pd.DataFrame({"password": ["hunter2"]})  # noqa: F841  # DuckDB reads variables too
    with duckdb.connect(str(log)) as hostile:
        hostile.execute("CREATE TABLE rows AS SELECT range % 2 AS yhat, range % 3 AS leaf FROM range(30)")
        hostile.execute(f"CREATE VIEW text AS SELECT *, {read} AS words FROM rows")
        hostile.execute(f"CREATE VIEW listed AS SELECT *, (SELECT max(file) FROM glob('{tmp_path}/*')) words FROM rows")
        hostile.execute("CREATE VIEW variable AS SELECT *, password AS words FROM rows, password_of_the_caller")
        hostile.execute(f"CREATE MACRO lower(x) AS {read}")
    for view in ("text", "listed", "variable"):
        with pytest.raises(fs.errors.BadInput) as caught:
            fs.audit(view, connect=f"duckdb://{log}", prediction="yhat", explanation="leaf", kind="keys")
        assert "hunter2" not in str(caught.value)
    assert fs.audit("rows", connect=f"duckdb://{log}", prediction="yhat", explanation="leaf", kind="keys").consistency
    fs.Monitor(state, by="g").add(np.ones((4, 1)), [0, 1, 0, 1], by=["a", "a", "b", "b"])
    with duckdb.connect(str(state)) as hostile:
        hostile.execute("ALTER TABLE names RENAME TO known")
        hostile.execute(f"CREATE VIEW names AS SELECT what, code, {read} AS canonical, {read} AS shown FROM known")
    with pytest.raises(fs.errors.BadInput, match="cannot be read or written as the state") as caught:
        fs.Monitor(state).limits()
    assert "hunter2" not in str(caught.value)
