"""What is shown: control characters of data are visible everywhere, JSON stands alone, any encoding will do."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from faithscope.card import framed
from faithscope.explanations.keys import Plain, Records
from faithscope.report.summary import summarize
from faithscope.visible import visible, visible_lines
from report_examples import printed as render

EVIL = "a\x1b]0;owned\x07\x9b31m\r\x08\u202eb"
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def check(*shown):
    for text in shown:
        assert not STEERING.search(text), ascii(text)


@given(st.text())
def test_what_is_visible_steers_nothing_and_plain_text_stays(text):
    check(visible(text), visible_lines(text))
    assert "\n" not in visible(text)
    assert visible(visible(text)) == visible(text)
    if text.isprintable():
        assert visible(text) == text


@pytest.fixture(scope="module")
def system():
    rng = default_rng(0)
    X = pd.DataFrame({EVIL: rng.integers(0, 3, 60), "g": [EVIL, "other"] * 30})
    labels = np.where(rng.integers(0, 2, 60) > 0, EVIL, "no")
    return X, labels


KINDS = {
    "importances": lambda X: fs.Importances(X[[EVIL]].to_numpy(float), names=[EVIL]),
    "rankings": lambda X: fs.Rank()(fs.Importances(np.tile(X[[EVIL]].to_numpy(float), 2), names=[EVIL, "b"])),
    "rules": lambda X: fs.Rules.from_conditions([[("g", "==", g), (EVIL, "<=", 1.0)] for g in X["g"]], [EVIL, "g"]),
    "highlights": lambda X: fs.Highlights([{g} for g in X["g"]]),
    "keys": lambda X: Plain(X["g"].tolist()),
    "records": lambda X: Records([X["g"].tolist()], [EVIL]),
    "counterfactuals": lambda X: fs.Counterfactuals(X[::-1].reset_index(drop=True), X),
}


def test_explanations_are_described_visibly(system):
    for kind in KINDS:
        explanations = KINDS[kind](system[0])
        check(repr(explanations), *(explanations.describe(row) for row in range(4)))


def test_every_result_is_shown_visibly(system):
    for kind in ["importances", "rules", "keys", "records"]:
        X, labels = system
        explanations = KINDS[kind](X)
        found = fs.compare(labels, {EVIL: explanations, "other": explanations}, X, by=X["g"], progress=False)
        ev = found.evaluations[EVIL]
        groups = ev.by(X["g"])
        check(str(found), str(ev), str(groups), found._repr_html_(), ev._repr_html_(), groups._repr_html_())
        check(render(summarize(found, title=EVIL)), json.dumps(found.to_dict(), default=str))
        check(*ev.counterexamples()["explanation"])


def test_notes_and_audits_are_shown_visibly(system):
    X, labels = system
    moments = pd.date_range("2026-01-01", periods=60, freq="h")
    log = pd.DataFrame({"yhat": labels, "e": X["g"], EVIL: X["g"], "t": moments})
    found = fs.audit(log, prediction="yhat", explanation="e", by=EVIL, time="t")
    check(str(found), str(found.populations), str(found.windows), found._repr_html_(), found.populations._repr_html_())
    noted = replace(found.consistency, notes=(EVIL,))
    check(str(noted), noted._repr_html_())


def test_messages_show_what_they_quote_visibly(system):
    for wrong in [
        lambda X, y: fs.audit(X, prediction=EVIL + "x", explanation=EVIL),
        lambda X, y: fs.audit(X, prediction="g", explanation=EVIL, by=EVIL + "?"),
        lambda X, y: fs.Importances(X[[EVIL]].assign(**{EVIL: np.nan})),
        lambda X, y: fs.consistency(X["g"].tolist(), [EVIL, None] * 30),
        lambda X, y: fs.sufficiency(fs.Rules.from_conditions([[(EVIL, "<=", 1)]] * 60, [EVIL]), y, X[["g"]]),
    ]:
        with pytest.raises(fs.errors.FaithscopeError) as told:
            wrong(*system)
        check(str(told.value))


NOISY = """
import atexit, ctypes, os
import numpy as np

print("python")
atexit.register(print, "at exit")

def model(X):
    print("model")
    ctypes.CDLL(None).puts(b"C")
    os.write(1, b"raw\\n")
    os.system("echo child")
    return X["a"].to_numpy() > 0

system = model, {"é – …": lambda X: np.round(X.to_numpy())}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    rows = default_rng(0).normal(size=(200, 2)).round()
    pd.DataFrame(rows, columns=["a", "b"]).to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path


def run(folder, *words, **environment):
    program = [sys.executable, "-m", "faithscope", "evaluate", "--system", "noisy:system", "--data", "rows.csv"]
    return subprocess.run([*program, *words], cwd=folder, capture_output=True, env={**os.environ, **environment})


@pytest.mark.skipif(os.name != "posix", reason="the C library is loaded as on Unix")
@pytest.mark.slow
def test_json_stands_alone_on_standard_output_whatever_a_model_prints(folder):
    found = run(folder, "--json")
    assert found.returncode == 0, found.stderr
    assert list(json.loads(found.stdout)["evaluations"]) == ["é – …"]
    for word in (b"python", b"model", b"C", b"raw", b"child", b"at exit"):
        assert word in found.stderr.splitlines()


@pytest.mark.parametrize(
    "encoding", ["latin-1", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("utf-8", "cp1252"))]
)
@pytest.mark.slow
def test_any_encoding_of_a_terminal_will_do(folder, encoding):
    found = run(folder, "--report", "r.html", PYTHONIOENCODING=encoding)
    assert found.returncode == 0, found.stderr
    told = found.stdout.decode(encoding)
    assert "é" in told
    assert ("–" in told) == (encoding in ("cp1252", "utf-8"))
    assert re.search(r"0\.\d{3}[-–][01]\.\d{3}", told)


def test_ends_of_intervals_in_tables_of_frames_are_rounded_outward():
    frame = pd.DataFrame({"a": ["x"], "same": [0.70198], "same_low": [0.70198], "high": [0.70142], "n": [1000]})
    (row,) = framed(frame, list(frame)).rows
    assert row == ("x", "0.702", "0.701", "0.702", "1,000")
