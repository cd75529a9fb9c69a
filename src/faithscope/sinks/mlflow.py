"""A result in MLflow: numbers as metrics, settings as parameters, the page and the JSON as artifacts."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any, TypeVar

from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.sinks import markdown
from faithscope.sinks.card import Card
from faithscope.sinks.flat_numbers import flat_numbers, nameable, settings

Item = TypeVar("Item")

_METRICS, _WORDS = 1000, 100  # at most so many per request
_LONGEST_SETTING, _LONGEST_TAG = 500, 5000  # characters that every server takes


@dataclass(frozen=True)
class Told:
    """What is written of one result: its numbers, its card and its page."""

    numbers: dict[str, Any]
    card: Card
    page: str


def log(told: Told, run_id: str | None, prefix: str) -> str:
    """Write a result to a run and return the id of the run: the one named, the active one, or a new one."""
    mlflow = _imported()
    prefix = _checked_prefix(prefix)
    try:
        with _run(mlflow, run_id) as run:
            _write(mlflow, run, told, prefix)
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


def _checked_prefix(prefix: Any) -> str:
    if not isinstance(prefix, str):
        raise WrongType(f"prefix must be a text that names begin with; got {type(prefix).__name__}.")
    parts = prefix.split(".")
    if not prefix or any([part] != nameable([part]) for part in parts):
        raise BadInput(f"prefix must be letters, digits, dashes and dots, such as 'wine.shap'; got {prefix!r}.")
    return prefix


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


def _write(mlflow: Any, run: str, told: Told, prefix: str) -> None:
    entities, client, now = mlflow.entities, mlflow.MlflowClient(), int(1000 * time.time())
    parameters = _parameters(told, prefix)
    _refuse_other(client.get_run(run).data.params, parameters)
    numbers = list(flat_numbers(told.numbers, prefix))
    metrics = [entities.Metric(n.name, n.value, now, n.step) for n in numbers if n.value is not None]
    tags = _tags(told, [number.name for number in numbers if number.value is None], prefix)
    for part in _parts(metrics, _METRICS):
        client.log_batch(run, metrics=part)
    for part in _parts(list(parameters.items()), _WORDS):
        client.log_batch(run, params=[entities.Param(*pair) for pair in part])
    client.log_batch(run, tags=[entities.RunTag(*pair) for pair in tags.items()])
    numbers_told = json.dumps(told.numbers, allow_nan=False, indent=2)
    artifacts = {"report.html": told.page, "result.json": numbers_told, "summary.md": markdown.render(told.card)}
    for file, text in artifacts.items():
        client.log_text(run, text.encode(errors="replace").decode(), f"{prefix}/{file}")


def _parameters(told: Told, prefix: str) -> dict[str, str]:
    known = {f"{prefix}.version": version("faithscope"), **dict(settings(told.numbers, prefix))}
    return {name: _cut(value, _LONGEST_SETTING) for name, value in known.items()}


def _refuse_other(known: dict[str, str], parameters: dict[str, str]) -> None:
    """Raise if the run holds another result under these names, before anything is written."""
    other = next((name for name, value in parameters.items() if known.get(name, value) != value), None)
    if other is not None:
        raise BadInput(
            f"The run already holds {other} = {known[other]!r}, and this result has {parameters[other]!r}: "
            "log it to another run, or under another prefix, such as prefix='second'."
        )


def _tags(told: Told, undefined: list[str], prefix: str) -> dict[str, str]:
    sentences = (f"{each.subject}: {each.text}" if each.subject else each.text for each in told.card.sentences)
    words = {
        "verdict": "\n".join(sentences),
        "notes": "\n".join(told.card.notes),
        "undefined": ", ".join(undefined),
    }
    return {f"{prefix}.{name}": _cut(text, _LONGEST_TAG) for name, text in words.items() if text}


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _parts(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))
