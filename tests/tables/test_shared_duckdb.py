"""The DuckDB that a process keeps for logs that are read at once: nothing of one log is left for the next."""

import os
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from child import python
from faithscope.tables import connections

HOW = {"prediction": "yhat", "explanation": "reason"}
TEMPLATE = {"kind": "reasons", "discretizer": fs.Template(labels=["yes", "no"]), "inputs": "text"}


def frame(n=60, seed=0):
    rng = default_rng(seed)
    reasons = rng.choice(["income too low", "too many loans", "short history"], n)
    return pd.DataFrame({"reason": reasons, "yhat": rng.choice(["no", "yes"], n), "text": "a letter"})


def write(table, path):
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_parquet(path)
    return path


def added(path, **how):
    monitor = fs.Monitor()
    monitor.add_log(path, **HOW, when="2026-01-01", batch="all", **how)
    return monitor.single_look()


def expected(table):
    return fs.consistency(table["reason"].tolist(), table["yhat"].to_numpy())


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
@pytest.mark.parametrize("how", [{}, TEMPLATE], ids=["in SQL", "streamed"])
def test_nothing_is_left_of_a_log(tmp_path, suffix, how):
    table = frame()
    assert added(write(table, tmp_path / f"log{suffix}"), **how).value == pytest.approx(expected(table).value)
    kept = connections.shared().con
    assert kept.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]
    assert kept.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchall() == [(0,)]


def test_a_file_that_was_rewritten_within_the_same_moment_is_read_again(tmp_path):
    path, first, second = tmp_path / "log.parquet", frame(), frame(seed=1)
    write(first, path)
    moment = os.stat(path).st_mtime_ns
    assert added(path).value == pytest.approx(expected(first).value)
    write(second, path)
    os.utime(path, ns=(moment, moment))
    assert added(path).value == pytest.approx(expected(second).value)
    assert expected(first).value != pytest.approx(expected(second).value)


def test_a_duckdb_that_no_longer_answers_is_replaced(tmp_path):
    table = frame()
    path = write(table, tmp_path / "log.parquet")
    connections.shared()
    connections._kept[os.getpid()].con.close()
    assert added(path).value == pytest.approx(expected(table).value)


def test_threads_read_logs_of_their_own(tmp_path):
    tables = [frame(seed=seed) for seed in range(6)]
    paths = [write(table, tmp_path / f"{place}.parquet") for place, table in enumerate(tables)]
    with ThreadPoolExecutor(4) as pool:
        found = [estimate.value for estimate in pool.map(added, paths)]
    assert found == pytest.approx([expected(table).value for table in tables])


FORKS = """
import os, signal, sys
import faithscope as fs

def added():
    monitor = fs.Monitor()
    monitor.add_log(sys.argv[1], prediction="yhat", explanation="reason", when="2026-01-01", batch="all")
    return monitor.single_look().value

before, child = added(), os.fork()
if child:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
signal.alarm(60)  # a fork that hangs is one that failed
os._exit(0 if added() == before else 3)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_process_that_was_forked_begins_its_own(tmp_path):
    path = write(frame(), tmp_path / "log.parquet")
    assert python(FORKS, str(path), check=False).returncode == 0


def test_the_memory_that_is_free_now_is_the_limit(monkeypatch):
    for room, told in ((2**30, "819.0 MiB"), (2**31, "1.5 GiB")):
        monkeypatch.setattr(connections, "available", lambda room=room: room)
        assert connections.shared().con.execute("SELECT current_setting('memory_limit')").fetchall() == [(told,)]


def test_a_log_that_holds_more_than_is_free_now_does_not_keep_others_from_being_read(monkeypatch):
    connections.shared()
    kept = connections._kept[os.getpid()]
    answer = kept.raw_sql

    def full(query):
        if query.startswith("SET memory_limit"):
            raise duckdb.OutOfMemoryException("Failed to change memory limit: could not free up enough memory")
        return answer(query)

    monkeypatch.setattr(kept, "raw_sql", full)
    assert connections.shared().con.execute("SELECT 1").fetchall() == [(1,)]
