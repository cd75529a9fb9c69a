"""Tensors of other libraries: attributions of captum, batches of Quantus, and whatever speaks DLPack."""

import warnings

import numpy as np
import pytest

import faithscope as fs
from faithscope.inputs.tensors import to_host
from faithscope.readers import as_explanations

VALUES = np.arange(24, dtype=np.float32).reshape(3, 2, 2, 2) - 11
PREDICTIONS = [0, 1, 1]


class Device:
    """Like a tensor of torch on another device: NumPy cannot read it before it is copied."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __array__(self, *args, **kwargs):
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        return Device(self.values[rows])

    def cpu(self):
        return self.values


class Lazy:
    """Like an array of JAX or TensorFlow: it knows how to become one of NumPy, and nothing of torch's."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        return Lazy(self.values[rows])


class DLPack:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.parametrize("made", [Device, Lazy, DLPack])
def test_arrays_of_any_library_are_maps(made):
    explanations = as_explanations(made(VALUES))
    assert explanations.shape == (2, 2, 2)
    assert explanations.values.tolist() == VALUES.reshape(3, -1).tolist()
    assert explanations.doubt == ""
    assert to_host(made(VALUES)).tolist() == VALUES.tolist()
    measured = fs.consistency(made(VALUES), PREDICTIONS, discretizer=fs.Pool((2, 1), channels="first") | fs.Sign())
    assert measured.value == fs.consistency(np.sign(VALUES.sum(axis=(1, 3))), PREDICTIONS).value


@pytest.mark.parametrize("made", [Device, Lazy, DLPack])
def test_rows_of_numbers_of_any_library_are_importances(made):
    flat = VALUES.reshape(3, -1)
    explanations = as_explanations(made(flat))
    assert explanations.shape is None
    assert explanations.values.tolist() == flat.tolist()
    assert fs.Importances(made(flat)).values.tolist() == flat.tolist()


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
    for form, tensor in tensors(torch):
        explanations = as_explanations(tensor)
        assert explanations.shape == (2, 2, 2), form
        assert explanations.values.tolist() == VALUES.reshape(3, -1).tolist(), form
        listed = as_explanations(list(tensor.to_dense()))
        assert listed.values.tolist() == explanations.values.tolist(), form
        one_by_one = as_explanations([row[None] for row in tensor.to_dense()])
        assert one_by_one.values.tolist() == explanations.values.tolist(), form
        pool = fs.Pool((2, 1), channels="first")
        assert pool(one_by_one).values.tolist() == pool(explanations).values.tolist(), form
    series = torch.tensor(VALUES.reshape(3, 4, 2)).requires_grad_()
    assert as_explanations(series).shape == (4, 2), "attributions have the axes of inputs, not classes"
    with pytest.raises(fs.errors.BadInput, match="hold nan at row 0"):
        as_explanations(torch.full((2, 1, 4, 4), float("nan")))


@pytest.mark.parametrize("method", ["IntegratedGradients", "Saliency", "InputXGradient", "Occlusion"])
def test_attributions_of_captum_are_maps(method):
    torch, attr = pytest.importorskip("torch"), pytest.importorskip("captum.attr")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(72, 3))
    X = torch.randn(20, 1, 8, 8)
    labels = model(X).argmax(1)
    how = {"sliding_window_shapes": (1, 2, 2)} if method == "Occlusion" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        maps = getattr(attr, method)(model).attribute(X, target=labels, **how)
    assert fs.read(maps).shape == (1, 8, 8)
    coarse = np.sign(maps.detach().double().numpy().reshape(20, 2, 4, 2, 4).sum(axis=(2, 4)).reshape(20, -1))
    measured = fs.consistency(maps, labels, discretizer=fs.Pool((2, 2)) | fs.Sign())
    assert measured.value == fs.consistency(coarse, labels).value
    evaluation = fs.evaluate(lambda rows: model(rows).argmax(1), maps, X, discretizer=fs.Pool((2, 2)) | fs.Sign())
    assert evaluation.consistency.value == measured.value


@pytest.mark.slow
def test_batches_of_quantus_are_maps():
    quantus, torch = pytest.importorskip("quantus"), pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 3))
    x_batch = torch.randn(12, 1, 8, 8).numpy()
    y_batch = model(torch.tensor(x_batch)).argmax(1).numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a_batch = quantus.explain(model, x_batch, y_batch, method="Saliency", device="cpu")
    assert isinstance(a_batch, np.ndarray)
    explanations = fs.read(a_batch)
    assert explanations.shape == a_batch.shape[1:]
    pooled = fs.Pool((2, 2))(explanations).values
    wanted = a_batch.astype(float).reshape(12, 2, 4, 2, 4).sum(axis=(2, 4)).reshape(12, -1)
    assert pooled == pytest.approx(wanted)
    assert fs.consistency(a_batch, y_batch, discretizer=fs.Pool((2, 2)) | fs.TopRegions(1)).n == 12
