"""What is written is not opened to others by being written."""

import os
import stat
from pathlib import Path

import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.runtime.files import write_atomically
from refused import refused


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture(autouse=True)
def _open_mask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def evaluated(**more):
    X = default_rng(0).normal(size=(30, 2))
    return fs.evaluate(lambda rows: rows[:, 0] > 0, fs.explainers.Random(3), X, **more)


@pytest.mark.slow
def test_reports_logs_and_caches_may_be_read_by_their_owner_alone(tmp_path):
    found = evaluated(cache=tmp_path / "cache")
    found.to_html(tmp_path / "report.html")
    found.to_parquet(tmp_path / "log.parquet")
    fs.audit(tmp_path / "log.parquet").to_html(tmp_path / "audit.html")
    files = [*tmp_path.glob("*.*"), *(tmp_path / "cache").iterdir()]
    assert len(files) >= 5
    assert {mode(file) for file in files} == {0o600}


@pytest.mark.parametrize("wanted", [0o644, 0o640, 0o600, 0o664])
def test_what_replaces_a_file_keeps_its_mode(tmp_path, wanted):
    report = tmp_path / "report.html"
    report.write_text("what was there")
    report.chmod(wanted)
    evaluated().to_html(report)
    assert mode(report) == wanted
    assert "what was there" not in report.read_text()


def test_what_replaces_a_file_is_never_more_open_than_that(tmp_path, monkeypatch):
    begun, touch = [], Path.touch
    monkeypatch.setattr(
        Path, "touch", lambda path, *args, **known: (touch(path, *args, **known), begun.append(mode(path)))
    )
    report = tmp_path / "table.md"
    write_atomically(report, b"text")
    report.chmod(0o600)
    write_atomically(report, b"rows")
    assert begun == [0o644, 0o600]


def test_what_holds_no_rows_is_written_as_the_process_writes(tmp_path):
    write_atomically(tmp_path / "table.md", b"text")
    assert mode(tmp_path / "table.md") == 0o644


@pytest.mark.parametrize("path", ["x" * 5000, "a/" * 3000, "nul\0", "lone\ud800"])
def test_a_path_that_no_folder_can_have_is_refused_in_a_sentence(path):
    refused(BadInput, "cannot be a folder", evaluated, cache=path)
    refused(BadInput, r"is not the path|cannot be written", evaluated().to_html, path)
