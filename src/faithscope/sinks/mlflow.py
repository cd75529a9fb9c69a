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

_MOST = {"params": 100, "tags": 100, "metrics": 1000}  # per request
_LONGEST_SETTING, _LONGEST_TAG = 500, 5000  # characters that every server takes


def log(numbers: dict[str, Any], card: Card, page: str, run_id: str | None, prefix: str) -> str:
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
        if not run_id and active is None:
            with mlflow.start_run() as started:
                return _write(mlflow, started.info.run_id, numbers, card, page, prefix)
        return _write(mlflow, active.info.run_id if run_id is None else run_id, numbers, card, page, prefix)
    except mlflow.exceptions.MlflowException as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise BadInput(
            f"MLflow did not take the result: {reason}. If the run holds another result already, log it to another "
            "run, or under another prefix, such as prefix='second'."
        ) from error


def _write(mlflow: Any, run: str, told: dict[str, Any], card: Card, page: str, prefix: str) -> str:
    entities, client, now = mlflow.entities, mlflow.MlflowClient(), int(1000 * time.time())
    numbers = list(flat_numbers(told, prefix))
    sentences = (f"{each.subject}: {each.text}" if each.subject else each.text for each in card.sentences)
    words = {
        "verdict": "\n".join(sentences),
        "notes": "\n".join(card.notes),
        "undefined": ", ".join(number.name for number in numbers if number.value is None),
    }
    parameters = {f"{prefix}.version": version("faithscope"), **dict(settings(told, prefix))}
    written = {  # parameters first: MLflow refuses others than the run has, and then nothing else is written
        "params": [entities.Param(name, _cut(value, _LONGEST_SETTING)) for name, value in parameters.items()],
        "tags": [entities.RunTag(f"{prefix}.{name}", _cut(text, _LONGEST_TAG)) for name, text in words.items() if text],
        "metrics": [entities.Metric(n.name, n.value, now, n.step) for n in numbers if n.value is not None],
    }
    for kind, items in written.items():
        for start in range(0, len(items), _MOST[kind]):
            client.log_batch(run, **{kind: items[start : start + _MOST[kind]]})
    artifacts = {
        "report.html": page,
        "result.json": json.dumps(told, allow_nan=False, indent=2),
        "summary.md": markdown.render(card),
    }
    for file, text in artifacts.items():
        client.log_text(run, text.encode(errors="replace").decode(), f"{prefix}/{file}")
    return run


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
