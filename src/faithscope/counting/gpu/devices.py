"""Where pairs are counted: on a GPU where there is one and it pays, here otherwise."""

import ctypes
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

import numpy as np

from faithscope.errors import BadInput, FaithscopeError, MissingExtra
from faithscope.explanations.distances.near import Near
from faithscope.runtime.caller import warn

Answer = TypeVar("Answer")

WORTH = 10**9  # pairs: fewer are counted here in less time than it takes to wake a GPU
METRICS = ("euclidean", "cityblock", "chebyshev", "cosine", "hamming")
_DEVICES = ("auto", "cpu", "cuda")
_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
_HERE = 'pass device="cpu"'


def on_gpu(
    device: str, near: Callable[[], Near] | None, pairs: int, work: Callable[[ModuleType, Near], Answer]
) -> Answer | None:
    """What some work gives on a GPU; None where it is to be done here.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
    near : callable, optional
        Gives centers, rows and radii; None where coverage is not by such a distance.
    pairs : int
        How many pairs there are to count.
    work : callable
        Takes the module `pairs` and what `near` gives.
    """
    if device not in _DEVICES:
        raise BadInput(f"device must be one of {', '.join(_DEVICES)}; got {device!r}.")
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
    """Whether there is a driver with a GPU and a torch to use it, without importing torch to see."""
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
    """The points, if a GPU can be given them."""
    if near is None:
        raise BadInput(
            f'device="cuda" counts rows within a distance (within, balls of counterfactuals and single prototypes), '
            f"and not what these explanations cover: {_HERE}."
        )
    points = near()
    if points.metric not in METRICS:
        raise BadInput(f"metric={points.metric!r} is not one a GPU is used for ({', '.join(METRICS)}): {_HERE}.")
    largest = np.max([np.abs(part).max(initial=0.0) for part in (points.centers, points.rows, points.radii)])
    if not (largest == 0 or 1e-100 < largest < 1e100) or np.any((points.radii > 0) & (points.radii < 1e-100)):
        raise BadInput(f"Points or radii are missing, or beyond 1e-100 and 1e100, where a GPU is not used: {_HERE}.")
    return points
