"""A result in MLflow: numbers as metrics, settings as parameters, the page and the JSON as artifacts."""

import json
import time
from importlib import import_module
from importlib.metadata import version
from typing import Any

from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.sinks import markdown
from faithscope.sinks.card import Card
from faithscope.sinks.flat_numbers import flat_numbers, nameable, settings


def log(told: dict[str, Any], card: Card, page: str, run_id: str | None, prefix: str) -> str:
    """Write a result to a run and return the id of the run: the one named, the active one, or a new one."""
    try:
        mlflow = import_module("mlflow")
    except ModuleNotFoundError as error:
        if error.name != "mlflow":
            raise
        raise MissingExtra("to_mlflow needs MLflow, which is not installed: pip install mlflow-skinny.") from None
    for what, given in {"prefix": prefix, "run_id": run_id or ""}.items():
        if not isinstance(given, str):
            raise WrongType(f"{what} must be a text; got {type(given).__name__}.")
    if not prefix or any([part] != nameable([part]) for part in prefix.split(".")):
        raise BadInput(f"prefix must be letters, digits, dashes and dots, such as 'wine.shap'; got {prefix!r}.")
    try:
        active = mlflow.active_run()
        if run_id is None and active is None:
            with mlflow.start_run() as started:
                return _write(mlflow, started.info.run_id, told, card, page, prefix)
        return _write(mlflow, active.info.run_id if run_id is None else run_id, told, card, page, prefix)
    except mlflow.exceptions.MlflowException as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise BadInput(
            f"MLflow did not take the result: {reason}. If the run holds another result already, log it to another "
            "run, or under another prefix, such as prefix='second'."
        ) from error


def _write(mlflow: Any, run: str, told: dict[str, Any], card: Card, page: str, prefix: str) -> str:
    client, entities, now = mlflow.MlflowClient(), mlflow.entities, int(1000 * time.time())
    parameters = {f"{prefix}.version": version("faithscope"), **settings(told, prefix)}
    words = {
        "verdict": "\n".join(f"{each.subject}: {each.text}" if each.subject else each.text for each in card.sentences),
        "notes": "\n".join(card.notes),
    }
    # First of all, since MLflow refuses others than the run has, and then nothing else is written.
    client.log_batch(run, params=[entities.Param(*each) for each in parameters.items()])
    metrics = [entities.Metric(name, value, now, 0) for name, value in flat_numbers(told, prefix).items()]
    tags = [entities.RunTag(f"{prefix}.{name}", text) for name, text in words.items() if text]
    client.log_batch(run, metrics=metrics, tags=tags)
    artifacts = {
        "report.html": page,
        "result.json": json.dumps(told, allow_nan=False, indent=2),
        "summary.md": markdown.render(card),
    }
    for file, text in artifacts.items():
        client.log_text(run, text.encode(errors="replace").decode(), f"{prefix}/{file}")
    return run
