"""Downloads that are killed, or that fill the disk, leave nothing behind; a damaged copy is fetched again."""

import io
import zipfile

import pytest
from numpy.random import default_rng

from faithscope import datasets
from faithscope.datasets import catalog
from faithscope.errors import BadInput
from faults.children import disk_full, killed_once
from faults.serving import served
from fuzz.outcomes import injected, one_sentence


def archive():
    rows = default_rng(0).integers(1, 9, (4000, 3))
    lines = "".join(f"a,{a},b,{b},c,{c},draw\n" for a, b, c in rows)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as opened:
        opened.writestr("krkopt.data", lines)
    return held.getvalue()


@pytest.fixture
def server(monkeypatch, tmp_path):
    with served(monkeypatch, tmp_path) as server:
        server.content, server.pause = archive(), 0.002
        server.stands_for("chess", content=catalog.content_of(catalog.CATALOG["chess"].parse(server.content)))
        yield server


def test_a_download_that_is_killed_leaves_nothing_behind(server, tmp_path):
    cut = sum(killed_once(lambda: datasets.load("chess"), lambda: bool(server.paths)) for _ in range(2))
    assert cut
    assert not (tmp_path / "datasets").exists()
    assert datasets.load("chess").X.shape == (4000, 6)
    assert [path.name for path in (tmp_path / "datasets").iterdir()] == ["chess.parquet"]
    for _ in range(cut):
        injected("killed in the middle of a download")


@pytest.mark.parametrize("room", [0, 1, 1000])
def test_a_download_that_fills_the_disk_is_told(server, room):
    with disk_full(room), pytest.raises(BadInput) as caught:
        datasets.load("chess")
    one_sentence(str(caught.value))
    assert "No space left on device" in str(caught.value)
    assert len(datasets.load("chess").y) == 4000
    injected("disk full in the middle of a download")


@pytest.mark.parametrize("damage", [lambda content: content[:500], lambda content: b"", lambda content: b"x" * 5000])
def test_a_damaged_copy_is_fetched_again(server, tmp_path, damage):
    datasets.load("chess")
    kept = tmp_path / "datasets" / "chess.parquet"
    kept.write_bytes(damage(kept.read_bytes()))
    with pytest.warns(UserWarning, match="downloaded again"):
        assert len(datasets.load("chess").y) == 4000
    assert len(server.paths) == 2
    injected("a damaged copy of a data set")
