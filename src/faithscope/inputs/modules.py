"""Models that do not take rows as they are: torch modules, and boosters of XGBoost."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

from faithscope.inputs.arrays import is_frame, to_array
from faithscope.inputs.numbers import to_matrix


def module_function(module: Any) -> Callable[[Any], Any]:
    """The function from rows to answers that a torch module computes; tables and arrays become tensors.

    The module answers in evaluation mode, without gradients, and is afterwards as it was before.
    """
    import torch

    def answers(rows: Any) -> Any:
        with in_evaluation(module), torch.no_grad():
            outputs = module(to_tensor(module, rows))
        if not torch.is_tensor(outputs):
            return outputs
        return (outputs.float() if outputs.dtype == torch.bfloat16 else outputs).cpu()

    return answers


@contextmanager
def in_evaluation(module: Any) -> Iterator[None]:
    """A torch module in evaluation mode, and afterwards as it was before; anything else as it is."""
    parts = [(part, part.training) for part in module.modules()] if hasattr(module, "modules") else []
    for part, _ in parts:
        part.training = False
    try:
        yield
    finally:
        for part, training in parts:
            part.training = training


def booster_function(booster: Any) -> Callable[[Any], Any]:
    """The function from rows to answers that a booster of XGBoost computes; rows become a DMatrix."""
    import xgboost

    def answers(rows: Any) -> Any:
        if isinstance(rows, xgboost.DMatrix):
            return booster.predict(rows)
        table = np.asarray(rows) if isinstance(rows, list) else rows
        names = None if is_frame(table) else booster.feature_names  # rows without names have those it was fitted with
        return booster.predict(xgboost.DMatrix(table, feature_names=names, enable_categorical=True))

    return answers


def to_tensor(module: Any, rows: Any) -> Any:
    """Numbers, with the precision and on the device of the module's own; whole numbers of a tensor stay whole."""
    import torch

    own: Iterable[Any] = chain(module.parameters(), module.buffers()) if hasattr(module, "parameters") else ()
    like = next((tensor for tensor in own if tensor.is_floating_point()), torch.empty(0))
    if torch.is_tensor(rows):
        return rows.detach().to(like.device, like.dtype if rows.is_floating_point() else rows.dtype)
    array = None if is_frame(rows) else to_array(rows, "Rows")
    numbers = array if array is not None and array.ndim > 2 else to_matrix(rows, "Rows")[0]  # images stay images
    return torch.as_tensor(numbers, dtype=like.dtype, device=like.device)
