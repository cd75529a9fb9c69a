"""Options under the names they had."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from faithscope.errors import BadInput
from faithscope.runtime.warning import warn

P = ParamSpec("P")
R = TypeVar("R")


def renamed(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that reads options under old names too, with a warning that says the new one.

    Examples
    --------
    >>> renamed(groups="by")(lambda *, by: by)(by="sex")
    'sex'
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def reading(*args: P.args, **kwargs: P.kwargs) -> R:
            read_old(names, kwargs)
            return function(*args, **kwargs)

        return reading

    return decorate


def read_old(names: Mapping[str, str], options: dict[str, Any]) -> None:
    """Put what was passed under an old name under its new one, with a warning."""
    for old, new in names.items():
        if old not in options:
            continue
        if new in options:
            raise BadInput(f"{old}= is an old word for {new}=, and both were passed: pass {new}= alone.")
        warn(f"{old}= is an old word: pass {new}= instead.", FutureWarning)
        options[new] = options.pop(old)
