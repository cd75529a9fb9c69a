"""Threads: forks while they run, and BLAS on one thread while threads of our own multiply.

A forked child has one thread, and whoever held a lock in its parent will never release it. Small products gain nothing
from BLAS's threads.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, cached_property
from importlib.util import find_spec
from threading import Lock, RLock
from typing import Any


def anew_in_children(renew: Callable[[], object]) -> None:
    """Call this in every forked child before anything else."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)


def _free_properties() -> None:
    """Give every cached property of ours a lock of its own: before Python 3.12 all instances of a class share one."""
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "faithscope"]
    for kind in [kind for module in ours for kind in vars(module).values() if isinstance(kind, type)]:
        for held in vars(kind).values():
            if isinstance(held, cached_property):
                held.lock = RLock()  # type: ignore[attr-defined]


if sys.version_info < (3, 12):
    anew_in_children(_free_properties)


class _Limit:
    """The limit that all threads share: the first to ask sets it, the last to leave lifts it."""

    def __init__(self) -> None:
        self.lock, self.users, self.set = Lock(), 0, ExitStack()


_LIMIT = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread. Without threadpoolctl BLAS keeps its threads: the same numbers, more slowly.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    limit = _LIMIT
    with limit.lock:
        if limit.users == 0 and find_spec("threadpoolctl") is not None:
            limit.set.enter_context(_libraries().limit(limits=1, user_api="blas"))
        limit.users += 1
    try:
        yield
    finally:
        with limit.lock:
            limit.users -= 1
            if limit.users == 0:
                limit.set.close()


@cache
def _libraries() -> Any:
    """The libraries that multiply: kept, since looking them up takes longer than limiting them."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _forget() -> None:
    """In a child process nobody is multiplying, and the lock of another thread will never be released."""
    global _LIMIT
    _LIMIT.set.close()
    _LIMIT = _Limit()


anew_in_children(_forget)
