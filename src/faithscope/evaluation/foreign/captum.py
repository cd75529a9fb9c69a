"""captum's attribution methods: ``attribute`` on blocks of rows, for the classes that our own explainers explain."""

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.evaluation.foreign.base import Foreign, seed_of
from faithscope.explainers.base import Progress, blocks
from faithscope.explainers.classes import chosen_classes, importances_of, names_per_class
from faithscope.explanations.base import Explanations
from faithscope.inputs.arrays import frame_names, is_frame
from faithscope.inputs.models import in_evaluation, to_tensor
from faithscope.inputs.seeds import row_digests, seeded
from faithscope.inputs.tensors import to_host

_ROWS = 256  # at a time
_DRAWS = ("NoiseTunnel", "ShapleyValueSampling", "KernelShap", "Lime")  # methods that draw: each row by itself


@dataclass(frozen=True, eq=False, repr=False)
class Captum(Foreign):
    """A method of captum's, with its own defaults."""

    def explain(self, X: Any, *, progress: Progress | None = None) -> Explanations:
        """Attributions of class 1 of two, or of all classes, one after the other; of the output if there is one."""
        self._refuse_further()
        if self._is_any(("FeaturePermutation",)):
            raise BadInput(
                f"{self.__name__} shuffles features among the rows of a batch, so a row's attributions depend on the "
                "other rows and on chance, and are no explanation of the row: use captum's FeatureAblation."
            )
        rows = to_tensor(self._module, X)
        outputs = self._outputs(rows[:1])
        classes = [None] if outputs == 1 else chosen_classes(None, outputs)
        step = 1 if self._is_any(_DRAWS) else _ROWS
        with in_evaluation(self._module):  # as the model is asked: in training, rows of a block may mix
            parts = [self._attributed(rows[block], classes) for block in blocks(len(rows), step, progress)]
        width, axes = int(np.prod(rows.shape[1:])), tuple(rows.shape[1:]) if rows.ndim > 2 else None
        values = np.concatenate(parts) if parts else np.empty((0, width * len(classes or ())))
        features = frame_names(X) if is_frame(X) else [f"x{j}" for j in range(width)]
        names = names_per_class(features, len(classes or ()))
        return importances_of(values, names, axes)

    def _refuse_further(self) -> None:
        """Raise if the method needs more than rows."""
        parameters = list(signature(self.explainer.attribute).parameters.values())[1:]
        further = [p.name for p in parameters if p.default is Parameter.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        if further:
            raise BadInput(
                f"{self.__name__} needs {further[0]} besides the rows: pass a function, lambda X: explainer.attribute("
                f"torch.as_tensor(X), {further[0]}=..., target=1)."
            )

    @property
    def _module(self) -> Any:
        """The module that is explained, whose own method the function may be."""
        function = self.explainer.forward_func
        return getattr(function, "__self__", function)

    def _is_any(self, names: Sequence[str]) -> bool:
        """Whether the method, or one that it extends, has one of these names."""
        return any(kind.__name__ in names for kind in type(self.explainer).__mro__)

    def _outputs(self, rows: Any) -> int:
        """The number of outputs per row."""
        import torch

        with in_evaluation(self._module), torch.no_grad():
            outputs = self.explainer.forward_func(rows)
        return 1 if outputs.ndim == 1 else int(np.prod(outputs.shape[1:]))

    def _attributed(self, rows: Any, classes: Any) -> Any:
        """Attributions of a block of rows, (n, classes * features); draws depend on the rows alone."""
        import torch

        values = []
        for label in classes:
            target = {} if label is None else {"target": label}
            with torch.random.fork_rng(), seeded(seed := seed_of(row_digests(self.seed, to_host(rows[:1]))[0])):
                torch.manual_seed(seed)
                attributed = self.explainer.attribute(rows.detach().clone().requires_grad_(), **target)
            values.append(to_host(attributed).reshape(len(rows), -1))
        return np.concatenate(values, axis=1)
