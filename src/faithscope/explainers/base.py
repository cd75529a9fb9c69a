"""The base of all explainers, as scikit-learn's estimators have one: repr, get_params, progress, row labels."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import fields
from functools import wraps
from inspect import isfunction, signature
from types import ModuleType
from typing import Any

import numpy as np

from faithscope.agreements import Agreement
from faithscope.errors import WrongType
from faithscope.explanations.base import Explanations
from faithscope.inputs.rows import rows_of
from faithscope.runtime.messages import Watch

Progress = Callable[[int, int], None]  # called with the number of rows done, and of all rows

_PLAIN = (type(None), bool, int, float, str, np.bool_, np.number)
_MOST = 12  # values of a list that are written out


class Explainer:
    """Base of all explainers: repr and `get_params`, from the arguments of the constructor.

    Explanations that `explain` gives have the row labels of the table; `progress` may be True as well as a function.

    Reports, logs and the command line show the repr of an explainer, and they must never show training rows. So the
    repr writes out plain values only: it shows rows by their shape and a model, whose own repr may hold rows, by its
    name.

    Examples
    --------
    >>> from faithscope.explainers import NearestNeighbors
    >>> NearestNeighbors([[1.0, 2.0], [3.0, 4.0]], k=2)
    NearestNeighbors(X_train=(2, 2), k=2, metric='euclidean')
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            told = signature(method).parameters.get("progress") if isfunction(method) else None
            if told is not None and told.kind is told.KEYWORD_ONLY:
                setattr(cls, name, _showing_progress(method))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor by name, as scikit-learn's estimators give them.

        ``type(explainer)(**explainer.get_params())`` gives the same explanations.

        Parameters
        ----------
        deep : bool
            Accepted because scikit-learn passes it. Parameters of parameters are never listed.
        """
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def __repr__(self) -> str:
        return settings_line(self, self.get_params())


def blocks(
    rows: int, step: int, progress: Progress | None = None, more: Callable[[int], None] = lambda rows: None
) -> Iterator[slice]:
    """Consecutive slices of at most `step` rows (at least one).

    When the caller is done with a slice, `progress` is called with the rows done and all rows, `more` with its length.

    Examples
    --------
    >>> [(block.start, block.stop) for block in blocks(5, 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, step)
    for start in range(0, rows, step):
        block = slice(start, min(start + step, rows))
        yield block
        more(block.stop - start)
        if progress is not None:
            progress(block.stop, rows)


def _showing_progress(explain: Callable[..., Any]) -> Callable[..., Any]:
    """The same method, whose `progress` may also be True or False, as that of `evaluate`, and with row labels."""

    @wraps(explain)
    def shown(self: Any, X: Any, *given: Any, progress: Any = None, **options: Any) -> Any:
        if progress is not None and not callable(progress) and not isinstance(progress, bool):
            raise WrongType(
                f"progress must be True, False, None or a function (done, total); got {type(progress).__name__}."
            )
        told = isinstance(progress, bool)
        phase = f"explaining with {type(self).__name__}"
        with Watch(progress).phase(phase, rows_of(X)) if told else nullcontext(progress) as step:
            made = explain(self, X, *given, progress=step, **options)
        return made._labelled(X) if isinstance(made, Explanations) else made

    return shown


def settings_line(thing: Any, settings: Mapping[str, Any]) -> str:
    """A class and its settings in one line, without any rows."""
    return f"{type(thing).__name__}({', '.join(f'{name}={_shown(name, value)}' for name, value in settings.items())})"


def line_of(explainer: Any) -> str:
    """Any explainer in one line: the fields of a plain dataclass, without rows; otherwise the explainer's own repr."""
    wrapped = getattr(type(explainer).__repr__, "__wrapped__", None)
    if wrapped is not None and wrapped.__code__.co_filename == "<string>":  # written by dataclass
        names = [field.name for field in fields(explainer) if field.repr]
        return settings_line(explainer, {name: getattr(explainer, name) for name in names})
    return repr(explainer)


def _shown(name: str, value: Any) -> str:
    if isinstance(value, _PLAIN):
        return repr(value.item() if isinstance(value, np.generic) else value)
    if name.startswith("X") or hasattr(value, "shape"):
        shape = value.shape if hasattr(value, "shape") else np.array(value, object).shape
        return str(tuple(map(int, shape)))
    if isinstance(value, Agreement):
        return line_of(value)
    if isinstance(value, list | tuple | set | frozenset) and all(isinstance(item, _PLAIN) for item in value):
        return repr(value) if len(value) <= _MOST else f"<{len(value)} values>"
    return _name(value)


def _name(value: Any) -> str:
    """A function by its name, a method with its owner's class, anything else by its class."""
    name, owner = getattr(value, "__name__", type(value).__name__).strip("<>"), getattr(value, "__self__", None)
    bound = owner is not None and not isinstance(owner, type | ModuleType)
    return f"{type(owner).__name__}.{name}" if bound else name
