"""Gradients: right by hand calculation, and complete only with their offset."""

import pickle
import sys

import numpy as np
import pytest
from numpy.random import default_rng

from explainers.systems import assert_refused, network
from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers import Gradient
from refused import refused

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "faithscope[torch]"')

ROWS = default_rng(0).normal(size=(60, 4)).astype(np.float32)
METHODS = ("gradient", "gradient x input", "integrated gradients")


class Module(torch.nn.Module):
    """A module of a function."""

    def __init__(self, function):
        super().__init__()
        self.forward = function


def outputs_of(module, rows):
    with torch.no_grad():
        return module(torch.tensor(rows)).numpy().astype(np.float64)


def values(module, rows=ROWS, **how):
    return Gradient(module, **how).explain(rows).values


@pytest.mark.parametrize(
    ("method", "expected", "offset"),
    [
        ("gradient", [7.0, 2.0], -7.0),  # f = 13, gradient (2 x0 + x1, x0), f - gradient · x = 13 - 20
        ("gradient x input", [14.0, 6.0], -7.0),
        ("integrated gradients", [7.0, 3.0], 3.0),  # the squares alone give 4, the product 6 is shared
    ],
)
def test_a_formula_is_explained_as_by_hand(method, expected, offset):
    formula, row = Module(lambda x: x[:, 0] ** 2 + x[:, 0] * x[:, 1] + 3), [[2.0, 3.0]]
    np.testing.assert_allclose(values(formula, row, method=method), [expected], rtol=1e-10)
    explanations = Gradient(formula, method=method, offset=True).explain(row)
    np.testing.assert_allclose(explanations.values, [[*expected, offset]], rtol=1e-10)
    assert explanations.names == ("x0", "x1", "offset")


@pytest.mark.parametrize("method", METHODS)
def test_the_offset_completes_the_explanation_from_any_baseline(method):
    module = network()
    for start in (None, np.full(4, 0.5, np.float32)):
        found = values(module, method=method, offset=True, baseline=start)
        told = found[:, :4] * ROWS if method == "gradient" else found[:, :4]
        np.testing.assert_allclose(told.sum(axis=1) + found[:, 4], outputs_of(module, ROWS)[:, 0], atol=1e-6)
        if method == "integrated gradients":
            begun = outputs_of(module, np.zeros((1, 4), np.float32) if start is None else start[None])
            np.testing.assert_allclose(found[:, 4], begun[0, 0], atol=1e-6)


def test_of_two_outputs_the_second_is_explained():
    np.testing.assert_array_equal(values(network(2)), values(network(2), class_index=1))


@pytest.mark.parametrize("training", [True, False])
def test_the_module_is_left_as_it_was(training):
    parts = [torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)]
    module = torch.nn.Sequential(*parts).train(training)
    before = pickle.dumps(module.state_dict())
    first = values(module)
    assert [part.training for part in module.modules()] == [training] * 5
    assert pickle.dumps(module.state_dict()) == before
    assert {weight.dtype for weight in module.parameters()} == {torch.float32}
    assert all(weight.requires_grad and weight.grad is None for weight in module.parameters())
    np.testing.assert_array_equal(values(module), first)  # no dropout


def test_an_output_that_no_feature_moves_has_no_gradient_and_small_ones_are_not_rounded_away():
    constant = Module(lambda x: torch.full((len(x),), 2.0, dtype=x.dtype))
    assert values(constant, ROWS[:2], offset=True).tolist() == [[0, 0, 0, 0, 2]] * 2
    saturated, far = Module(lambda x: torch.sigmoid(x[:, 0])), np.array([[-30.0], [-31.0]])
    np.testing.assert_allclose(values(saturated, far), np.exp(far), rtol=1e-9)


def test_rows_are_read_as_the_module_reads_them():
    fine = np.array([[0.1, 0.2, 0.3, 0.4]])
    rounded = fine.astype(np.float32).astype(np.float64)
    assert (values(network(), fine) == values(network(), rounded)).all()
    assert (values(network().double(), fine) != values(network().double(), rounded)).any()


def refusal(words, outputs=1, **how):
    return lambda: values(network(outputs), **how), words


BAD_INPUT = [
    *[refusal(f"class_index must be a class from 0 to {high}", outputs, class_index=wrong) for outputs, wrong, high in
      ((1, 2, 1), (3, 3, 2), (3, -1, 2), (2, "first", 1))],
    refusal("method must be one of 'gradient', 'gradient x input'", method="saliency"),
    refusal("steps must be a whole number of at least 1", steps=0),
    refusal("The baseline has 1 features but rows have 4", method="integrated gradients", baseline=[0.0]),
    refusal("does not take rows of 3 features", rows=ROWS[:, :3]),
    refusal("Rows in single precision hold inf at row 0", rows=[[1e300, 0.0, 0.0, 0.0]]),
    (lambda: values(Module(lambda x: x.reshape(len(x), 2, 2))),
     r"must give \(n,\) or \(n, classes\) outputs for 1 rows; got \(1, 2, 2\)"),
]  # fmt: skip


def test_what_cannot_be_explained_is_refused():
    assert_refused(
        {BadInput: BAD_INPUT, WrongType: [(lambda: Gradient(network), "explains a torch.nn.Module; got function")]}
    )


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    module = network()
    monkeypatch.setitem(sys.modules, "torch", None)
    refused(MissingExtra, r'pip install "faithscope\[torch\]"', Gradient, module)
