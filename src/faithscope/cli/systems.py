"""Systems named on the command line: a model and its explainers in a module of the user's own."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from faithscope.errors import BadInput, MissingExtra
from faithscope.evaluation.evaluate import name_of

_SHAPES = "(model, explainer), (model, {name: explainer, ...}), or a function without arguments that returns either"


@dataclass(frozen=True)
class NamedSystem:
    """A model and its explainers by name."""

    predict: Any
    explainers: dict[str, Any]


def load_system(named: str) -> NamedSystem:
    """The system that ``module:attribute`` names; the module may lie in the working folder.

    The attribute is ``(model, explainer)``, ``(model, {name: explainer, ...})``, or a function without arguments that
    returns either.
    """
    module, _, attribute = named.partition(":")
    if not module or not attribute:
        raise BadInput(f"--system must be module:attribute, such as my_module:system; got {named!r}.")
    found = getattr(_imported(module), attribute, None)
    if found is None:
        raise BadInput(f"The module {module!r} has no {attribute!r}: name something that it defines.")
    return to_system(_called(found, named) if callable(found) else found, named)


def _called(function: Any, named: str) -> Any:
    wanted = [one for one in signature(function).parameters.values() if one.default is one.empty]
    if any(one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in wanted):
        raise BadInput(f"{named} takes arguments: it must be {_SHAPES}.")
    return function()


def to_system(found: Any, named: str) -> NamedSystem:
    """A pair of a model and its explainers as a system."""
    if not isinstance(found, tuple) or len(found) != 2:
        raise BadInput(f"{named} must be {_SHAPES}; got {type(found).__name__}.")
    predict, explainers = found
    if not isinstance(explainers, Mapping):
        explainers = {name_of(explainers): explainers}
    if not explainers:
        raise BadInput(f"{named} has no explainer: give at least one.")
    return NamedSystem(predict, {str(name): one for name, one in explainers.items()})


def _imported(module: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name and not (module == error.name or module.startswith(f"{error.name}.")):
            raise MissingExtra(f"The module {module!r} needs {error.name!r}, which is not installed.") from None
        raise BadInput(f"No module is called {module!r}: run this where it can be imported.") from None
