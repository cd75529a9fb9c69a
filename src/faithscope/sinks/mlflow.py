"""A result in MLflow: numbers as metrics, settings as parameters, the page and the JSON as artifacts."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Any

from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.sinks import markdown
from faithscope.sinks.card import Card
from faithscope.sinks.flat_numbers import flat_numbers, nameable, settings

_METRICS, _WORDS = 1000, 100  # at most so many per request
_LONGEST_SETTING, _LONGEST_TAG = 500, 5000  # characters that every server takes


def log(numbers: dict[str, Any], card: Card, page: str, run_id: str | None, prefix: str) -> str:
    """Write a result to a run and return the id of the run: the one named, the active one, or a new one."""
    mlflow = _imported()
    if not isinstance(prefix, str):
        raise WrongType(f"prefix must be a text that names begin with; got {type(prefix).__name__}.")
    if not prefix or any([part] != nameable([part]) for part in prefix.split(".")):
        raise BadInput(f"prefix must be letters, digits, dashes and dots, such as 'wine.shap'; got {prefix!r}.")
    try:
        with _run(mlflow, run_id) as run:
            _write(mlflow, run, numbers, card, page, prefix)
        return run
    except mlflow.exceptions.MlflowException as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise BadInput(f"MLflow did not take the result: {reason}.") from error


def _imported() -> Any:
    try:
        return import_module("mlflow")
    except ModuleNotFoundError as error:
        if error.name != "mlflow":
            raise
        raise MissingExtra("to_mlflow needs MLflow, which is not installed: pip install mlflow-skinny.") from None


@contextmanager
def _run(mlflow: Any, run_id: str | None) -> Iterator[str]:
    if run_id is not None:
        if not isinstance(run_id, str):
            raise WrongType(f"run_id must be the id of an MLflow run, a text; got {type(run_id).__name__}.")
        yield run_id
    elif (active := mlflow.active_run()) is not None:
        yield active.info.run_id
    else:
        with mlflow.start_run() as started:
            yield started.info.run_id


def _write(mlflow: Any, run: str, told: dict[str, Any], card: Card, page: str, prefix: str) -> None:
    entities, client, now = mlflow.entities, mlflow.MlflowClient(), int(1000 * time.time())
    parameters = {f"{prefix}.version": version("faithscope"), **dict(settings(told, prefix))}
    parameters = {name: _cut(value, _LONGEST_SETTING) for name, value in parameters.items()}
    known = client.get_run(run).data.params
    for name, value in parameters.items():  # before anything is written
        if known.get(name, value) != value:
            raise BadInput(
                f"The run already holds {name} = {known[name]!r}, and this result has {value!r}: "
                "log it to another run, or under another prefix, such as prefix='second'."
            )
    numbers = list(flat_numbers(told, prefix))
    metrics = [entities.Metric(n.name, n.value, now, n.step) for n in numbers if n.value is not None]
    sentences = (f"{each.subject}: {each.text}" if each.subject else each.text for each in card.sentences)
    words = {
        "verdict": "\n".join(sentences),
        "notes": "\n".join(card.notes),
        "undefined": ", ".join(number.name for number in numbers if number.value is None),
    }
    tags = [entities.RunTag(f"{prefix}.{name}", _cut(text, _LONGEST_TAG)) for name, text in words.items() if text]
    params = [entities.Param(*pair) for pair in parameters.items()]
    for kind, items, most in (("metrics", metrics, _METRICS), ("params", params, _WORDS), ("tags", tags, _WORDS)):
        for start in range(0, len(items), most):
            client.log_batch(run, **{kind: items[start : start + most]})
    artifacts = {
        "report.html": page,
        "result.json": json.dumps(told, allow_nan=False, indent=2),
        "summary.md": markdown.render(card),
    }
    for file, text in artifacts.items():
        client.log_text(run, text.encode(errors="replace").decode(), f"{prefix}/{file}")


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
