"""Predictions that are numbers on the command line: --agreement names how they are compared."""

import inspect
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import faithscope as fs
from faithscope.cli import app
from faithscope.errors import BadInput

RNG = np.random.default_rng(4)
LEAF = RNG.integers(0, 6, 300)
LOG = pd.DataFrame(
    {
        "leaf": LEAF,
        "yhat": LEAF + 0.2 * RNG.normal(size=300),
        "other": RNG.normal(size=300),
        "region": RNG.choice(["north", "south"], 300),
        "when": pd.Timestamp("2026-01-01"),
    }
)
HOW = ["--prediction", "yhat", "--explanation", "leaf", "--kind", "keys"]


@pytest.fixture
def log(tmp_path):
    LOG.to_parquet(tmp_path / "log.parquet")
    return str(tmp_path / "log.parquet")


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.mark.parametrize(
    ("word", "agreement"),
    [("spread", fs.Spread()), ("close:0.5", fs.Close(0.5)), ("tolerance:0.5", fs.Tolerance(0.5))],
)
def test_a_word_names_how_numbers_are_compared(log, word, agreement):
    done = run("audit", log, *HOW, "--agreement", word, "--by", "region", "--by-time", "when", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["agreement"] == repr(agreement)
    expected = fs.consistency(LEAF.tolist(), LOG.yhat, agreement=agreement)
    for name in ("value", "low", "high", "chance", "unverifiable"):
        assert told["consistency"][name] == pytest.approx(getattr(expected, name), abs=1e-9)
    for group in told["populations"]["groups"]:
        part = LOG[LOG.region == group["group"]]
        value = fs.consistency(part.leaf.tolist(), part.yhat, agreement=agreement).value
        assert group["value"] == pytest.approx(value, abs=1e-9)


def test_several_predictions_are_several_outputs(log):
    words = ["--prediction", "other", "--agreement", "spread", "--json"]
    told = json.loads(run("audit", log, *HOW, *words).stdout)["consistency"]
    expected = fs.consistency(LEAF.tolist(), LOG[["yhat", "other"]].to_numpy(), agreement=fs.Spread())
    assert told["value"] == pytest.approx(expected.value, abs=1e-9)
    labels = run("audit", log, *HOW, "--prediction", "other")
    assert isinstance(labels.exception, BadInput)
    assert "one column; got 2" in str(labels.exception)


def test_the_threshold_is_judged_by_the_lower_limit(log):
    low = fs.consistency(LEAF.tolist(), LOG.yhat, agreement=fs.Spread()).low
    assert run("audit", log, *HOW, "--agreement", "spread", "--fail-under", low - 0.01).exit_code == 0
    assert run("audit", log, *HOW, "--agreement", "spread", "--fail-under", low + 0.001).exit_code == 1


def test_numbers_without_an_agreement_and_words_that_name_none_are_one_sentence(log):
    for words, message in (
        ((), r"--agreement spread"),
        (("--agreement", "near"), r"No agreement is called 'near'"),
        (("--agreement", "close"), r"close needs a number, as in close:0.5"),
        (("--agreement", "close:-1"), r"eps must be a positive number"),
    ):
        done = run("audit", log, *HOW, *words)
        assert done.exit_code != 0
        assert isinstance(done.exception, BadInput)
        assert message in str(done.exception)


def test_a_plan_is_made_of_numbers(log):
    done = run("plan", log, *HOW, "--agreement", "close:0.5", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["n"] == 300


@pytest.mark.slow
def test_a_report_is_written_of_numbers(log, tmp_path):
    done = run("audit", log, *HOW, "--agreement", "close:0.5", "--by", "region", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert "<html" in (tmp_path / "r.html").read_text()


@pytest.mark.skipif("agreement" not in inspect.signature(fs.compare).parameters, reason="compare() takes no agreement")
def test_explainers_of_a_regressor_are_evaluated(tmp_path, monkeypatch):
    (tmp_path / "my_regressor.py").write_text(
        "import numpy as np\n"
        "def predict(X):\n    return np.asarray(X)[:, 0] + 0.1 * np.asarray(X)[:, 1]\n"
        "def explain(X):\n    return [f'bin {round(float(x))}' for x in np.asarray(X)[:, 0]]\n"
        "system = (predict, {'bins': explain})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    rows = pd.DataFrame(RNG.normal(size=(200, 2)), columns=["a", "b"])
    rows.to_parquet(tmp_path / "X.parquet")
    words = ["--system", "my_regressor:system", "--data", tmp_path / "X.parquet", "--agreement", "spread", "--json"]
    done = run("evaluate", *words)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    y, bins = rows.a + 0.1 * rows.b, [f"bin {round(x)}" for x in rows.a]
    expected = fs.consistency(bins, y, agreement=fs.Spread()).value
    assert told["evaluations"]["bins"]["consistency"]["value"] == pytest.approx(expected, abs=1e-9)
