"""Gradients: right by hand calculation, the same in any batch, and complete only with their offset."""

import doctest
import inspect
import pickle
import sys

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers.gradient import Gradient

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "faithscope[torch]"')
nn = torch.nn

ROWS = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
METHODS = ("gradient", "gradient x input", "integrated gradients")


def network(outputs=1, middle=nn.Tanh):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), middle(), nn.Linear(8, outputs))


def outputs_of(module, rows):
    with torch.no_grad():
        return module(torch.tensor(rows)).numpy().astype(np.float64)


class Formula(nn.Module):
    """x0² + x0·x1 + 3."""

    def forward(self, x):
        return x[:, 0] ** 2 + x[:, 0] * x[:, 1] + 3


class Steps(nn.Module):
    """The slope is 1 left of 0 and right of 1, and 0 between: two pieces share a slope and differ in height."""

    def forward(self, x):
        return x[:, 0] - torch.relu(x[:, 0]) + torch.relu(x[:, 0] - 1) - 0.25


STEPS = np.concatenate([np.linspace(-8, -1, 200), np.linspace(2, 9, 200)])[:, None]
STEPS_LABELS = outputs_of(Steps(), STEPS) > 0  # False on the left piece, True on the right one


@pytest.mark.parametrize(
    ("method", "values", "offset"),
    [
        ("gradient", [7.0, 2.0], -7.0),  # f = 13, gradient (2 x0 + x1, x0), f - gradient · x = 13 - 20
        ("gradient x input", [14.0, 6.0], -7.0),
        ("gradient*input", [14.0, 6.0], -7.0),
        ("integrated gradients", [7.0, 3.0], 3.0),  # the squares alone give 4, the product 6 is shared
    ],
)
def test_a_formula_is_explained_as_by_hand(method, values, offset):
    row = [[2.0, 3.0]]
    np.testing.assert_allclose(Gradient(Formula(), method=method).explain(row).values, [values], rtol=1e-10)
    explanations = Gradient(Formula(), method=method, offset=True).explain(row)
    np.testing.assert_allclose(explanations.values, [[*values, offset]], rtol=1e-10)
    assert explanations.names == ("x0", "x1", "offset")


def test_gradients_of_a_network_are_the_analytic_ones():
    module = network()
    first, _, last = (layer for layer in module)
    a, b, c = (weight.detach().numpy().astype(np.float64) for weight in (first.weight, first.bias, last.weight))
    wanted = ((1 - np.tanh(ROWS @ a.T + b) ** 2) * c) @ a
    np.testing.assert_allclose(Gradient(module).explain(ROWS).values, wanted, rtol=1e-9, atol=1e-12)


def test_integrated_gradients_are_complete():
    module, baseline = network(), np.full(4, 0.5, np.float32)
    for start in (None, baseline):
        from_here = outputs_of(module, np.zeros((1, 4), np.float32) if start is None else start[None])
        values = Gradient(module, method="integrated gradients", baseline=start).explain(ROWS).values
        np.testing.assert_allclose(values.sum(axis=1), (outputs_of(module, ROWS) - from_here)[:, 0], atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_offset_completes_the_explanation(method):
    module = network(middle=nn.ReLU)
    values = Gradient(module, method=method, offset=True).explain(ROWS).values
    told = values[:, :4] * ROWS if method == "gradient" else values[:, :4]
    np.testing.assert_allclose(told.sum(axis=1) + values[:, 4], outputs_of(module, ROWS)[:, 0], atol=1e-6)


def test_without_its_offset_a_gradient_is_inconsistent_and_with_it_consistent():
    bare = fs.consistency(Gradient(Steps()).explain(STEPS), STEPS_LABELS)
    whole = fs.consistency(Gradient(Steps(), offset=True).explain(STEPS), STEPS_LABELS)
    assert bare.distinct == 1  # one slope everywhere, two labels
    assert bare.value == pytest.approx(0.5, abs=0.01)
    assert bare.high < 0.6
    assert whole.distinct == 2
    assert whole.value == 1.0
    assert whole.unverifiable == 0.0


def test_rows_of_the_same_linear_piece_get_the_same_explanation():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    rows = 5 * np.random.default_rng(0).normal(size=(5_000, 2)).astype(np.float32)
    with torch.no_grad():
        pieces = np.unique((module[0](torch.tensor(rows)) > 0).numpy(), axis=0)
    for offset in (False, True):
        assert len(np.unique(Gradient(module, offset=offset).explain(rows).values, axis=0)) <= len(pieces)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("offset", [False, True])
def test_a_row_is_explained_alike_in_any_batch(method, offset):
    explainer = Gradient(network(outputs=3), method=method, offset=offset)
    rows = np.random.default_rng(1).normal(size=(2_100, 4)).astype(np.float32)[:: 1 if method == "gradient" else 20]
    together = explainer.explain(rows).values
    order = np.random.default_rng(2).permutation(len(rows))
    np.testing.assert_allclose(explainer.explain(rows[order]).values, together[order], rtol=1e-9, atol=1e-9)
    alone = np.vstack([explainer.explain(row[None]).values for row in rows[-4:]])
    np.testing.assert_allclose(alone, together[-4:], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_all_of_three_classes_are_explained_unless_one_is_chosen(method):
    module, rows = network(outputs=3), pd.DataFrame(ROWS, columns=["age", "job", "pay", "sex"])
    every = Gradient(module, method=method, offset=True).explain(rows)
    assert every.values.shape == (60, 15)
    assert every.names[:5] == ("age | class 0", "job | class 0", "pay | class 0", "sex | class 0", "offset | class 0")
    for number in range(3):
        alone = Gradient(module, method=method, offset=True, class_index=number).explain(rows)
        assert alone.names == ("age", "job", "pay", "sex", "offset")
        np.testing.assert_allclose(alone.values, every.values[:, 5 * number : 5 * number + 5], rtol=1e-9, atol=1e-12)


def test_of_two_classes_class_1_is_explained():
    module = network(outputs=2)
    np.testing.assert_array_equal(
        Gradient(module).explain(ROWS).values, Gradient(module, class_index=1).explain(ROWS).values
    )


def test_a_single_output_is_that_of_class_1():
    chosen = [Gradient(network(), offset=True, class_index=number).explain(ROWS).values for number in (None, 1, 0)]
    np.testing.assert_array_equal(chosen[0], chosen[1])
    np.testing.assert_array_equal(chosen[0], -chosen[2])


def test_the_predicted_class_is_explained_with_a_warning():
    module = network(outputs=3)
    with pytest.warns(UserWarning, match="equal vectors may speak of different classes"):
        values = Gradient(module, class_index="predicted", offset=True).explain(ROWS).values
    every = Gradient(module, offset=True).explain(ROWS).values.reshape(60, 3, 5)
    best = outputs_of(module, ROWS).argmax(axis=1)
    assert len(set(best)) > 1
    np.testing.assert_allclose(values, every[np.arange(60), best], rtol=1e-9)


@pytest.mark.parametrize(("outputs", "wrong"), [(1, 2), (3, 3), (3, -1), (2, "first")])
def test_a_class_that_does_not_exist_is_refused(outputs, wrong):
    with pytest.raises(BadInput, match=f"class_index must be a class from 0 to {max(outputs, 2) - 1}"):
        Gradient(network(outputs), class_index=wrong).explain(ROWS)


@pytest.mark.parametrize("training", [True, False])
def test_the_module_is_left_as_it_was(training):
    module = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1)).train(training)
    before = pickle.dumps(module.state_dict())
    first = Gradient(module).explain(ROWS).values
    assert [part.training for part in module.modules()] == [training] * 5
    assert pickle.dumps(module.state_dict()) == before
    assert {weight.dtype for weight in module.parameters()} == {torch.float32}
    assert all(weight.requires_grad and weight.grad is None for weight in module.parameters())
    np.testing.assert_array_equal(Gradient(module).explain(ROWS).values, first)  # no dropout


def test_gradients_are_taken_where_they_are_switched_off():
    module = network()
    wanted = Gradient(module).explain(ROWS).values
    for switch in (torch.no_grad, torch.inference_mode):
        with switch():
            np.testing.assert_array_equal(Gradient(module).explain(ROWS).values, wanted)


def test_an_output_that_no_feature_moves_has_no_gradient():
    class Constant(nn.Module):
        def forward(self, x):
            return torch.full((len(x),), 2.0, dtype=x.dtype)

    assert Gradient(Constant(), offset=True).explain(ROWS[:2]).values.tolist() == [[0, 0, 0, 0, 2]] * 2


def test_small_gradients_are_not_rounded_away():
    class Saturated(nn.Module):
        def forward(self, x):
            return torch.sigmoid(x[:, 0])

    values = Gradient(Saturated()).explain([[-30.0], [-31.0]]).values
    np.testing.assert_allclose(values, np.exp([[-30.0], [-31.0]]), rtol=1e-9)


def test_rows_are_read_as_the_module_reads_them():
    fine = np.array([[0.1, 0.2, 0.3, 0.4]])
    rounded = fine.astype(np.float32).astype(np.float64)
    assert (Gradient(network()).explain(fine).values == Gradient(network()).explain(rounded).values).all()
    double = network().double()
    assert (Gradient(double).explain(fine).values != Gradient(double).explain(rounded).values).any()


@pytest.mark.parametrize("outputs", [1, 2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_no_rows_give_no_explanations(outputs, method):
    explanations = Gradient(network(outputs), method=method).explain(ROWS[:0])
    assert explanations.values.shape == (0, 12 if outputs == 3 else 4)


def test_explainers_pickle():
    explainer = Gradient(network(), method="integrated gradients", offset=True, steps=5)
    again = pickle.loads(pickle.dumps(explainer))
    assert (again.explain(ROWS).values == explainer.explain(ROWS).values).all()
    assert repr(again) == repr(explainer)


@pytest.mark.parametrize("method", METHODS)
def test_progress_ends_with_all_rows(method):
    told = []
    rows = np.repeat(ROWS, 20, axis=0)
    Gradient(network(), method=method).explain(rows, progress=lambda done, total: told.append((done, total)))
    assert len(told) > 1
    assert told == sorted(told)
    assert told[-1] == (1_200, 1_200)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "saliency"}, "method must be one of 'gradient', 'gradient x input'"),
        ({"steps": 0}, "steps must be a whole number of at least 1"),
        ({"method": "integrated gradients", "baseline": [0.0]}, "The baseline has 1 features but rows have 4"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(BadInput, match=message):
        Gradient(network(), **settings).explain(ROWS)


def test_what_is_no_module_is_refused():
    with pytest.raises(WrongType, match=r"explains a torch.nn.Module; got function"):
        Gradient(network)


def test_the_example_of_the_docstring_is_true_where_torch_is():
    text = inspect.getdoc(Gradient).replace("# doctest: +SKIP", "")
    example = doctest.DocTestParser().get_doctest(text, {"Gradient": Gradient}, "Gradient", None, None)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_rows_that_the_module_does_not_take_are_refused():
    with pytest.raises(BadInput, match="does not take rows of 3 features"):
        Gradient(network()).explain(ROWS[:, :3])
    with pytest.raises(BadInput, match="Rows in single precision hold inf at row 0"):
        Gradient(network()).explain([[1e300, 0.0, 0.0, 0.0]])


def test_outputs_of_another_shape_are_refused():
    class Folded(nn.Module):
        def forward(self, x):
            return x.reshape(len(x), 2, 2)

    with pytest.raises(BadInput, match=r"must give \(n,\) or \(n, classes\) outputs for 1 rows; got \(1, 2, 2\)"):
        Gradient(Folded()).explain(ROWS)


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    module = network()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r'pip install "faithscope\[torch\]"'):
        Gradient(module)
