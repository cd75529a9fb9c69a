"""Systems named on the command line: a model and its explainers in a module of the user's own."""

import sys
from collections.abc import Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

from faithscope.errors import BadInput, MissingExtra
from faithscope.evaluation.asker import called
from faithscope.inputs.checks import text_names

_SHAPES = "(model, explainer), (model, {name: explainer, ...}), or a function without arguments that returns either"


def load_system(path: str) -> tuple[Any, dict[str, Any]]:
    """The model that ``module:attribute`` names, and its explainers by name; the module may lie in the working folder.

    The attribute is ``(model, explainer)``, ``(model, {name: explainer, ...})``, or a function without arguments that
    returns either.
    """
    module, _, attribute = path.partition(":")
    if not module or not attribute:
        raise BadInput(f"--system must be module:attribute, such as my_module:system; got {path!r}.")
    value = getattr(_imported(module), attribute, None)
    if value is None:
        raise BadInput(f"The module {module!r} has no {attribute!r}: name something that it defines.")
    if callable(value):
        try:
            signature(value).bind()
        except TypeError:
            raise BadInput(f"{path} takes arguments: it must be {_SHAPES}.") from None
        value = value()
    return to_system(value, path)


def to_system(pair: Any, path: str) -> tuple[Any, dict[str, Any]]:
    """A pair of a model and its explainers, by name; `path` names it in errors."""
    if not isinstance(pair, tuple) or len(pair) != 2:
        length = f" of {len(pair)}" if isinstance(pair, tuple) else ""
        raise BadInput(
            f"{path} must be {_SHAPES}, without rows, which --data names; got {type(pair).__name__}{length}."
        )
    model, explainers = pair
    if not isinstance(explainers, Mapping):
        explainers = {called(explainers): explainers}
    if not explainers:
        raise BadInput(f"{path} has no explainer: give at least one.")
    return model, text_names(explainers)


def _imported(module: str) -> ModuleType:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name and not (module == error.name or module.startswith(f"{error.name}.")):
            raise MissingExtra(f"The module {module!r} needs {error.name!r}, which is not installed.") from None
        raise BadInput(f"No module is called {module!r}: run this where it can be imported.") from None
