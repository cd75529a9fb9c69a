"""Data sets that look like the paper's, small and made up, so that every part can run anywhere."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from faithscope import datasets
from faithscope_reproduction.settings import Settings

WORDS = ["good", "great", "fine", "dull", "bad", "slow", "the", "a", "film", "plot", "actor", "scene"]
DEPTHS = ["draw", "zero", "one", "two", "three"]


def _adult():
    people = datasets.adult_sample()
    frame = people.X.assign(label=people.y)[:900]
    frame.loc[1, ["age", "fnlwgt"]] = 38, 89_814  # the record of Figure 2
    return frame


def _numbers(rng, n, names, classes):
    frame = pd.DataFrame(rng.normal(size=(n, len(names))).round(3), columns=names)
    place = np.clip(np.digitize(frame[names[0]] + frame[names[1]], np.linspace(-2, 2, len(classes) - 1)), 0, None)
    return frame.assign(label=np.array(classes)[place])


def _chess(rng, n):
    names = [f"{piece}-{axis}" for piece in ("white-king", "white-rook", "black-king") for axis in ("file", "rank")]
    columns = {name: rng.choice(list("abcdefgh"), n) if "file" in name else rng.integers(1, 9, n) for name in names}
    frame = pd.DataFrame(columns)
    return frame.assign(label=np.array(DEPTHS)[np.minimum(frame["black-king-rank"] // 2, 4)])


def _reviews(rng, n):
    texts = [" ".join(rng.choice(WORDS, rng.integers(4, 9))) + " " for _ in range(n)]
    texts[0] += "é"
    likes = [text.count("good") + text.count("great") >= text.count("bad") + text.count("dull") for text in texts]
    return pd.DataFrame({"text": texts, "label": np.array(likes).astype(int)})


def pytest_collection_modifyitems(items):
    """All but the frame and the printed numbers belong to the second tier."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("slow")
            item.add_marker(pytest.mark.filterwarnings("ignore:.*does not hold the rows of"))
            item.add_marker(pytest.mark.filterwarnings("ignore:interval='jackknife' is an old word"))
            if item.path.stem not in ("test_frame", "test_printed", "test_workers"):
                item.add_marker("thorough")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with a small data set for each of the paper's."""
    path, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    frames = {
        "heart": _numbers(rng, 150, [f"h{j}" for j in range(6)], [0, 1]),
        "chess": _chess(rng, 900),
        "avila": _numbers(rng, 600, [f"a{j}" for j in range(5)], ["A", "B", "C"]),
        "bank": _numbers(rng, 600, [f"b{j}" for j in range(5)], ["no", "yes"]),
        "adult": _adult(),
        "covtype": _numbers(rng, 900, [f"c{j}" for j in range(8)], [1, 2, 3]),
        "rt_polarity": _reviews(rng, 400),
    }
    assert set(frames) == set(datasets.PAPER)
    for name, frame in frames.items():
        frame.to_parquet(path / f"{name}.parquet", index=False)
    return path


@pytest.fixture(scope="session")
def settings(folder, tmp_path_factory):
    """A quick run on the small data sets, whose models and explanations are kept from test to test."""
    return Settings(folder, cache=tmp_path_factory.mktemp("kept"), quick=True, progress=False)


@pytest.fixture
def fresh(settings, tmp_path):
    """The same with a cache of its own."""
    return replace(settings, cache=tmp_path / "cache")


@pytest.fixture(scope="session")
def real_folder():
    """The real data sets; tests that need them are skipped where no folder is named."""
    chosen = os.environ.get("FAITHSCOPE_DATA")
    if not chosen or not Path(chosen).is_dir():
        pytest.skip("FAITHSCOPE_DATA names no folder of data sets")
    return Path(chosen)
