"""The command line: what --help shows runs, statuses are 0, 1 and 2, and a mistake is one line."""

import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from faithscope.cli import main
from faithscope.measures.telling.rounding import down, up

MODULE = """
import numpy as np
import faithscope as fs

def predict(rows):
    return (rows["a"] > 0).to_numpy()

def importances(rows):
    return np.column_stack([rows["a"], rows["b"], 0 * rows["a"]])

def broken(rows):
    raise ZeroDivisionError("a fault of the model's")

def hollow(rows):
    # Consistent by their words, and each applies to every row: sufficiency is chance.
    rules = [[("b", ">", -99.0 - y)] for y in predict(rows)]
    return fs.Rules.from_conditions(rules, features=list(rows.columns))

signs = lambda rows: np.sign(importances(rows))
drawn = fs.explainers.Random(2)
guarded = predict, {"signs": signs, "hollow": hollow, "constant": fs.explainers.Constant(), "r": drawn}
sound = predict, {"signs": signs, "constant": fs.explainers.Constant(), "random": fs.explainers.Random(2)}
baselines = predict, {"constant": fs.explainers.Constant(), "random": fs.explainers.Random(2)}
system = predict, {"importances": importances, "constant": fs.explainers.Constant()}
single = predict, importances
faulty = broken, importances
number = 7

def factory():
    return predict, importances

def needs(something):
    return predict, importances
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli")
    (path / "my_module.py").write_text(MODULE)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    rows.assign(region=np.where(rows["b"] > 0, "north", "south")).to_parquet(path / "X.parquet")
    rows.to_csv(path / "X.csv", index=False)
    log = pd.DataFrame(rng.choice([-1.0, 1.0], (600, 6)), columns=[f"phi_{j}" for j in range(6)])
    log = log.assign(yhat=np.where(log["phi_0"] > 0, "yes", "no"), region=np.arange(600) % 2)
    log.to_parquet(path / "log.parquet")
    (path / "cut.parquet").write_bytes((path / "X.parquet").read_bytes()[:300])
    (path / "X.xlsx").write_bytes(b"")
    return path


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def run(folder, *words):
    """The command in this process, as its entry point runs it."""
    out, err, status = StringIO(), StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["faithscope", *words])
        patch.setattr(sys, "path", [*sys.path])
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    return Done(status, out.getvalue(), err.getvalue())


def examples(text):
    """What help shows after the word Example, put back on one line."""
    flat = " ".join(text.split())
    return re.findall(r"Example: (faithscope .+?)(?= Options:| Arguments:|$)", flat)


COMMANDS = ("demo", "evaluate", "audit", "plan", "reproduce", "monitor")


def test_all_commands_are_listed(folder):
    listed = run(folder, "--help").stdout
    assert tuple(re.findall(r"^  (\w+)  ", listed.split("Commands:")[1], re.MULTILINE)) == COMMANDS


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "monitor"])  # whose commands are tested apart
@pytest.mark.slow
def test_every_example_in_help_runs(folder, command):
    shown = examples(run(folder, command, "--help").stdout)
    assert shown
    for example in shown:
        words = shlex.split(example)[1:]
        if "../data" in words:
            words[words.index("../data")] = data_folder()
            words += ["--cache", "kept"]
        done = run(folder, *words)
        assert done.returncode == 0, done.stderr
        assert done.stdout
        if "--report" in words:
            report = folder / words[words.index("--report") + 1]
            assert report.read_text(encoding="utf-8").startswith("<!doctype html>")


def data_folder():
    return os.environ.get("FAITHSCOPE_DATA") or pytest.skip("FAITHSCOPE_DATA names no folder of data sets")


def test_an_evaluation_is_told_as_a_table_or_as_json(folder):
    words = ("evaluate", "--system", "my_module:system", "--data", "X.csv", "--discretize", "sign")
    done = run(folder, *words)
    assert done.returncode == 0
    assert "importances" in done.stdout
    numbers = json.loads(run(folder, *words, "--json").stdout)
    assert numbers["evaluations"]["importances"]["consistency"]["value"] == 1
    assert numbers["evaluations"]["constant"]["consistency"]["n"] == 300


@pytest.mark.parametrize("attribute", ["single", "factory"])
def test_a_system_is_a_pair_or_makes_one(folder, attribute):
    words = ("evaluate", "--system", f"my_module:{attribute}", "--data", "X.csv", "--discretize", "best", "--json")
    done = run(folder, *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows_to_choose"] == 150


def test_populations_come_from_a_column(folder):
    words = ("evaluate", "--system", "my_module:single", "--data", "X.parquet", "--by", "region", "--drop", "region")
    numbers = json.loads(run(folder, *words, "--json").stdout)
    groups = numbers["evaluations"]["importances"]["populations"]["groups"]
    assert {group["group"] for group in groups} == {"north", "south"}


@pytest.mark.parametrize(("limit", "status"), [("0.9", 0), ("0.99", 1)])
def test_the_lower_limit_is_what_fails(folder, limit, status):
    words = ("--system", "my_module:single", "--data", "X.csv", "--discretize", "sign", "--fail-under", limit)
    assert run(folder, "evaluate", *words).returncode == status


def judged(folder, system, *words):
    """How the gate ended, and everyone it names: explainer and population, measure."""
    done = run(folder, "evaluate", "--system", f"my_module:{system}", "--data", "X.parquet", "--drop", "region", *words)
    lines = [line for line in done.stderr.splitlines() if " was not shown to be at least " in line]
    return done.returncode, [tuple(line.split(" was not shown")[0].split(": ")) for line in lines], done.stderr


def test_the_gate_judges_every_measure_and_no_baseline_and_names_who_failed(folder):
    status, failed, printed = judged(folder, "guarded", "--fail-under", "0.9")
    assert (status, failed) == (1, [("hollow", "sufficiency")])
    assert "at least 0.9: its lower limit is 0." in printed
    assert judged(folder, "sound", "--fail-under", "0.9")[:2] == (0, [])
    assert judged(folder, "guarded", "--fail-under", "0.9", "--measure", "consistency")[:2] == (0, [])


def test_the_gate_judges_whom_it_is_told_to(folder):
    assert judged(folder, "guarded", "--fail-under", "0.9", "--gate", "signs")[:2] == (0, [])
    status, failed, _ = judged(folder, "guarded", "--fail-under", "0.9", "--gate", "signs", "--gate", "constant")
    assert (status, failed) == (1, [("constant", "consistency")])


def test_baselines_alone_are_judged_and_that_is_said(folder):
    status, failed, printed = judged(folder, "baselines", "--fail-under", "0.9")
    assert status == 1
    assert {who for who, _ in failed} == {"constant", "random"}
    assert "Only baselines were given, so they are judged: constant, random." in printed


def test_the_gate_judges_populations_too(folder):
    status, failed, printed = judged(folder, "sound", "--fail-under", "0.96", "--by", "region")
    assert status == 1
    assert set(failed) == {("signs, region north", "consistency"), ("signs, region south", "consistency")}
    assert "rows are too few: even if all agreed" in printed
    assert judged(folder, "sound", "--fail-under", "0.96")[0] == 0


def test_populations_are_printed_by_every_measure_with_explainer_and_column(folder):
    words = ("evaluate", "--system", "my_module:guarded", "--data", "X.parquet", "--by", "region", "--drop", "region")
    printed = run(folder, *words).stdout
    numbers = json.loads(run(folder, *words, "--json").stdout)
    for name, measure, held in [
        *((name, "consistency", "populations") for name in ("signs", "hollow", "constant", "r")),
        ("hollow", "sufficiency", "sufficiency_populations"),
    ]:
        part = printed.split(f"{name}: {measure} by region")[1].split(" by region")[0]
        for group in numbers["evaluations"][name][held]["groups"]:
            assert group["measure"] == measure
            line = next(line for line in part.splitlines() if line.startswith(group["group"]))
            assert f"{group['value']:.3f}" in line
            assert f"{down(group['low'])}–{up(group['high'])}" in line
    assert "signs: sufficiency" not in printed


def test_rows_without_a_population_are_one_of_their_own_and_that_is_said(folder):
    rows = pd.read_parquet(folder / "X.parquet")
    rows.loc[rows.index[:7], "region"] = None
    rows.to_parquet(folder / "holes.parquet")
    words = ("--system", "my_module:single", "--data", "holes.parquet", "--by", "region", "--drop", "region", "--json")
    done = run(folder, "evaluate", *words)
    (evaluation,) = json.loads(done.stdout)["evaluations"].values()
    assert {group["group"]: group["n"] for group in evaluation["populations"]["groups"]}["missing"] == 7
    assert "7 rows have no region: population 'missing'." in done.stderr


MISTAKES = {
    "no such module": (["--system", "nothing:x", "--data", "X.csv"], "No module is called 'nothing'"),
    "no colon": (["--system", "my_module", "--data", "X.csv"], "module:attribute"),
    "no such attribute": (["--system", "my_module:x", "--data", "X.csv"], "has no 'x'"),
    "not a pair": (["--system", "my_module:number", "--data", "X.csv"], "must be (model, explainer)"),
    "takes arguments": (["--system", "my_module:needs", "--data", "X.csv"], "takes arguments"),
    "no such file": (["--system", "my_module:single", "--data", "Y.csv"], "There is no file 'Y.csv'"),
    "unknown file type": (["--system", "my_module:single", "--data", "X.xlsx"], "neither .parquet nor .csv"),
    "truncated file": (["--system", "my_module:single", "--data", "cut.parquet"], "'cut.parquet' cannot be read"),
    "no such column": (["--system", "my_module:single", "--data", "X.parquet", "--by", "regoin"], "Did you mean 'reg"),
    "no such word": (["--system", "my_module:single", "--data", "X.csv", "--discretize", "3fp"], "'3fp'"),
    "gate without a threshold": (
        ["--system", "my_module:single", "--data", "X.csv", "--gate", "importances"],
        "--gate says what --fail-under judges",
    ),
    "measure without a threshold": (
        ["--system", "my_module:single", "--data", "X.csv", "--measure", "consistency"],
        "--measure says what --fail-under judges",
    ),
    "no such explainer": (
        ["--system", "my_module:system", "--data", "X.csv", "--fail-under", "0.9", "--gate", "constnat"],
        "Did you mean 'constant'?",
    ),
    "no such measure": (
        ["--system", "my_module:system", "--data", "X.csv", "--fail-under", "0.9", "--measure", "purity"],
        "--measure must be consistency or sufficiency; got 'purity'",
    ),
    "threshold": (["--system", "my_module:single", "--data", "X.csv", "--fail-under", "7"], "--fail-under"),
    "fault of the model": (["--system", "my_module:faulty", "--data", "X.csv"], "my_module.py, line 12"),
    "where a fault came up": (
        ["--system", "my_module:faulty", "--data", "X.csv"],
        "a fault of the model's. Raised while predicting, on rows 0 to 299 of 300",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_and_status_2(folder, name):
    words, message = MISTAKES[name]
    done = run(folder, "evaluate", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command", [[Path(sys.executable).parent / "faithscope"], [sys.executable, "-m", "faithscope"]]
)
@pytest.mark.slow
def test_the_installed_command_prints_its_version(command):
    done = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert re.fullmatch(r"faithscope \d+\.\d+\.\d+\n", done.stdout)


def test_completion_can_be_shown(folder):
    assert "--install-completion" in run(folder, "--help").stdout
