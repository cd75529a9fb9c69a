"""Arrays of other libraries (torch, TensorFlow, JAX, CuPy, anything with DLPack) as arrays of NumPy."""

from typing import Any

import numpy as np

from faithscope.errors import WrongType
from faithscope.inputs.array_types import Array


def is_tensor(values: object) -> bool:
    """Whether this is an array of another library, and no table or column of one."""
    speaks = hasattr(values, "__array__") or hasattr(values, "__dlpack__")
    return speaks and not isinstance(values, np.ndarray | np.generic) and not hasattr(values, "to_numpy")


def is_torch_tensor(values: object) -> bool:
    """Whether this is a tensor of torch."""
    return any(kind.__module__ == "torch" and kind.__name__ == "Tensor" for kind in type(values).__mro__)


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
    return np.asarray(values) if hasattr(values, "__array__") else _from_dlpack(values)


def _from_dlpack(values: Any) -> Array:
    try:
        return np.from_dlpack(values)
    except (BufferError, RuntimeError, TypeError, ValueError) as why:
        raise WrongType(
            f"The array came as a {type(values).__name__}, which NumPy cannot take over ({why}): copy it to the CPU "
            "first."
        ) from None
