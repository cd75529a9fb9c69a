"""Damaged, exchanged, unreadable and shared files: never trusted, computed again, and always the same answer."""

import os
import tempfile
import warnings
from pathlib import Path

import pytest
from numpy.random import default_rng

from faults.children import child, ended_well, evaluate, expected, same
from fuzz.outcomes import injected


def flipped(content, rng):
    place = int(rng.integers(len(content)))
    return content[:place] + bytes([content[place] ^ (1 << int(rng.integers(8)))]) + content[place + 1 :]


def cut(content, rng):
    return content[: int(rng.integers(len(content)))]


def grown(content, rng):
    return content + rng.bytes(int(rng.integers(1, 100)))


def erased(content, rng):
    start = int(rng.integers(len(content)))
    return content[:start] + b"\0" * (len(content) - start)


DAMAGES = {"one bit flipped": flipped, "cut short": cut, "grown": grown, "its end erased": erased}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_cache_damaged_anywhere_is_computed_again_and_not_trusted(tmp_path, damage):
    rng, wanted = default_rng(3), expected()
    evaluate(tmp_path)
    for _ in range(15):
        files = sorted(tmp_path.iterdir())
        victim = files[int(rng.integers(len(files)))]
        victim.write_bytes(DAMAGES[damage](victim.read_bytes(), rng))
        with pytest.warns(UserWarning, match="ignored"):
            assert same(evaluate(tmp_path), wanted)
        injected(f"a cache file {damage}")


def test_files_that_exchanged_their_names_are_not_trusted(tmp_path):
    evaluate(tmp_path)
    first, second, *_ = sorted(tmp_path.glob("explanations-*"))
    first_content, second_content = first.read_bytes(), second.read_bytes()
    first.write_bytes(second_content)
    second.write_bytes(first_content)
    with pytest.warns(UserWarning, match="does not hold what its name says"):
        assert same(evaluate(tmp_path), expected())
    injected("two cache files exchanged")


def test_leftovers_of_killed_runs_are_never_read(tmp_path):
    evaluate(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        path.rename(path.with_name(f".{path.name}.part"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(evaluate(tmp_path), expected())
    injected("leftovers of a killed run in the folder")


def as_nobody(work):
    """Do some work in a child without root's rights; whether it succeeded."""

    def humbly():
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        work()

    return ended_well(child(humbly))


@pytest.fixture
def shared():
    """A folder that everybody may look into."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def test_cache_files_that_may_not_be_read_are_computed_again(shared):
    wanted = expected()
    evaluate(shared)
    victims = sorted(shared.iterdir())[:3]
    for path in victims:
        path.chmod(0)

    def work():
        with pytest.warns(UserWarning, match="cannot be read"):
            assert same(evaluate(shared), wanted)

    assert as_nobody(work)
    for _ in victims:
        injected("cache files that may not be read")


def test_logs_rows_and_folders_that_may_not_be_read_are_one_sentence(shared):
    import faithscope as fs
    from faithscope.cli.evaluate import read_rows
    from faithscope.errors import BadInput

    ev = expected()
    ev.to_parquet(shared / "log.parquet")
    (shared / "rows.csv").write_text("a,b\n1,2\n")
    fs.audit(shared / "log.parquet")  # what is imported on first use may lie where only root may read
    read_rows(shared / "rows.csv")
    ev.to_html(os.devnull)
    (shared / "closed").mkdir()
    for path in shared.iterdir():
        path.chmod(0)

    def work():
        for read in (
            lambda: fs.audit(shared / "log.parquet"),
            lambda: read_rows(shared / "rows.csv"),
            lambda: evaluate(shared / "closed"),
            lambda: ev.to_html(shared / "closed" / "report.html"),
            lambda: ev.to_parquet(shared / "closed" / "log.parquet"),
        ):
            with pytest.raises(BadInput):
                read()

    try:
        assert as_nobody(work)
    finally:
        for path in shared.iterdir():
            path.chmod(0o700)
    for _ in range(5):
        injected("files and folders that may not be read or written")
