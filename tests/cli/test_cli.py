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
import typer
from numpy.random import default_rng
from typer.testing import CliRunner

import faithscope as fs
from faithscope import cli
from faithscope.cli import main
from faithscope.errors import MissingExtra
from faithscope.rounding import down, up

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
class Likely:
    def predict(self, rows):
        return predict(rows)

    def predict_proba(self, rows):
        yes = 1 / (1 + np.exp(-rows["a"].to_numpy()))
        return np.column_stack([1 - yes, yes])

likely = Likely(), signs
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
    rng = default_rng(0)
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


def run(folder, line):
    """The command in this process, as its entry point runs it."""
    out, err, status = StringIO(), StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["faithscope", *shlex.split(line)])
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


def test_without_its_package_the_paper_is_not_reproduced_and_one_sentence_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    bare = typer.Typer()
    cli.add_reproduce(bare)
    bare.command()(lambda: None)
    done = CliRunner().invoke(bare, ["reproduce", "table1", "--quick", "--seed", "3"])
    assert isinstance(done.exception, MissingExtra)
    assert "pip install ./reproduction" in str(done.exception)


@pytest.mark.parametrize(
    "command",  # those of monitor are tested apart
    ["evaluate", "audit", "plan", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("demo", "reproduce"))],
)
@pytest.mark.slow
def test_every_example_in_help_runs(folder, command):
    shown = examples(run(folder, f"{command} --help").stdout)
    assert shown
    for example in shown:
        line = example.removeprefix("faithscope ")
        if "../data" in line:
            line = line.replace("../data", shlex.quote(data_folder())) + " --cache kept"
        done = run(folder, line)
        assert done.returncode == 0, done.stderr
        assert done.stdout
        if "--report" in line:
            report = folder / re.search(r"--report (\S+)", line)[1]
            assert report.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("options", "how"),
    [
        ("--interval proven", {"interval": "proven"}),
        ("--weights w --unseen", {"unseen": True, "weights": "w"}),
    ],
)
def test_evaluate_takes_the_words_that_python_takes(folder, options, how):
    rows = pd.read_parquet(folder / "X.parquet")[["a", "b"]].assign(w=np.arange(1.0, 301.0))
    rows.to_parquet(folder / "weighted.parquet")
    done = run(folder, f"evaluate --system my_module:likely --data weighted.parquet --drop w --json {options}")
    (told,) = json.loads(done.stdout)["evaluations"].values()
    system = {}
    exec(MODULE, system)
    weights = rows["w"] if "weights" in how else None
    python = fs.evaluate(*system["likely"], rows[["a", "b"]], progress=False, **{**how, "weights": weights})
    assert told["consistency"] == json.loads(json.dumps(python.consistency.to_dict()))
    usual = fs.evaluate(*system["likely"], rows[["a", "b"]], progress=False).consistency
    assert told["consistency"] != json.loads(json.dumps(usual.to_dict()))


def data_folder():
    return os.environ.get("FAITHSCOPE_DATA") or pytest.skip("FAITHSCOPE_DATA names no folder of data sets")


def evaluated(folder, line):
    """What an evaluation says as JSON."""
    done = run(folder, f"evaluate {line} --json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_evaluation_is_told_as_a_table_or_as_json(folder):
    line = "--system my_module:system --data X.csv --discretize sign"
    assert "importances" in run(folder, f"evaluate {line}").stdout
    numbers = evaluated(folder, line)["evaluations"]
    assert numbers["importances"]["consistency"]["value"] == 1
    assert numbers["constant"]["consistency"]["n"] == 300


@pytest.mark.parametrize("attribute", ["single", "factory"])
def test_a_system_is_a_pair_or_makes_one(folder, attribute):
    numbers = evaluated(folder, f"--system my_module:{attribute} --data X.csv --discretize best")
    assert numbers["rows_to_choose"] == 150


def judged(folder, system, words):
    """How the gate ended, and everyone it names: explainer and population, measure."""
    done = run(folder, f"evaluate --system my_module:{system} --data X.parquet --drop region {words}")
    lines = [line for line in done.stderr.splitlines() if " was not shown to be at least " in line]
    return done.returncode, {tuple(line.split(" was not shown")[0].split(": ")) for line in lines}, done.stderr


@pytest.mark.parametrize(
    ("system", "words", "failed", "said"),
    [
        ("guarded", "0.9", {("hollow", "sufficiency")}, "at least 0.9: its 95% interval is [0."),
        ("sound", "0.9", set(), ""),
        *(
            pytest.param("guarded", f"0.9 {words}", failed, "", marks=pytest.mark.thorough)
            for words, failed in (
                ("--measure consistency", set()),
                ("--gate signs", set()),
                ("--gate signs --gate constant", {("constant", "consistency")}),
            )
        ),
        (
            "sound",
            "0.96 --by region",
            {("signs, region north", "consistency"), ("signs, region south", "consistency")},
            "would make it narrower",
        ),
    ],
)
def test_the_gate_judges_every_measure_and_population_and_no_baseline_and_names_who_failed(
    folder, system, words, failed, said
):
    status, names, printed = judged(folder, system, f"--fail-under {words}")
    assert (status, names) == (int(bool(failed)), failed)
    assert said in printed


@pytest.mark.thorough
def test_populations_are_printed_by_every_measure_with_explainer_and_column(folder):
    line = "--system my_module:guarded --data X.parquet --by region --drop region"
    printed = run(folder, f"evaluate {line}").stdout
    numbers = evaluated(folder, line)
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


MISTAKES = [
    ("nothing:x --data X.csv", "No module is called 'nothing'"),
    ("my_module --data X.csv", "module:attribute"),
    ("my_module:x --data X.csv", "has no 'x'"),
    ("my_module:number --data X.csv", "must be (model, explainer)"),
    ("my_module:needs --data X.csv", "takes arguments"),
    ("my_module:single --data Y.csv", "There is no file 'Y.csv'"),
    ("my_module:single --data X.xlsx", "neither .parquet nor .csv"),
    ("my_module:single --data cut.parquet", "'cut.parquet' cannot be read"),
    ("my_module:single --data X.parquet --by regoin", "Did you mean 'reg"),
    ("my_module:single --data X.csv --discretize 3fp", "'3fp'"),
    ("my_module:single --data X.csv --gate importances", "--gate says what --fail-under judges"),
    ("my_module:single --data X.csv --interval bootstrap", "interval must be"),
    ("my_module:single --data X.csv --weights c", "no column 'c'"),
    ("my_module:system --data X.csv --fail-under 0.9 --gate constnat", "Did you mean 'constant'?"),
    (
        "my_module:system --data X.csv --fail-under 0.9 --measure purity",
        "--measure must be one of 'consistency', 'sufficiency', 'necessity'; got 'purity'",
    ),
    ("my_module:single --data X.csv --fail-under 7", "--fail-under"),
    ("my_module:faulty --data X.csv", "my_module.py, line 12"),
    ("my_module:faulty --data X.csv", "a fault of the model's. Raised while predicting, on rows 0 to 299 of 300"),
]


@pytest.mark.parametrize(("line", "message"), MISTAKES)
def test_a_mistake_is_one_line_and_status_2(folder, line, message):
    done = run(folder, f"evaluate --system {line}")
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
