"""The file of a monitor: digests that are kept for years, lines of those who wait, and who has it open."""

import multiprocessing
import subprocess
import sys
import threading
from unittest.mock import Mock

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError
from faithscope.monitor import store
from faithscope.monitor.canonical import explanation_digests
from fuzz.outcomes import injected, one_sentence
from refused import refused

HELD = [(11417504794986382825, 13950148388042803184), (5960927048446646401, 8533291977251472832)]
VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e308, np.nan])


def keys(rows):
    values = np.array(rows, float)  # with NaN, as a log has it with nulls="key"
    digests = explanation_digests(fs.Importances(np.zeros_like(values))._with(values=values))
    return list(zip(digests.high.tolist(), digests.low.tolist(), strict=True))


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=2, max_size=20))
def test_rows_of_numbers_have_equal_digests_if_and_only_if_they_are_equal(rows):
    told = [tuple("nan" if np.isnan(value) else value + 0.0 for value in row) for row in rows]
    digests = keys(rows)
    for i in range(len(rows)):
        assert [digest == digests[i] for digest in digests] == [row == told[i] for row in told]


def test_signs_of_many_features_have_digests_of_their_own_in_both_words():
    rows = np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 11)).reshape(11, -1).T
    digests = explanation_digests(fs.Importances(rows))
    assert len(np.unique(digests.high)) == len(np.unique(digests.low)) == len(rows) == 3**11
    for word in digests:  # of 177,147 words each bit is set in about one half
        bits = (word[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.01


def test_digests_of_numbers_are_those_that_files_hold():
    assert keys([[1.0, -1.0], [0.0, 0.5]]) == HELD


def add_days(monitor, days=12):
    rng = default_rng(0)
    for day in range(days):
        leaf = rng.zipf(1.3, 200) % 500
        labels = (leaf + (rng.random(200) < 0.2)) % 2
        monitor.add(leaf, labels, when=np.datetime64("2026-01-01") + day, batch=f"day {day}")
    return monitor


def test_a_file_that_this_process_has_open_is_refused_and_taken_once_it_is_closed(tmp_path):
    monitor = add_days(fs.Monitor(tmp_path / "it's.duckdb"), 1)
    with duckdb.connect(str(tmp_path / "it's.duckdb")), pytest.raises(BadInput, match="close it first"):
        monitor.single_look()
    assert monitor.single_look().n == 200


def test_a_failure_inside_leaves_the_file_as_it_was_and_free(tmp_path):
    monitor = add_days(fs.Monitor(tmp_path / "state.duckdb"), 1)

    def fail():
        with monitor._store.transaction(write=True) as connection:
            connection.execute("DELETE FROM cells")
            connection.execute("SELECT nonsense")

    refused(BadInput, "nonsense", fail)
    assert monitor.single_look().n == 200
    with duckdb.connect(str(tmp_path / "state.duckdb")) as held:
        assert held.execute("SELECT sum(given) FROM cells").fetchall() == [(200,)]


def cut(content, place):
    return content[:place]


def erased(content, place):
    return content[:place] + b"\0" * (len(content) - place)


def scribbled(content, place):
    return content[:place] + bytes(range(256)) + content[place + 256 :]


def refusals(path, monkeypatch):
    """How many questions to a state are refused, each in a sentence that says what to do; none waits."""
    monkeypatch.setattr(store.time, "sleep", lambda _: pytest.fail("waits for another process that there is not"))
    messages = []
    for ask in (str, fs.Monitor.table, lambda monitor: monitor.add(["a"], [1], when="2026-01-20", batch="new")):
        try:
            ask(fs.Monitor(path))
        except FaithscopeError as error:
            messages.append(str(error))
    for message in messages:
        one_sentence(message)
        assert "another" in message
    return len(messages)


@pytest.mark.parametrize("damage", [cut, erased, scribbled])
def test_a_damaged_file_is_refused_in_a_sentence_at_once(tmp_path, monkeypatch, damage):
    path = tmp_path / "state.duckdb"
    add_days(fs.Monitor(path), 2)
    content, refused = path.read_bytes(), 0
    for place in (40, 9000, 12_300, len(content) // 2):
        path.write_bytes(damage(content, place))
        (tmp_path / "state.duckdb.wal").unlink(missing_ok=True)
        refused += refusals(path, monkeypatch)
        injected("a state that is damaged")
    assert refused > 3


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE pairs",
        "ALTER TABLE pairs DROP COLUMN matched",
        "DELETE FROM settings WHERE name = 'by'",
        "DELETE FROM settings WHERE name = 'version'",
        "UPDATE settings SET value = 'x' WHERE name = 'by'",
        "UPDATE settings SET value = 'x' WHERE name = 'version'",
        "UPDATE settings SET value = 'x' WHERE name = 'seed'",
    ],
)
def test_a_state_that_another_program_changed_is_refused_in_a_sentence(tmp_path, monkeypatch, change):
    path = tmp_path / "state.duckdb"
    add_days(fs.Monitor(path), 1)
    with duckdb.connect(str(path)) as held:
        held.execute(change)
    assert refusals(path, monkeypatch)


def test_threads_add_at_once(tmp_path):
    def add(turn):
        fs.Monitor(tmp_path / "state.duckdb").add(["a", "b"], [1, 0], when="2026-01-01", batch=f"thread {turn}")

    threads = [threading.Thread(target=add, args=(turn,)) for turn in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert fs.Monitor(tmp_path / "state.duckdb").single_look().n == 12


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_adds_too(tmp_path):
    monitor = add_days(fs.Monitor(tmp_path / "state.duckdb"), 1)
    forked = multiprocessing.get_context("fork").Process(target=monitor.add, args=(["a"], [1]), kwargs={"batch": "b"})
    forked.start()
    forked.join(120)
    assert forked.exitcode == 0
    assert monitor.single_look().n == 201


def test_a_state_that_another_process_reads_is_read_at_once_and_needs_no_right_to_write(tmp_path, monkeypatch):
    path = tmp_path / "state.duckdb"
    add_days(fs.Monitor(path), 2)
    monkeypatch.setattr(store, "_PATIENCE", 0.0)
    reader = f"import duckdb; c = duckdb.connect({str(path)!r}, read_only=True); print(1, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", reader], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        monitor = fs.Monitor(path)
        assert monitor.limits().n == 400
        assert len(monitor.table()) == 2
        refused(BadInput, "open in another process", monitor.add, ["a", "a"], [1, 1], when="2026-02-01")
        other.communicate(b"\n")
    monitor.add(["a", "a"], [1, 1], when="2026-02-01")
    assert monitor.limits().n == 402


def test_a_save_that_fails_halfway_leaves_no_file_and_a_state_is_never_replaced(tmp_path, monkeypatch):
    monitor, path = add_days(fs.Monitor(), 2), tmp_path / "state.duckdb"

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(store, "registered", killed)
        with pytest.raises(KeyboardInterrupt):
            monitor.save(path)
    assert list(tmp_path.iterdir()) == []
    monitor.save(path)
    assert fs.Monitor(path).limits() == monitor.limits()
    with monkeypatch.context() as linkless:  # a file system without hard links
        linkless.setattr(store.os, "link", Mock(side_effect=OSError))
        with pytest.raises(BadInput, match="exists already"):
            fs.Monitor().save(path)
        fs.Monitor().save(tmp_path / "other.duckdb")
    assert fs.Monitor(path).limits().n == 400
    assert fs.Monitor(tmp_path / "other.duckdb").limits().n == 0
