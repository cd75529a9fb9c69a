"""Choose where pairs are counted: on a GPU if there is one and the pairs are many, else on the CPU."""

import ctypes
import importlib.util
import math
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

import numpy as np

from faithscope.errors import BadInput, FaithscopeError, MissingExtra
from faithscope.explanations.distances.near import Near
from faithscope.inputs.array_types import Floats
from faithscope.inputs.chunks import over_chunks
from faithscope.runtime.warning import warn

Answer = TypeVar("Answer")

WORTH = 10**9  # pairs: the CPU counts fewer in less time than a GPU takes to start
METRICS = ("euclidean", "cityblock", "chebyshev", "cosine", "hamming")
DEVICES = ("auto", "cpu", "cuda")
_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
_HERE = 'pass device="cpu"'


def on_gpu(
    device: str, near: Callable[[], Near] | None, pairs: int, work: Callable[[ModuleType, Near], Answer]
) -> Answer | None:
    """The result of `work` on a GPU; None if the CPU is to do it instead.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
    near : callable, optional
        Gives centers, rows and radii; None if coverage is not by a distance.
    pairs : int
        Number of pairs to count.
    work : callable
        A function of the module `pairs` and of what `near` gives.
    """
    if device == "cpu" or (device == "auto" and (near is None or pairs < WORTH or not _in_sight())):
        return None
    try:
        points = _usable(near)
        gpu = _load()
    except FaithscopeError:
        if device == "cuda":
            raise
        return None
    try:
        gpu.wake()
        return work(gpu, points)
    except gpu.FAILURES as problem:
        told = str(problem).strip() or type(problem).__name__
        sentence = f"Counting on a GPU failed ({told.splitlines()[0].split('. ')[0].rstrip('.')})"
        if device == "cuda":
            raise FaithscopeError(f"{sentence}: {_HERE}.") from problem
        warn(f"{sentence}: counting on the CPU instead.", RuntimeWarning)
        return None


def _in_sight() -> bool:
    """Whether a GPU driver, torch and Triton are present; finds out without importing torch."""
    if any(importlib.util.find_spec(name) is None for name in ("torch", "triton")):
        return False
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        return bool(driver.cuInit(0) != _NO_DEVICE)
    except (OSError, AttributeError):
        return False


def _load() -> ModuleType:
    """The module that counts on a GPU."""
    needed = f'device="cuda" needs PyTorch with CUDA and Triton: pip install "faithscope[gpu]", or {_HERE}.'
    try:
        from faithscope.counting.gpu import pairs as _gpu
    except ImportError as problem:
        raise MissingExtra(needed) from problem
    if not _gpu.BUILT:
        raise MissingExtra(needed)
    return _gpu


def _usable(near: Callable[[], Near] | None) -> Near:
    """The points that a GPU is to count; raises if it cannot."""
    if near is None:
        raise BadInput(
            f'device="cuda" counts rows within a distance by a named metric (within, balls of counterfactuals and of '
            f"single prototypes), and no other relation: {_HERE}."
        )
    points = near()
    if points.metric not in METRICS:
        raise BadInput(f"metric={points.metric!r} is not counted on a GPU (only {', '.join(METRICS)} are): {_HERE}.")
    others = () if points.centers is points.rows else (points.centers,)
    largest = max(map(_largest, (points.rows, points.radii, *others)))
    if not (largest == 0 or 1e-100 < largest < 1e100) or np.any((points.radii > 0) & (points.radii < 1e-100)):
        raise BadInput(f"A GPU is not used for points or radii that are missing, below 1e-100 or above 1e100: {_HERE}.")
    return points


def _largest(part: Floats) -> float:
    """The largest absolute value, or infinity if one is missing; without a copy."""
    ends: list[float] = [0.0]

    def look(start: int, stop: int) -> None:
        chunk = part[start:stop]
        ends.extend((float(chunk.max(initial=0.0)), -float(chunk.min(initial=0.0))))

    over_chunks(look, len(part), part[:1].size)
    return math.inf if np.isnan(ends).any() else max(ends)
