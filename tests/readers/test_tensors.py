"""Tensors of other libraries: attributions of captum, batches of Quantus, and whatever speaks DLPack."""

import numpy as np
import pytest

import faithscope as fs
from faithscope.inputs.tensors import to_host
from faithscope.readers import as_explanations
from refused import refused

VALUES = np.arange(24, dtype=np.float32).reshape(3, 2, 2, 2) - 11
PREDICTIONS = [0, 1, 1]


class Held:
    """Values with a shape and rows, as tensors of every library have them."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        return type(self)(self.values[rows])


class Device(Held):
    """Like a tensor of torch on another device: NumPy cannot read it before it is copied."""

    def __array__(self, *args, **kwargs):
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")

    def cpu(self):
        return self.values


class Lazy(Held):
    """Like an array of JAX or TensorFlow: it knows how to become one of NumPy, and nothing of torch's."""

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)

    def __iter__(self):
        return map(Lazy, self.values)


@pytest.mark.parametrize("made", [Device, Lazy])
def test_arrays_of_any_library_are_maps_or_importances(made):
    flat = VALUES.reshape(3, -1)
    for values, shape in ((VALUES, (2, 2, 2)), (flat, None)):
        for explanations in (as_explanations(made(values)), fs.Importances(made(values))):
            assert explanations.shape == shape
            assert explanations.values.tolist() == flat.tolist()
            assert explanations.doubt == ""
        assert to_host(made(values)).tolist() == values.tolist()
    pooled = fs.Pool((2, 1), channels="first") | fs.Sign()
    measured = fs.consistency(made(VALUES), made(np.array(PREDICTIONS)), discretizer=pooled)
    assert measured.value == fs.consistency(np.sign(VALUES.sum(axis=(1, 3))), PREDICTIONS).value


def test_a_list_of_one_tensor_per_row_is_rows_of_numbers():
    flat = VALUES.reshape(3, -1)
    assert as_explanations(list(Lazy(flat))).values.tolist() == flat.tolist()


def tensors(torch):
    base = torch.tensor(VALUES)
    yield "float32", base
    yield "float64", base.double()
    yield "float16", base.half()
    yield "bfloat16", base.bfloat16()
    yield "int64", base.long()
    yield "int8", base.to(torch.int8)
    yield "requires grad", base.clone().requires_grad_()
    yield "result of a graph", base.clone().requires_grad_() * 1
    yield "not contiguous", base.permute(0, 3, 2, 1).contiguous().permute(0, 3, 2, 1)
    yield "sparse", base.to_sparse()


def test_tensors_of_torch_in_every_form_are_the_same_maps():
    torch = pytest.importorskip("torch")
    pool = fs.Pool((2, 1), channels="first")
    wanted = pool(as_explanations(VALUES)).values.tolist()
    for form, tensor in tensors(torch):
        rows = list(tensor.to_dense())
        for given in (tensor, rows, [row[None] for row in rows]):
            explanations = as_explanations(given)
            assert explanations.values.tolist() == VALUES.reshape(3, -1).tolist(), form
            assert pool(explanations).values.tolist() == wanted, form
        assert as_explanations(tensor).shape == (2, 2, 2), form
    series = torch.tensor(VALUES.reshape(3, 4, 2)).requires_grad_()
    assert as_explanations(series).shape == (4, 2), "attributions have the axes of inputs, not classes"
    refused(fs.errors.BadInput, "hold nan at row 0", as_explanations, torch.full((2, 1, 4, 4), float("nan")))
