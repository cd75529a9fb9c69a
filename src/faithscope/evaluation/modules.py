"""A torch module as a model: in evaluation mode, without gradients, and afterwards as it was before."""

from collections.abc import Callable
from itertools import chain
from typing import Any

from faithscope.inputs.numbers import to_matrix


def module_function(module: Any) -> Callable[[Any], Any]:
    """The function from rows to answers that a torch module computes; tables and arrays become tensors."""
    import torch

    def answers(rows: Any) -> Any:
        parts = [(part, part.training) for part in module.modules()]
        module.eval()
        try:
            with torch.no_grad():
                outputs = module(rows if torch.is_tensor(rows) else _to_tensor(module, rows))
        finally:
            for part, training in parts:
                part.training = training
        if not torch.is_tensor(outputs):
            return outputs
        return (outputs.float() if outputs.dtype == torch.bfloat16 else outputs).cpu()

    return answers


def _to_tensor(module: Any, rows: Any) -> Any:
    """Numbers, with the precision and on the device of the module's own."""
    import torch

    own = chain(module.parameters(), module.buffers())
    like = next((tensor for tensor in own if tensor.is_floating_point()), torch.empty(0))
    return torch.as_tensor(to_matrix(rows, "Rows")[0], dtype=like.dtype, device=like.device)
