"""A full disk: one sentence, nothing half written is left, what was there stays, and the next run goes on."""

import errno
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import faithscope as fs
from child import python
from faithscope.cli import app
from faithscope.errors import BadInput
from faults.children import disk_full, evaluate, everything, expected, failing, same
from fuzz.outcomes import injected, one_sentence

WHY = {"no space": errno.ENOSPC, "over quota": errno.EDQUOT, "input/output error": errno.EIO, "read only": errno.EROFS}
STAGES = {"flushing": (os, "fsync"), "moving into place": (os, "replace"), "making the folder": (Path, "mkdir")}
WRITERS = {
    "report": ("report.html", lambda ev, path: ev.to_html(path)),
    "log": ("log.parquet", lambda ev, path: ev.to_parquet(path)),
}


def refused(work):
    with pytest.raises(BadInput) as caught:
        work()
    one_sentence(str(caught.value))
    return str(caught.value)


def test_a_full_disk_loses_no_part_that_was_kept_and_keeps_no_half(tmp_path):
    evaluate(tmp_path)
    largest = max(map(len, everything(tmp_path).values()))
    for share in (0, 0.001, 0.3, 0.9, 0.999):
        for path in tmp_path.iterdir():
            path.unlink()
        with disk_full(int(share * largest)):
            message = refused(lambda: evaluate(tmp_path))
        assert "No space left on device" in message
        kept = everything(tmp_path)
        assert not [name for name in kept if name.endswith(".part")]
        assert same(evaluate(tmp_path), expected())
        assert kept.items() <= everything(tmp_path).items()
        injected("disk full while the cache is written")


@pytest.mark.parametrize("stage", STAGES)
def test_a_cache_that_cannot_be_written_says_so_and_goes_on_later(tmp_path, stage):
    for why, number in WHY.items():
        folder = tmp_path / why
        with failing(*STAGES[stage], number):
            assert os.strerror(number) in refused(lambda folder=folder: evaluate(folder / "cache"))
        assert everything(tmp_path) == {}
        assert same(evaluate(folder / "cache"), expected())
        shutil.rmtree(folder)
        injected("a system call fails while the cache is written")


ROOMS = [0, 1, 500, 2000]


@pytest.mark.parametrize(
    ("kind", "rooms"),
    [("log", ROOMS), ("report", ROOMS[2:2]), pytest.param("report", ROOMS, marks=pytest.mark.thorough)],
)
def test_a_file_that_does_not_fit_or_cannot_be_finished_leaves_what_was_there(tmp_path, kind, rooms):
    (name, write), ev = WRITERS[kind], expected()
    path = tmp_path / name
    faults = [*map(disk_full, rooms), *(failing(*stage) for stage in STAGES.values())]
    for before in ({}, {name: b"what was there"}):
        for fault in map(disk_full, rooms) if not before else faults:
            with fault:
                refused(lambda: write(ev, path))
            assert everything(tmp_path) == before
            injected("disk full or a system call fails while a report or a log is written")
        path.write_bytes(b"what was there")


@pytest.mark.parametrize("kind", WRITERS)
def test_a_device_is_written_to_and_never_replaced(kind):
    full, ev = Path("/dev/full"), expected()
    if not full.is_char_device():
        pytest.skip("this system has no /dev/full")
    refused(lambda: WRITERS[kind][1](ev, full))
    WRITERS[kind][1](ev, Path("/dev/null"))
    assert full.is_char_device()
    assert Path("/dev/null").is_char_device()
    injected("the device that is always full")


LIMITED = """
import resource, sys
from pathlib import Path
from faults.children import evaluate, everything, expected, same
from faithscope.errors import BadInput
import faithscope as fs

whole = expected()
for number, room in enumerate(map(int, sys.argv[2:])):
    folder = Path(sys.argv[1]) / str(number)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    try:
        for write, where in ((evaluate, folder), (whole.to_html, folder / "r.html"), (whole.to_parquet, folder / "l")):
            try:
                write(where)
            except BadInput as error:
                assert "File too large" in str(error), error
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    left = everything(folder) if folder.exists() else {}
    assert not [name for name in left if name.startswith(".") or len(left[name]) > room], list(left)
    assert same(evaluate(folder), whole)
    print("survived", room, flush=True)
"""


@pytest.mark.thorough
def test_a_limit_on_the_size_of_files_is_survived(tmp_path):
    rooms = ["0", "1", "64", "1000", "2000", "3000"]
    done = python(LIMITED, str(tmp_path), *rooms, cwd=Path(__file__).parents[1])
    assert done.stdout.count("survived") == len(rooms)
    for _ in rooms:
        injected("a real limit on the size of files (RLIMIT_FSIZE)")


def test_a_real_full_file_system_is_survived():
    folder = Path(tempfile.mkdtemp())
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        refused(lambda: evaluate(folder))
        refused(lambda: expected().to_html(folder / "report.html"))
        assert not [name for name in everything(folder) if name.endswith((".part", ".html"))]
        for path in folder.iterdir():
            path.unlink()
        assert fs.evaluate([0, 1], ["a", "b"], [[0], [1]], progress=False).consistency.n == 2
        injected("a real file system that is full")
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def largest_file(size):
    """No file may be written beyond so many bytes, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("share", [0, 0.01, 0.03, 0.3, 0.9, 0.999])
def test_a_state_that_could_not_be_begun_is_begun_once_there_is_space(tmp_path, share):
    whole = tmp_path / "whole.duckdb"
    fs.Monitor(whole)
    with largest_file(int(share * whole.stat().st_size)):
        assert "make space" in refused(lambda: fs.Monitor(tmp_path / "state.duckdb"))
    assert [path.name for path in tmp_path.iterdir()] == ["whole.duckdb"]
    assert fs.Monitor(tmp_path / "state.duckdb").add(["a"], [1], when="2026-01-01").counted
    injected("disk full while a state is begun")


@pytest.mark.parametrize("many", [10, 20_000])  # of which few are committed beside the file, which then does not grow
def test_a_batch_that_does_not_fit_is_told_and_counts_once_as_soon_as_there_is_space(tmp_path, many):
    path = tmp_path / "state.duckdb"
    monitor = fs.Monitor(path)
    monitor.add(np.arange(5000), np.arange(5000) % 2, when="2026-01-01", batch="first")
    rows = np.arange(many), np.arange(many) % 2
    with largest_file(path.stat().st_size // 10):
        message = refused(lambda: monitor.add(*rows, when="2026-01-02", batch="second"))
        assert "make space" in message
        assert "keeping state.duckdb.wal" in message
        line = ["monitor", "report", "--state", str(path)]
        assert CliRunner().invoke(app, line).exit_code == 0  # whoever only reads is not held up
    monitor.add(*rows, when="2026-01-02", batch="second")
    assert fs.Monitor(path).limits().n == 5000 + many
    assert [path.name for path in tmp_path.iterdir()] == ["state.duckdb"]
    injected("disk full while a batch is added")
