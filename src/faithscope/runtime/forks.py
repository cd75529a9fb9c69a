"""Forks while threads run: a child has one thread, and whoever held a lock in its parent will never release it."""

import os
import sys
from collections.abc import Callable
from functools import cached_property
from threading import RLock


def anew_in_children(renew: Callable[[], object]) -> None:
    """Call this in every forked child before anything else."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)


def _free_properties() -> None:
    """Give every cached property of ours a lock of its own: before Python 3.12 all instances of a class share one."""
    for name, module in list(sys.modules.items()):
        kinds = vars(module).values() if name.partition(".")[0] == "faithscope" else ()
        for held in [held for kind in kinds if isinstance(kind, type) for held in vars(kind).values()]:
            if isinstance(held, cached_property):
                held.lock = RLock()  # type: ignore[attr-defined]


if sys.version_info < (3, 12):
    anew_in_children(_free_properties)
