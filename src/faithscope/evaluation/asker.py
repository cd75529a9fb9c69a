"""Asker: calls models and explainers, through a cache and with progress if wanted; Identity: who explained."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.evaluation.cache import Cache
from faithscope.evaluation.outputs import Output
from faithscope.explainers.base import line_of
from faithscope.explanations import Explanations
from faithscope.explanations.base import join_all
from faithscope.explanations.importances import Importances
from faithscope.explanations.keys import Records
from faithscope.inputs.alignment import is_fresh, made_in_order
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import frame_names, is_frame
from faithscope.inputs.columns import default_names
from faithscope.inputs.models import Model, framed, refuse_class, rows_of_its_own
from faithscope.inputs.rows import rows_of, take_rows
from faithscope.readers import as_explanations
from faithscope.readers.shap import recognizes as is_of_shap
from faithscope.runtime.messages import Step, Watch

_INSTEAD = {  # of explainers of other libraries, by their methods: a function of rows that asks them
    "explain_instance": "lambda X: [explainer.explain_instance(row, model.predict_proba) for row in np.asarray(X)]",
    "explain_local": "explainer.explain_local",
    "attribute": "lambda X: explainer.attribute(torch.as_tensor(X), target=1)",
    "generate_counterfactuals": 'lambda X: explainer.generate_counterfactuals(X, 1, desired_class="opposite")',
}


@dataclass(frozen=True)
class Asker:
    """Calls models and explainers, each with its own copy of the rows; through a cache and with progress if wanted."""

    cache: Cache | None
    watch: Watch
    questions: dict[int, str | None] = field(default_factory=dict)

    def knowing(self, model: Any, *explainers: Any) -> "Asker":
        """The same, after taking the fingerprints of model and explainers: a call may change them."""
        if self.cache is None:
            return self
        for thing, function in [(model, Model(model).find()), *((e, function_of(e)) for e in explainers)]:
            if function is not None:
                name = getattr(thing, "__name__", type(thing).__name__)
                self.questions[id(thing)] = self.cache.question(f"of {name}", thing)
        return self

    def predictions(self, model: Any, X: Any, output: Output) -> Array:
        """What a model answers for rows, or the ready predictions in its place, as the agreement compares them."""
        function = output.function(model)
        if function is None:
            return output.read(output.check(model))
        n = rows_of(X)

        def ask(rows: Any) -> Array:
            with framed("predicting", 0, n, n):
                answers = function(rows_of_its_own(rows))
                made_in_order(rows, answers, "predictions")
                return output.check(answers)

        with self.watch.phase("predicting", n):
            if self.cache is None:
                return output.read(ask(X))
            kind = "numbers" if output.agreement.of_numbers else "predictions"
            return output.read(self.cache.predictions(self.questions.get(id(model)), ask, X, kind))

    def explanations(self, explainer: Any, X: Any, name: str) -> Explanations:
        """The explanations of an explainer for rows, or the ready explanations that stand in its place."""
        if is_ready(explainer):
            return _over_columns(as_explanations(explainer), X)
        function: Any = function_of(explainer)
        told, n = _takes_progress(function), rows_of(X)

        def explain(rows: Any, start: int, step: Step) -> Explanations:
            with framed(f"explaining with {name}", start, rows_of(rows), n):
                copied = rows_of_its_own(rows)
                how = {"progress": lambda done, _: step(start + done, n)} if told else {}
                answers = as_explanations(function(copied, **how))
                made_in_order(rows, answers, "explanations")
                answers = _over_columns(answers, rows)
                return answers._with(index=None) if is_fresh(answers.index) else answers

        with self.watch.phase(f"explaining with {name}", n) as step:
            if self.cache is None:
                return explain(X, 0, step)
            tokenizer, question = getattr(explainer, "tokenizer", None), self.questions.get(id(explainer))
            # A plain function may look at all rows at once; an explainer explains each row by itself, by its contract.
            many, parts = n if function is explainer else min(n, self.cache.rows), []
            for start in range(0, max(1, n), max(1, many)):
                part = take_rows(X, np.arange(start, min(start + many, n))) if n > many else X
                ask = partial(explain, start=start, step=step)
                parts.append(self.cache.explanations(question, ask, part, tokenizer=tokenizer))
                step(min(start + many, n), n)
            return join_all(parts)


def _takes_progress(explain: Any) -> bool:
    """Whether an explainer takes a function to report its progress to."""
    try:
        return "progress" in signature(explain).parameters
    except (TypeError, ValueError):
        return False


def _over_columns(explanations: Explanations, X: Any) -> Explanations:
    """The explanations with the names of the table's columns, if they have none and are of as many features."""
    if not is_frame(X) or not isinstance(explanations, Importances | Records):
        return explanations
    own, columns = explanations.names, frame_names(X)
    width = len(own) if own else explanations.values.shape[1]
    unnamed = own in (None, default_names(width)) and not getattr(explanations, "shape", None)
    known = len(set(columns)) == width == len(columns) and columns != tuple(map(str, range(width)))
    return explanations._with(names=columns) if unnamed and known else explanations


def called(explainer: Any) -> str:
    """The name of an explainer: that of the function or of the object's class."""
    if is_ready(explainer):
        return "explanations"
    return str(getattr(explainer, "__name__", type(explainer).__name__)).strip("<>")


def described(explainer: Any) -> str:
    """The settings of an explainer in one line, without training rows; its name if its repr has several lines."""
    if is_ready(explainer):
        return "ready explanations"
    kind: Any = type(explainer)
    if kind.__repr__ is object.__repr__ or explainer is function_of(explainer):
        return called(explainer)
    line = line_of(explainer)
    return line if len(line.splitlines()) == 1 else called(explainer)


def is_ready(explainer: Any) -> bool:
    """Whether these are explanations, rather than an explainer that makes them."""
    if function_of(explainer) is not None:
        return False
    for method, instead in _INSTEAD.items():
        if callable(getattr(explainer, method, None)):
            raise BadInput(
                f"{type(explainer).__name__} has no explain(X): pass a function of rows that asks it, such as "
                f"{instead}."
            )
    return True


def function_of(explainer: Any) -> Callable[..., Any] | None:
    """The method ``explain``, or the function itself; None for ready explanations."""
    # Some explainers of shap have an `explain`, of one row.
    of_shap = hasattr(explainer, "shap_values") or hasattr(explainer, "explain_row")
    function = None if of_shap else getattr(explainer, "explain", None)
    return function if callable(function) else explainer if callable(explainer) else None


def refuse_swapped(model: Any, explainer: Any, X: Any = None) -> None:
    """Raise if a model and an explainer seem to be swapped, or one is a class in place of its instance."""
    refuse_class(model)
    refuse_class(explainer)
    explains, predicts = callable(getattr(model, "explain", None)), callable(getattr(explainer, "predict", None))
    explaining = isinstance(model, Explanations) or is_of_shap(model) or (explains and Model(model).find() is None)
    no_rows = callable(X) or callable(getattr(X, "predict", None)) or is_of_shap(X)
    if explaining or (predicts and is_ready(explainer)) or no_rows:
        kinds = ", ".join(type(each).__name__ for each in (model, explainer, X))
        raise BadInput(
            f"These are no model, explainer and rows, or seem to be swapped ({kinds}): pass (model, explainer, X)."
        )
