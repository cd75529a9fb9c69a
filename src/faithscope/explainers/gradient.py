"""Gradients of a PyTorch module with respect to its input, and the constant that they leave out."""

import copy
from itertools import chain
from typing import Any, Literal

import numpy as np

from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers.base import Explainer, Progress, blocks
from faithscope.explainers.classes import chosen_classes, of_classes
from faithscope.explanations.importances import Importances
from faithscope.inputs.array_types import Floats
from faithscope.inputs.checks import check_flag, check_whole, check_word
from faithscope.inputs.columns import default_names
from faithscope.inputs.numbers import refuse_nonfinite, to_matrix
from faithscope.inputs.rows import flat_rows
from faithscope.runtime.memory import need

_METHODS = ("gradient", "gradient x input", "integrated gradients")
_ROWS = 1_024  # in one call of the module; four times as many points of integrated gradients
_DIGITS = 11  # kept of the largest number of a vector; later digits depend on the order of sums in a batch


class Gradient(Explainer):
    """Explains a row by the gradient of the module's output at the row.

    A gradient says how the output changes, not what it is: rows with the same gradient may differ in label. With
    `offset` the constant term completes the explanation (paper, section 3.2.3): rows with equal explanations then have
    the same linear function, or, for methods that attribute the output, the same output.

    Parameters
    ----------
    module : torch.nn.Module
        From (n, d), or (n, C, H, W) and the like, to (n,) or (n, classes). It is explained as it is when `explain` is
        called, in evaluation mode and double precision, on a copy, so that the module itself does not change.
    method : {"gradient", "gradient x input", "integrated gradients"}
        The gradient; the gradient times the row; or the mean gradient on the straight line
        from a baseline to the row, times the difference of both, which sums to the difference in output.
    offset : bool
        Append the constant that completes the explanation: ``f(x) - gradient · x`` for the gradient,
        ``f(x) - sum of the values`` for the other methods.
    class_index : int, "predicted" or None
        The class explained. None: class 1 of two; if there are more, every class, one vector after the other. A single
        output is the logit of class 1, and class 0 has its negative; or it is the number of a regression, which
        None explains. The predicted class is that of highest output.
    baseline : (d,) array, or one of a row's own axes, optional
        Where integrated gradients start; zeros by default.
    steps : int
        Number of points on the line of integrated gradients, placed by the Gauss-Legendre rule.

    Notes
    -----
    Numbers are rounded to 11 digits of the largest number in their vector, so that rows in the same linear piece of a
    network get the same explanation.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> Gradient(torch.nn.Identity()).explain([[3.0, 4.0]]).values.tolist()  # doctest: +SKIP
    [[0.0, 1.0]]
    """

    def __init__(
        self,
        module: Any,
        *,
        method: Literal["gradient", "gradient x input", "integrated gradients"] = "gradient",
        offset: bool = False,
        class_index: int | str | None = None,
        baseline: Any = None,
        steps: int = 50,
    ) -> None:
        try:
            import torch  # noqa: F401
        except ImportError as problem:
            raise MissingExtra('Gradient needs PyTorch: pip install "faithscope[torch]".') from problem
        if not (callable(module) and hasattr(module, "parameters") and hasattr(module, "eval")):
            raise WrongType(f"Gradient explains a torch.nn.Module; got {type(module).__name__}.")
        check_word(method, "method", _METHODS)
        self.module, self.method, self.class_index = module, method, class_index
        self.offset = check_flag(offset, "offset")
        self.baseline: Floats | None = None
        if baseline is not None:
            self.baseline = to_matrix(flat_rows([baseline])[0], "The baseline")[0][0]
        self.steps = check_whole(steps, "steps")

    def explain(self, X: Any, *, progress: Progress | None = None) -> Importances:
        """One number per feature and row, then the offset; if several classes are explained, one vector per class.

        Parameters
        ----------
        X : (n, d) array or table of numbers
            Rounded to single precision, which the module reads in use, unless the module has double precision.
        progress : bool or callable, optional
            True shows how far it is; a function is called with the rows done, and all rows, after every block of them.
        """
        module = _Double(self.module, X)
        rows, names = module.rows, module.names
        start = np.zeros(rows.shape[1]) if self.baseline is None else self.baseline.astype(np.float64)
        if len(start) != rows.shape[1]:
            raise BadInput(
                f"The baseline has {len(start)} features but rows have {rows.shape[1]}: pass one number per feature."
            )
        parts = [self._vectors(module, start[None], start)[:0]]  # its shape shows how many classes there are
        _, classes, width = parts[0].shape
        many = f"Gradients of {len(rows):,} rows, {width:,} features and {classes:,} classes"
        need(16 * len(rows) * classes * width, many, "explain fewer rows at a time, or choose a class")
        step = 4 * _ROWS // self.steps if self.method == "integrated gradients" else _ROWS
        parts += [self._vectors(module, rows[block], start) for block in blocks(len(rows), step, progress)]
        return of_classes(np.concatenate(parts), [*names, "offset"] if self.offset else names, self, module.axes)

    def _vectors(self, module: "_Double", rows: Floats, start: Floats) -> Floats:
        """One vector per row and class explained: (n, classes, d), or (n, classes, d + 1) with the offset."""
        outputs, values = module.differentiate(rows, self.class_index)
        if self.method == "gradient x input":
            values = values * rows[:, None, :]
        elif self.method == "integrated gradients":
            nodes, weights = np.polynomial.legendre.leggauss(self.steps)
            points = start + ((nodes + 1) / 2)[:, None] * (rows - start)[:, None, :]
            _, along = module.differentiate(points.reshape(-1, rows.shape[1]), self.class_index)
            along = along.reshape(len(rows), self.steps, -1, rows.shape[1])
            values = np.einsum("s,nscd->ncd", weights / 2, along) * (rows - start)[:, None, :]
        if self.class_index == "predicted":
            best = outputs.argmax(axis=1)[:, None]
            outputs, values = np.take_along_axis(outputs, best, 1), np.take_along_axis(values, best[:, :, None], 1)
        if self.offset:
            attributed = values * rows[:, None, :] if self.method == "gradient" else values
            values = np.concatenate([values, (outputs - attributed.sum(axis=2))[:, :, None]], axis=2)
        largest = np.abs(values).max(axis=2, initial=1e-280, keepdims=True)
        power = 10.0 ** (_DIGITS - np.floor(np.log10(largest)))
        return np.asarray(np.round(values * power) / power + 0.0)  # 0 has no sign


class _Double:
    """A copy of a module, in evaluation mode and double precision, and rows as the module in use reads them.

    Attributes
    ----------
    module : torch.nn.Module
    rows : (n, d) array
        Each row as one row of numbers.
    names : sequence of str
    axes : tuple of int, optional
        Of one row, if rows are images or series.
    """

    def __init__(self, module: Any, X: Any) -> None:
        import torch

        tensors = [tensor for tensor in chain(module.parameters(), module.buffers()) if tensor.is_floating_point()]
        self.device = tensors[0].device if tensors else torch.device("cpu")
        with torch.inference_mode(False):
            self.module = copy.deepcopy(module).eval().double().requires_grad_(False)
        flat, self.axes = flat_rows(X)
        matrix, names = to_matrix(flat, "Rows")
        single = not tensors or tensors[0].dtype != torch.float64
        with np.errstate(over="ignore"):
            rows = matrix.astype(np.float32) if single else matrix
        refuse_nonfinite(rows, "Rows in single precision" if single else "Rows", names)
        self.rows, self.names = rows.astype(np.float64), names or default_names(rows.shape[1])

    def differentiate(self, rows: Floats, class_index: int | str | None) -> tuple[Floats, Floats]:
        """Outputs (n, classes) and their gradients (n, classes, d) of the classes explained; of all for "predicted"."""
        import torch

        with torch.inference_mode(False), torch.enable_grad():
            points = torch.tensor(rows, dtype=torch.float64, device=self.device, requires_grad=True)
            try:
                outputs = self.module(points if self.axes is None else points.reshape(len(points), *self.axes))
            except RuntimeError as problem:
                raise BadInput(
                    f"The module does not take rows of {points.shape[1]} features in double precision ({problem}): "
                    "pass rows with the features of the module."
                ) from problem
            if not torch.is_tensor(outputs) or outputs.ndim not in (1, 2) or len(outputs) != len(points):
                shape = tuple(outputs.shape) if torch.is_tensor(outputs) else type(outputs).__name__
                raise BadInput(
                    f"The module must give (n,) or (n, classes) outputs for {len(points)} rows; got {shape}."
                )
            outputs = outputs[:, None] if outputs.ndim == 1 else outputs
            outputs = torch.cat([-outputs, outputs], dim=1) if outputs.shape[1] == 1 else outputs
            outputs = outputs + (0 * points).sum()  # so that each output depends on the rows
            classes = chosen_classes(class_index, outputs.shape[1])
            outputs = outputs if classes is None else outputs[:, classes]
            slopes = [torch.autograd.grad(output.sum(), points, retain_graph=True)[0] for output in outputs.T]
        return outputs.detach().cpu().numpy(), torch.stack(slopes, dim=1).cpu().numpy()
