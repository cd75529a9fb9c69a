"""Explainers of other libraries as explainers of rows: one file per library, none of which is imported."""

from importlib import import_module
from inspect import signature
from typing import Any


def adapted(explainer: Any, model: Any, run: int | None = None) -> Any:
    """An explainer of another library as one with ``explain(X)``, which asks this model; any other as it is.

    Parameters
    ----------
    explainer : object
        Explainers of shap, lime, anchor-exp, dice-ml, captum and InterpretML are adapted.
    model : model or function
        Whose predictions are explained, if the explainer does not hold a model of its own.
    run : int, optional
        Which of several runs asks it: draws that it takes no seed for then differ between runs.
    """
    library = library_of(explainer)
    if library is None:
        return explainer
    # Imported here, since they load all explainers.
    label_of = import_module("faithscope.explainers.classes").label_of
    foreign = getattr(import_module(f"{__name__}.{library}"), library.capitalize())
    label = label_of(explainer if library == "interpret" else model, None)
    return foreign(explainer, model if foreign.asks else None, run, label)


def library_of(explainer: Any) -> str | None:
    """The library that an explainer is of, by its methods; None if it explains rows as it is."""
    if isinstance(explainer, type):
        return None
    # First of all, since some of shap's have an `explain`, of one row.
    if callable(explainer) and any(callable(getattr(explainer, name, None)) for name in ("shap_values", "explain_row")):
        return "shap"
    if callable(getattr(explainer, "explain", None)):
        return None
    by_row = getattr(explainer, "explain_instance", None)
    if callable(by_row):
        return "anchors" if "threshold" in signature(by_row).parameters else "lime"
    if callable(getattr(explainer, "generate_counterfactuals", None)):
        return "dice"
    if callable(getattr(explainer, "attribute", None)) and hasattr(explainer, "forward_func"):
        return "captum"
    return "interpret" if callable(getattr(explainer, "explain_local", None)) else None
