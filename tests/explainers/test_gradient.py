"""Gradients: right by hand calculation, and complete only with their offset."""

import doctest
import inspect
import pickle
import sys

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from explainers.systems import network
from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers import Gradient

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "faithscope[torch]"')

ROWS = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
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
        ("gradient*input", [14.0, 6.0], -7.0),
        ("integrated gradients", [7.0, 3.0], 3.0),  # the squares alone give 4, the product 6 is shared
    ],
)
def test_a_formula_is_explained_as_by_hand(method, expected, offset):
    formula, row = Module(lambda x: x[:, 0] ** 2 + x[:, 0] * x[:, 1] + 3), [[2.0, 3.0]]
    np.testing.assert_allclose(values(formula, row, method=method), [expected], rtol=1e-10)
    explanations = Gradient(formula, method=method, offset=True).explain(row)
    np.testing.assert_allclose(explanations.values, [[*expected, offset]], rtol=1e-10)
    assert explanations.names == ("x0", "x1", "offset")


def test_gradients_of_a_network_are_the_analytic_ones_also_where_they_are_switched_off():
    module = network()
    first, _, last = (layer for layer in module)
    a, b, c = (weight.detach().numpy().astype(np.float64) for weight in (first.weight, first.bias, last.weight))
    wanted = ((1 - np.tanh(ROWS @ a.T + b) ** 2) * c) @ a
    for switch in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with switch():
            np.testing.assert_allclose(values(module), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", ["(n, 1)", "(n,)"])
def test_the_gradient_of_a_linear_module_is_its_weights_whatever_the_shape_of_its_output(shape):
    torch.manual_seed(0)
    linear = torch.nn.Linear(4, 1)
    module = linear if shape == "(n, 1)" else torch.nn.Sequential(linear, torch.nn.Flatten(0))
    weights = [*linear.weight.detach().numpy().ravel(), float(linear.bias.detach())]
    np.testing.assert_allclose(values(module, ROWS[:3], offset=True), [weights] * 3, rtol=1e-6)


def test_integrated_gradients_are_complete_from_any_baseline():
    module = network()
    for start in (None, np.full(4, 0.5, np.float32)):
        from_here = outputs_of(module, np.zeros((1, 4), np.float32) if start is None else start[None])
        sums = values(module, method="integrated gradients", baseline=start).sum(axis=1)
        np.testing.assert_allclose(sums, (outputs_of(module, ROWS) - from_here)[:, 0], atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_offset_completes_the_explanation(method):
    module = network(middle="ReLU")
    found = values(module, method=method, offset=True)
    told = found[:, :4] * ROWS if method == "gradient" else found[:, :4]
    np.testing.assert_allclose(told.sum(axis=1) + found[:, 4], outputs_of(module, ROWS)[:, 0], atol=1e-6)


def test_without_its_offset_a_gradient_is_inconsistent_and_with_it_consistent():
    """The slope is 1 left of 0 and right of 1, and 0 between: two pieces share a slope and differ in height."""
    steps = Module(lambda x: x[:, 0] - torch.relu(x[:, 0]) + torch.relu(x[:, 0] - 1) - 0.25)
    rows = np.concatenate([np.linspace(-8, -1, 200), np.linspace(2, 9, 200)])[:, None]
    labels = outputs_of(steps, rows) > 0  # False on the left piece, True on the right one
    bare, whole = (fs.consistency(Gradient(steps, offset=told).explain(rows), labels) for told in (False, True))
    assert bare.distinct == 1  # one slope everywhere, two labels
    assert bare.value == pytest.approx(0.5, abs=0.01)
    assert bare.high < 0.6
    assert (whole.distinct, whole.value, whole.unverifiable) == (2, 1.0, 0.0)


def test_rows_of_the_same_linear_piece_get_the_same_explanation():
    module, rows = network(middle="ReLU"), 5 * np.random.default_rng(0).normal(size=(2_000, 4)).astype(np.float32)
    with torch.no_grad():
        pieces = np.unique((module[0](torch.tensor(rows)) > 0).numpy(), axis=0)
    for offset in (False, True):
        assert len(np.unique(values(module, rows, offset=offset), axis=0)) <= len(pieces)


@pytest.mark.parametrize("method", METHODS)
def test_all_of_three_classes_are_explained_unless_one_is_chosen(method):
    module, rows = network(outputs=3), pd.DataFrame(ROWS, columns=["age", "job", "pay", "sex"])
    every = Gradient(module, method=method, offset=True).explain(rows)
    assert every.names[:5] == ("age | class 0", "job | class 0", "pay | class 0", "sex | class 0", "offset | class 0")
    by_class = every.values.reshape(60, 3, 5)
    for number in range(3):
        alone = Gradient(module, method=method, offset=True, class_index=number).explain(rows)
        assert alone.names == ("age", "job", "pay", "sex", "offset")
        np.testing.assert_allclose(alone.values, by_class[:, number], rtol=1e-9, atol=1e-12)
    with pytest.warns(UserWarning, match="equal vectors may speak of different classes"):
        predicted = values(module, method=method, class_index="predicted", offset=True)
    best = outputs_of(module, ROWS).argmax(axis=1)
    assert len(set(best)) > 1
    np.testing.assert_allclose(predicted, by_class[np.arange(60), best], rtol=1e-9)
    assert values(module, ROWS[:0], method=method).shape == (0, 12)


def test_of_two_classes_class_1_is_explained_which_a_single_output_is():
    np.testing.assert_array_equal(values(network(2)), values(network(2), class_index=1))
    default, one, zero = (values(network(), offset=True, class_index=number) for number in (None, 1, 0))
    np.testing.assert_array_equal(default, one)
    np.testing.assert_array_equal(default, -zero)


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


def test_the_example_of_the_docstring_is_true_where_torch_is():
    text = inspect.getdoc(Gradient).replace("# doctest: +SKIP", "")
    example = doctest.DocTestParser().get_doctest(text, {"Gradient": Gradient}, "Gradient", None, None)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


BAD_INPUT = [
    *[({"class_index": wrong}, f"class_index must be a class from 0 to {high}", outputs) for outputs, wrong, high in
      ((1, 2, 1), (3, 3, 2), (3, -1, 2), (2, "first", 1))],
    ({"method": "saliency"}, "method must be one of 'gradient', 'gradient x input'", 1),
    ({"steps": 0}, "steps must be a whole number of at least 1", 1),
    ({"method": "integrated gradients", "baseline": [0.0]}, "The baseline has 1 features but rows have 4", 1),
    ({"rows": ROWS[:, :3]}, "does not take rows of 3 features", 1),
    ({"rows": [[1e300, 0.0, 0.0, 0.0]]}, "Rows in single precision hold inf at row 0", 1),
]  # fmt: skip


@pytest.mark.parametrize(("how", "message", "outputs"), BAD_INPUT)
def test_what_cannot_be_explained_is_refused(how, message, outputs):
    with pytest.raises(BadInput, match=message):
        values(network(outputs), **how)


def test_what_is_no_module_of_rows_is_refused():
    with pytest.raises(WrongType, match=r"explains a torch.nn.Module; got function"):
        Gradient(network)
    with pytest.raises(BadInput, match=r"must give \(n,\) or \(n, classes\) outputs for 1 rows; got \(1, 2, 2\)"):
        values(Module(lambda x: x.reshape(len(x), 2, 2)))


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    module = network()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r'pip install "faithscope\[torch\]"'):
        Gradient(module)
