"""Choose where pairs are counted: on a GPU if there is one and the pairs are many, else on the CPU."""

import ctypes
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from faithscope.errors import BadInput, FaithscopeError, MissingExtra
from faithscope.explanations.distances.tiles import Near
from faithscope.runtime.messages import warn

if TYPE_CHECKING:
    from faithscope.counting.gpu.pairs import DevicePairs

Answer = TypeVar("Answer")

WORTH = 10**9  # pairs: the CPU counts fewer in less time than a GPU takes to start
METRICS = ("euclidean", "cityblock", "chebyshev")
DEVICES = ("auto", "cpu", "cuda")
_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
HERE = 'pass device="cpu"'


def on_gpu(device: str, near: Near, pairs: int, work: Callable[[type["DevicePairs"]], Answer]) -> Answer | None:
    """The result of `work` with the class that counts on a GPU; None if the CPU is to do it instead.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
    near : Near
        The points to count.
    pairs : int
        Number of pairs to count.
    """
    if device == "cpu" or (device == "auto" and (pairs < WORTH or not _in_sight())):
        return None
    try:
        if near.metric not in METRICS:
            raise BadInput(f"metric={near.metric!r} is not counted on a GPU (only {', '.join(METRICS)} are): {HERE}.")
        largest = [max(part.max(initial=0.0), -part.min(initial=0.0)) for part in (near.rows, near.radii, near.centers)]
        if not all(size == 0 or 1e-100 < size < 1e100 for size in largest):
            raise BadInput(f"A GPU is not used for points or radii that are missing, or so small or large: {HERE}.")
        gpu = _load()
    except FaithscopeError:
        if device == "cuda":
            raise
        return None
    try:
        gpu.wake()
        return work(gpu.DevicePairs)
    except gpu.FAILURES as problem:
        told = str(problem).strip() or type(problem).__name__
        sentence = f"Counting on a GPU failed ({told.splitlines()[0].split('. ')[0].rstrip('.')})"
        if device == "cuda":
            raise FaithscopeError(f"{sentence}: {HERE}.") from problem
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
    needed = f'device="cuda" needs PyTorch with CUDA and Triton: pip install "faithscope[gpu]", or {HERE}.'
    try:
        from faithscope.counting.gpu import pairs as _gpu
    except ImportError as problem:
        raise MissingExtra(needed) from problem
    if not _gpu.BUILT:
        raise MissingExtra(needed)
    return _gpu
