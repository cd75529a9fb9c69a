"""A result in MLflow: every number under a name that MLflow takes, nothing undefined as 0, and the page beside it."""

import json
import sys
from pathlib import Path

import pytest

import faithscope as fs
from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.sinks.flat_numbers import flat_numbers, nameable
from sink_examples import RESULTS, result

mlflow = pytest.importorskip("mlflow")


@pytest.fixture
def client(tmp_path, monkeypatch):
    """MLflow with its runs in a folder of files, which mlflow-skinny can keep."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow.MlflowClient()
    while mlflow.active_run() is not None:
        mlflow.end_run()
    mlflow.set_tracking_uri(None)


def logged(client, run):
    return client.get_run(run).data


@pytest.mark.slow
def test_an_evaluation_is_logged_with_its_numbers_and_its_page(client, tmp_path):
    ev = result("evaluation by group")
    run = ev.to_mlflow()
    data = logged(client, run)
    for name in ("value", "low", "high", "limit", "unverifiable", "verified", "chance", "n"):
        assert data.metrics[f"faithscope.consistency.{name}"] == pytest.approx(getattr(ev.consistency, name))
        cook = ev.populations.estimates["cook"]
        assert data.metrics[f"faithscope.populations.cook.consistency.{name}"] == pytest.approx(getattr(cook, name))
    assert data.params["faithscope.version"] == fs.__version__
    assert data.params["faithscope.discretizer"] == ev.discretizer
    assert data.params["faithscope.explainer"] == ev.explainer
    assert data.params["faithscope.consistency.n"] == "60"
    assert data.tags["faithscope.verdict"].startswith("explanations: ")
    assert mlflow.active_run() is None
    folder = Path(client.download_artifacts(run, "faithscope", str(tmp_path)))
    assert json.loads((folder / "result.json").read_text()) == json.loads(json.dumps(ev.to_dict()))
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (folder / "summary.md").read_text(encoding="utf-8") == ev.to_markdown()


def test_what_is_undefined_is_named_and_never_zero(client):
    silent = result("estimate where nothing can be checked")
    assert silent.verified is None
    data = logged(client, silent.to_mlflow())
    assert "faithscope.consistency.verified" not in data.metrics
    assert data.tags["faithscope.undefined"] == "faithscope.consistency.verified"
    whole = logged(client, result("evaluation by group").to_mlflow())
    assert whole.tags["faithscope.undefined"] == "faithscope.sufficiency, faithscope.necessity"
    assert not [name for name in whole.metrics if "sufficiency" in name]


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_logged(client, name):
    told = result(name)
    data = logged(client, told.to_mlflow())
    numbers = list(flat_numbers(told.to_dict(), "faithscope"))
    assert numbers
    assert {number.name for number in numbers if number.value is not None} == set(data.metrics)
    keys = [(number.name.casefold(), number.step) for number in numbers]
    assert len(set(keys)) == len(keys), "two numbers under one name"


@pytest.mark.slow
def test_names_that_look_alike_stay_apart(client):
    names = ["a|b", "a/b", "A_b", "../x", "a.consistency", "é", "", "x" * 300, "x" * 301]
    compared = fs.compare([0, 0, 1, 1], {name: list("aabb") for name in names}, range(4), progress=False)
    data = logged(client, compared.to_mlflow())
    values = [name for name in data.metrics if name.endswith(".value") and "differences" not in name]
    assert len(values) == len(names)
    assert all(len(name) <= 250 for name in data.metrics)
    assert len({label.casefold() for label in nameable(names)}) == len(names)


def test_windows_of_time_are_steps(client):
    windows = result("windows")
    run = windows.to_mlflow()
    steps = client.get_metric_history(run, "faithscope.windows.consistency.value")
    measured = [estimate.value for estimate in windows.estimates.values()]
    assert [(point.step, point.value) for point in steps] == list(enumerate(measured))


def test_the_active_run_and_a_named_run_are_used_and_stay_as_they_were(client):
    estimate = result("estimate")
    with mlflow.start_run() as active:
        assert estimate.to_mlflow() == active.info.run_id
        assert mlflow.active_run().info.run_id == active.info.run_id
        assert estimate.to_mlflow() == active.info.run_id, "the same result again changes nothing"
    with mlflow.start_run() as other:
        assert estimate.to_mlflow(run_id=active.info.run_id, prefix="second.time") == active.info.run_id
        assert not logged(client, other.info.run_id).metrics
    assert "second.time.consistency.low" in logged(client, active.info.run_id).metrics


def test_another_result_under_the_same_names_is_refused_before_anything_is_written(client):
    run = result("estimate").to_mlflow()
    before = logged(client, run).metrics
    with pytest.raises(BadInput, match=r"already holds faithscope\.consistency\..* prefix='second'"):
        fs.consistency(["a", "a", "b"], [0, 1, 1]).to_mlflow(run_id=run)
    assert logged(client, run).metrics == before


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"prefix": ""}, BadInput, "prefix must be letters"),
        ({"prefix": "a/b"}, BadInput, "got 'a/b'"),
        ({"prefix": 3}, WrongType, "got int"),
        ({"run_id": 3}, WrongType, "got int"),
        ({"run_id": "nowhere"}, BadInput, "MLflow did not take the result: Run 'nowhere' not found"),
    ],
)
def test_a_mistake_is_one_sentence(client, options, error, words):
    with pytest.raises(error, match=words):
        result("estimate").to_mlflow(**options)


def test_without_mlflow_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtra, match="pip install mlflow-skinny"):
        result("estimate").to_mlflow()


def test_a_store_that_cannot_be_opened_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri("nonsense://x")
    try:
        with pytest.raises(BadInput, match="MLflow did not take the result"):
            result("estimate").to_mlflow()
    finally:
        mlflow.set_tracking_uri(None)
