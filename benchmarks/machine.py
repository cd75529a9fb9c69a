"""What this machine can do at best, measured in the same run as the jobs that are held against it."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from time import perf_counter

import numpy as np

_READ = 2**25  # numbers, 256 MB: no cache holds them
_SIDE = 2_048  # of the matrices multiplied
_RUNS = 5


def _best(work: Callable[[], object]) -> float:
    """Seconds of the fastest of a few runs."""
    seconds = []
    for _ in range(_RUNS):
        start = perf_counter()
        work()
        seconds.append(perf_counter() - start)
    return min(seconds)


@cache
def bandwidth() -> float:
    """Bytes per second that all cores together read from memory and add up."""
    cores = os.cpu_count() or 1
    parts = np.array_split(np.ones(_READ), cores)
    with ThreadPoolExecutor(cores) as pool:
        return 8 * _READ / _best(lambda: list(pool.map(np.sum, parts)))


@cache
def product_rate() -> float:
    """Operations per second of a large matrix product in single precision, on all cores."""
    a, b = np.random.default_rng(0).standard_normal((2, _SIDE, _SIDE), np.float32)
    return 2 * _SIDE**3 / _best(lambda: a @ b)


def reading(*arrays: np.ndarray) -> dict[str, float]:
    """The seconds in which these arrays can be read once."""
    return reading_bytes(sum(array.nbytes for array in arrays))


def reading_bytes(count: float) -> dict[str, float]:
    """The seconds in which so many bytes can be read."""
    return {"memory": count / bandwidth()}


def multiplying(operations: float) -> dict[str, float]:
    """The seconds of so many additions and multiplications in a plain matrix product."""
    return {"products": operations / product_rate()}


def describe_rates() -> str:
    """The rates in one line."""
    return f"at best {bandwidth() / 1e9:,.1f} GB/s read, {product_rate() / 1e9:,.0f} billion operations/s multiplied"
