"""Verbs that take a log in place of explanations, predictions and rows; and what is said of old words for options."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from faithscope.errors import WrongType
from faithscope.runtime.memory import in_memory

P = ParamSpec("P")
R = TypeVar("R")
_NEW = {"groups": "by", "further": "unlabeled", "reference": "against"}  # words for options, by the old ones


def tells_new_words(verb: Callable[P, R]) -> Callable[P, R]:
    """A verb that refuses an option under its old name, in a sentence that says the new one."""

    @wraps(verb)
    def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        for old in sorted(kwargs.keys() & _NEW):
            raise WrongType(f"{old}= is an old word: pass {_NEW[old]}= instead.")
        return verb(*args, **kwargs)

    return asked


def is_log(thing: Any) -> bool:
    """Whether it knows its own explanations and predictions, and answers for them: `faithscope.Log`."""
    return hasattr(type(thing), "_answer")


def takes_log(instead: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A verb whose first argument may be a log, which then answers with the other arguments as options.

    It says what to do `instead` if memory runs out, as `in_memory` does.
    """

    def decorate(verb: Callable[P, R]) -> Callable[P, R]:
        known, computed = inspect.signature(verb), in_memory(instead)(verb)
        needs = "predictions" in known.parameters

        @tells_new_words
        @wraps(verb)
        def either(*args: P.args, **kwargs: P.kwargs) -> R:
            if args and is_log(args[0]):
                options = known.bind(*args, **kwargs).arguments
                log = options.pop(next(iter(known.parameters)))
                return log._answer(either, options)  # type: ignore[no-any-return]
            if needs and len(args) == 1 and "predictions" not in kwargs:
                name = verb.__name__
                raise WrongType(
                    f"fs.{name} got explanations alone: pass fs.{name}(explanations, predictions), or a log that says "
                    f"where both are, fs.{name}(fs.Log(table, prediction=..., explanation=...))."
                )
            return computed(*args, **kwargs)

        return either

    return decorate
