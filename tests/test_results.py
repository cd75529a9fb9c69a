"""A result of every kind as JSON that keeps to the schema, as Markdown, and in MLflow: nothing undefined is 0."""

import copy
import json
import sys
from pathlib import Path

import pytest

import faithscope as fs
from faithscope.errors import BadInput, MissingExtra
from faithscope.shareable import _leaves, nameable
from refused import refused
from result_examples import RESULTS, result
from test_markdown import shown

jsonschema, mlflow = pytest.importorskip("jsonschema"), pytest.importorskip("mlflow")
SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "result.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture
def client(tmp_path, monkeypatch):
    """MLflow with its runs in a folder of files, which mlflow-skinny can keep."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow.MlflowClient()
    mlflow.set_tracking_uri(None)


def logged(client, told, **options):
    return client.get_run(told.to_mlflow(**options)).data


def as_json(name):
    return json.loads(json.dumps(result(name).to_dict(), allow_nan=False))


def numbers_in(told, path=()):
    """Where the measured numbers of a result stand."""
    items = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    for key, value in items:
        yield from [(*path, key)] if key in ("value", "low", "n", "unverifiable") else numbers_in(value, (*path, key))


def mutilated(told, path):
    """Copies of a result that lack a number, hold it as text, or hold another beside it."""
    *above, last = path
    for other in ({}, {last: "0.5"}, {last: 0.5, "valeu": 0.5}):
        place = copied = copy.deepcopy(told)
        for key in above:
            place = place[key]
        del place[last]
        place.update(other)
        yield copied


# Beside the plain one of each kind: what is undefined, hostile or of another shape.
ALSO = (
    "estimate where nothing can be checked",
    "monitor without rows",
)


def tier(name):
    return pytest.param(name, marks=() if " " not in name or name in ALSO else pytest.mark.thorough)


@pytest.mark.parametrize("name", [tier(name) for name in RESULTS])
def test_every_result_keeps_to_the_schema_and_has_its_notes_in_markdown(name):
    told, text = as_json(name), result(name).to_markdown()
    VALIDATOR.validate(told)
    places = list(numbers_in(told))
    assert places
    for path in places[:: len(places) // 4 + 1]:  # four at most, from all over the result
        assert not any(map(VALIDATOR.is_valid, mutilated(told, path))), path
    assert text.startswith("### ")
    assert name.startswith(("local", "plan", "simulatability")) or "\n| " in text  # which are told in a line
    assert text.endswith("\n")
    assert all(note in shown(text) for note in getattr(result(name), "notes", ()))
    names = [path.casefold() for path, *_ in _leaves(result(name).to_dict(), "faithscope")]
    assert len(set(names)) == len(names) > 0, "two numbers under one name"


def test_the_schema_is_one_and_all_of_it_is_used():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert [name for name in SCHEMA["$defs"] if f'"#/$defs/{name}"' not in json.dumps(SCHEMA)] == []
    for wrong in ({"unverifiable": 1.1}, {"n": 0}):
        assert not VALIDATOR.is_valid(as_json("estimate") | wrong)


def test_an_evaluation_is_logged_with_its_numbers_and_its_page_and_what_is_undefined_is_never_zero(client, tmp_path):
    ev = result("evaluation by group")
    run = ev.to_mlflow()
    data = client.get_run(run).data
    cook = ev.populations.estimates["cook"]
    for estimate, prefix in ((ev.consistency, "faithscope"), (cook, "faithscope.populations.cook")):
        for name in ("value", "low", "high", "unverifiable", "verified", "chance", "n"):
            assert data.metrics[f"{prefix}.consistency.{name}"] == pytest.approx(getattr(estimate, name))
    for name, value in (("version", fs.__version__), ("discretizer", ev.discretizer), ("explainer", ev.explainer)):
        assert data.params[f"faithscope.{name}"] == value
    assert data.tags["faithscope.verdict"].startswith("explanations: ")
    assert not [name for name in data.metrics if "sufficiency" in name]
    assert mlflow.active_run() is None
    folder = Path(client.download_artifacts(run, "faithscope", str(tmp_path)))
    assert json.loads((folder / "result.json").read_text()) == as_json("evaluation by group")
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (folder / "summary.md").read_text(encoding="utf-8") == ev.to_markdown()
    silent = logged(client, result("estimate where nothing can be checked"))
    assert "faithscope.consistency.verified" not in silent.metrics


@pytest.mark.thorough
def test_names_that_look_alike_stay_apart(client):
    names = ["a|b", "a/b", "A_b", "../x", "a.consistency", "é", "", "x" * 300, "x" * 301]
    metrics = logged(client, fs.compare([0, 0, 1, 1], {name: list("aabb") for name in names}, range(4))).metrics
    values = [name for name in metrics if name.endswith(".value") and "differences" not in name]
    assert len(values) == len({label.casefold() for label in nameable(names)}) == len(names)
    assert all(len(name) <= 250 for name in metrics)


def test_windows_of_time_are_named_by_their_beginning(client):
    windows = result("windows")
    metrics = logged(client, windows).metrics
    for start, estimate in windows.estimates.items():
        name = nameable([f"{start:%Y-%m-%dT%H:%M:%S}"])[0]
        assert metrics[f"faithscope.windows.{name}.consistency.value"] == estimate.value


def test_the_active_run_and_a_named_run_are_used_and_stay_as_they_were(client):
    estimate, other = result("estimate"), fs.consistency(["a", "a", "b"], [0, 1, 1])
    with mlflow.start_run() as active:
        run = active.info.run_id
        for _ in range(2):  # the same result again changes nothing
            assert estimate.to_mlflow() == run
        assert mlflow.active_run().info.run_id == run
    with mlflow.start_run() as unasked:
        metrics = logged(client, estimate, run_id=run, prefix="second.time").metrics
        assert not client.get_run(unasked.info.run_id).data.metrics
    assert {"second.time.consistency.low", "faithscope.consistency.low"} <= set(metrics)
    refused(BadInput, r"faithscope\.consistency\..* prefix='second'", other.to_mlflow, run_id=run)
    assert client.get_run(run).data.metrics == metrics, "nothing is written"


@pytest.mark.usefixtures("client")
def test_a_mistake_is_one_sentence(monkeypatch, tmp_path):
    log = result("estimate").to_mlflow
    for options, error, words in (
        ({"prefix": ""}, BadInput, "prefix must be letters"),
        ({"prefix": "a/b"}, BadInput, "got 'a/b'"),
        ({"prefix": 3}, BadInput, "got 3"),
        ({"run_id": "nowhere"}, BadInput, "MLflow did not take the result: Run 'nowhere' not found"),
    ):
        refused(error, words, log, **options)
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri("nonsense://x")
    refused(BadInput, "MLflow did not take the result", log)
    monkeypatch.setitem(sys.modules, "mlflow", None)
    refused(MissingExtra, "pip install mlflow-skinny", log)
