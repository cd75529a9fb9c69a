"""BLAS on one thread, while threads of our own multiply: small products gain nothing from its threads."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import Any

from faithscope.runtime.forks import anew_in_children


class _Limit:
    """The limit that all threads share: the first to ask sets it, the last to leave lifts it."""

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.limiter: Any = None

    def lift(self) -> None:
        if self.limiter is not None:
            self.limiter.restore_original_limits()


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
            limit.limiter = _libraries().limit(limits=1, user_api="blas")
        limit.users += 1
    try:
        yield
    finally:
        with limit.lock:
            limit.users -= 1
            if limit.users == 0:
                limit.lift()


@cache
def _libraries() -> Any:
    """The libraries that multiply: kept, since looking them up takes longer than limiting them."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _forget() -> None:
    """In a child process nobody is multiplying, and the lock of another thread will never be released."""
    global _LIMIT
    if _LIMIT.users:
        _LIMIT.lift()
    _LIMIT = _Limit()


anew_in_children(_forget)
