"""Arrays of other libraries (torch, TensorFlow, JAX, CuPy) as arrays of NumPy."""

from typing import Any

import numpy as np

from faithscope.inputs.array_types import Array


def is_tensor(values: object) -> bool:
    """Whether this is an array of another library, and no table or column of one."""
    of_table = hasattr(values, "to_numpy") or hasattr(values, "column_names")
    return hasattr(values, "__array__") and not (of_table or isinstance(values, np.ndarray | np.generic))


def known_as(kind: type) -> tuple[str, str]:
    """The library and the name of a class, by which it is known without an import."""
    return kind.__module__.partition(".")[0], kind.__name__


def is_a(value: object, module: str, name: str) -> bool:
    """Whether this is an instance of a library's class, without importing the library."""
    return any((kind.__module__, kind.__name__) == (module, name) for kind in type(value).__mro__)


def to_host(values: Any) -> Array:
    """A tensor as an array of NumPy: without gradients, on the CPU, dense, and in a precision that NumPy has."""
    if getattr(values, "requires_grad", False) is True:
        values = values.detach()
    if getattr(values, "is_sparse", False) is True:
        values = values.to_dense()
    if callable(getattr(values, "cpu", None)):  # torch
        values = values.cpu()
    elif type(values).__module__.startswith("cupy"):
        values = values.get()
    if "bfloat16" in str(getattr(values, "dtype", "")):  # every such number is also one of 32 bits
        values = values.float() if callable(getattr(values, "float", None)) else np.asarray(values).astype(np.float32)
    return np.asarray(values)
