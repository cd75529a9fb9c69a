"""Estimate memory before large allocations and raise TooLarge with advice, instead of being killed by the system."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path

from faithscope.errors import BadInput, TooLarge

SMALL = 2**26  # bytes: smaller requests are never checked
GIB = 2**30
FEWER_ROWS = "sample rows, or let audit() count them in DuckDB"  # advice for too many rows
LIMIT = "FAITHSCOPE_MEMORY"  # GiB that may be used, instead of what this machine seems to have

_SYSTEM = Path("/")


def need(size: float, what: str, instead: str) -> None:
    """Raise TooLarge if so many bytes do not fit in memory, before they are allocated.

    Parameters
    ----------
    size : float
        Bytes, including those of intermediate results.
    what : str
        What needs them, with its numbers: "Bitmaps of 6,000 rules over 10,000 labels".
    instead : str
        What to do instead.

    Examples
    --------
    >>> need(1000, "A small array", "take fewer rows")
    """
    if size < SMALL:
        return
    room = available()
    if size > room:
        raise TooLarge(f"{what} need about {_gib(size)} of memory, and {_gib(room)} are left: {instead}.")


@contextmanager
def in_memory(instead: str) -> Iterator[None]:
    """Turns a MemoryError, whoever raised it, into a TooLarge with this advice; of a block, or of a function."""
    try:
        yield
    except TooLarge:
        raise
    except MemoryError as problem:
        raise TooLarge(ran_out(problem, instead)) from problem


def ran_out(problem: MemoryError, instead: str) -> str:
    """A MemoryError as a sentence; NumPy's says what was to be allocated."""
    wanted = " ".join(str(problem).split()).rstrip(".")
    return f"Memory ran out{f' ({wanted})' if wanted else ''}, with {_gib(available())} left: {instead}."


def available() -> float:
    """Bytes that this process may still take: the least that the machine, its container and its own limit leave.

    Infinite if nothing can be found out (Windows). If `FAITHSCOPE_MEMORY` is set, in GiB, it replaces all of these.
    """
    limit = os.environ.get(LIMIT)
    if limit is not None:
        try:
            room = float(limit)
        except ValueError:
            room = -1.0
        if not room > 0:
            raise BadInput(f"{LIMIT} must be the number of GiB that may be used, above 0; got {limit!r}.")
        return max(0.0, room * GIB - _pages(1))
    return max(0.0, min([_left_on_machine(), _left_to_process(), *_left_to_groups()]))


def _gib(size: float) -> str:
    size = min(size, 2.0**100)  # a whole number may be larger than any float
    return f"{size / GIB:,.1f} GiB" if size < 1000 * GIB else f"{size / GIB:,.0f} GiB"


def _read(place: str) -> str:
    """A file that the system keeps about itself; empty if it keeps none."""
    try:
        return (_SYSTEM / place).read_text()
    except OSError:
        return ""


def _number(place: str, name: str = "") -> float:
    """The number after a name at the beginning of a line of a file; infinity if there is none, as in "max"."""
    match = re.search(rf"^{name}\s*(\d+)", _read(place), re.MULTILINE)
    return float(match[1]) if match else inf


def _left_on_machine() -> float:
    kilobytes = _number("proc/meminfo", "MemAvailable:")
    if kilobytes < inf:
        return 1024 * kilobytes
    try:  # all there is, if nothing says what is left
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return inf


def _left_to_process() -> float:
    """What the limit on this process's addresses leaves (ulimit -v)."""
    try:
        import resource
    except ImportError:  # Windows
        return inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return inf if limit == resource.RLIM_INFINITY else limit - _pages(0)


def _pages(which: int) -> float:
    """Bytes of addresses (0) or of memory (1) that this process holds."""
    numbers = _read("proc/self/statm").split()
    return float(numbers[which]) * os.sysconf("SC_PAGE_SIZE") if numbers else 0.0


def _left_to_groups() -> Iterator[float]:
    """What the control group of this process leaves, such as a container's limit, and each group above it."""
    place = re.search(r"^0::(/.*)$", _read("proc/self/cgroup"), re.MULTILINE)
    inner = Path(place[1] if place else "/")
    # Inside a container its own group is mounted as the root.
    for group in (inner, *inner.parents):
        most = _number(f"sys/fs/cgroup{group}/memory.max")
        if most < inf:
            spare = _number(f"sys/fs/cgroup{group}/memory.stat", "inactive_file")  # of files, given back if asked for
            yield most - _number(f"sys/fs/cgroup{group}/memory.current") + (spare if spare < inf else 0.0)
