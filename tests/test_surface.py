"""What the package shows of itself, and how it takes paths."""

import inspect
import json
import subprocess
import sys
import warnings
from pathlib import Path

import pandas as pd
import pytest

import faithscope as fs
import faithscope.testing
from faithscope.cli.evaluate import read_rows
from faithscope.datasets import cache_folder
from faithscope.evaluation.cache import Cache
from faithscope.integrations import sklearn
from faithscope.tables.source import open_source
from listed import names


def test_everything_public_is_listed_before_it_is_used():
    code = "import faithscope, json; print(json.dumps([dir(faithscope), faithscope.__all__]))"
    listed, public = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert set(public) <= set(listed)
    assert {"audit", "explainers", "__version__"} <= set(listed)


def test_the_top_has_sixty_names_and_what_it_does_not_list_is_listed_one_level_down():
    assert len(fs.__all__) <= 60
    rooms = (fs, fs.results, fs.measures, fs.discretizers, fs.relations, fs.populations, fs.agreements)
    assert set(names(fs)) <= {name for room in rooms for name in room.__all__}
    for room in (fs.results, fs.measures):
        assert all(getattr(room, name) is getattr(fs, name) for name in room.__all__)
        assert dir(room) == sorted(room.__all__)
        with pytest.raises(AttributeError, match="has no attribute 'nobody'"):
            room.nobody  # noqa: B018


HEAVY = [
    "pandas",
    "pyarrow",
    "ibis",
    "duckdb",
    "altair",
    "rich",
    "jinja2",
    "sklearn",
    "torch",
    "scipy.stats",
    "scipy.optimize",
]
ROOMS = [
    "charts",
    "cli",
    *("explainers.lime", "explainers.shap", "explainers.space"),
    "monitor",
    "readers.rationales",
    "report.summary",
    "tables",
    "testing",
]


def test_a_name_loads_what_it_needs_when_it_is_first_used():
    for used, absent in [
        ("fs.__version__", ["numpy", "scipy", "faithscope.inputs"]),
        ("fs.Importances([[1.0, 2.0]])", ["scipy", "faithscope.measures", "faithscope.evaluation"]),
        ("fs.evaluate([0, 0, 1], [1, 1, 2], [[1], [2], [3]])", [*HEAVY, *(f"faithscope.{room}" for room in ROOMS)]),
    ]:
        code = f"import faithscope as fs, sys; {used}; print(*(name for name in {absent} if name in sys.modules))"
        assert (
            subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
            == []
        )


def test_every_public_name_has_an_example():
    for room in [fs, fs.explainers, fs.testing, sklearn]:
        public = [getattr(room, name) for name in names(room)]
        named = [thing for thing in public if inspect.isclass(thing) or inspect.isfunction(thing)]
        assert named
        assert [thing.__name__ for thing in named if ">>>" not in (thing.__doc__ or "")] == []


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    yield tmp_path / "home"
    assert not Path("~").exists()


@pytest.mark.slow
def test_a_path_that_begins_with_a_tilde_lies_in_the_home_folder(home, monkeypatch):
    ev = fs.evaluate(
        [0, 1, 0, 1], lambda rows: [[1], [2], [1], [2]], pd.DataFrame({"a": [1.0, 2, 3, 4]}), cache="~/kept"
    )
    ev.to_html("~/r.html")
    ev.to_parquet("~/log.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ev.plot().save("~/chart.svg")
        ev.plot().save(Path("~/chart.html"))
    assert {one.name for one in home.iterdir()} == {"r.html", "log.parquet", "chart.svg", "chart.html", "kept"}
    assert len(read_rows(Path("~/log.parquet"))) == 4
    assert fs.audit("~/*.parquet").consistency.n == 4
    assert open_source("~/log.parquet").table.columns
    assert Cache("~/kept").folder == home / "kept"
    monkeypatch.setenv("FAITHSCOPE_CACHE", "~/else")
    assert cache_folder() == home / "else"


def test_a_database_in_the_home_folder_is_found(home):
    import duckdb

    with duckdb.connect(str(home / "w.duckdb")) as made:
        made.sql("CREATE TABLE log AS SELECT 1 AS yhat, 'x' AS why FROM range(5)")
    found = fs.audit("log", connect="duckdb://~/w.duckdb", prediction="yhat", explanation="why")
    assert found.consistency.n == 5
