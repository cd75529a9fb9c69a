"""Rows of images in every explainer: pixels are features, and the model gets images."""

import numpy as np
import pytest

import faithscope as fs

IMAGES = np.random.default_rng(0).random((40, 1, 3, 4))
FLAT = IMAGES.reshape(40, 12)
NEW = np.random.default_rng(1).random((6, 1, 3, 4))


def chances(images):
    assert tuple(images.shape[1:]) == (1, 3, 4), "the model gets images"
    share = np.asarray(images)[:, 0, 1].mean(axis=1)
    return np.column_stack([1 - share, share])


def label(images):
    return chances(images)[:, 1] > 0.5


def flat(function):
    return lambda rows: function(np.asarray(rows).reshape(len(rows), 1, 3, 4))


EXPLAINERS = {
    "tree": lambda rows, ask: fs.explainers.TreePath.surrogate(ask(label), rows, max_leaf_nodes=4),
    "neighbors": lambda rows, ask: fs.explainers.NearestNeighbors(rows),
    "gower": lambda rows, ask: fs.explainers.NearestNeighbors(rows, metric="gower"),
    "lime": lambda rows, ask: fs.explainers.Lime(ask(chances), rows, samples=50),
    "anchors": lambda rows, ask: fs.explainers.Anchors(ask(label), rows, beam=1),
    "shap": lambda rows, ask: fs.explainers.Shap(ask(chances), rows[:3], evaluations=60),
    "counterfactual": lambda rows, ask: fs.explainers.Counterfactual(ask(label), rows),
    "unique": lambda rows, ask: fs.explainers.Unique(),
}


@pytest.mark.parametrize("name", EXPLAINERS)
def test_images_are_explained_as_rows_of_pixels(name):
    of_images = EXPLAINERS[name](IMAGES, lambda function: function).explain(NEW)
    of_pixels = EXPLAINERS[name](FLAT, flat).explain(NEW.reshape(6, 12))
    together = (
        of_images._with(names=None).join(of_pixels._with(names=None, shape=of_images.shape))
        if hasattr(of_images, "shape")
        else of_images.join(of_pixels)
    )
    codes, _ = together.group()
    assert codes[:6].tolist() == codes[6:].tolist()


@pytest.mark.parametrize("name", EXPLAINERS)
def test_images_are_measured_and_reported(name, tmp_path):
    told = fs.evaluate(label, EXPLAINERS[name](IMAGES, lambda function: function), NEW, progress=False)
    told.to_html(tmp_path / "page.html")
    rows = fs.evaluate(label(NEW), told.explanations, NEW.reshape(6, 12), progress=False)
    assert told.consistency.value == rows.consistency.value
    assert (told.sufficiency and told.sufficiency.value) == (rows.sufficiency and rows.sufficiency.value)


def test_maps_keep_their_shape():
    assert EXPLAINERS["lime"](IMAGES, lambda function: function).explain(NEW).shape == (1, 3, 4)
    assert EXPLAINERS["shap"](IMAGES, lambda function: function).explain(NEW).shape == (1, 3, 4)


def test_gradients_of_images_are_those_of_pixels():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(12, 2))
    flat_net = torch.nn.Sequential(torch.nn.Unflatten(1, (1, 3, 4)), net)
    for method in ("gradient", "integrated gradients"):
        maps = fs.explainers.Gradient(net, method=method, baseline=NEW[0]).explain(NEW)
        pixels = fs.explainers.Gradient(flat_net, method=method, baseline=NEW[0].ravel()).explain(NEW.reshape(6, 12))
        assert maps.shape == (1, 3, 4)
        assert (maps.values == pixels.values).all()


def test_tensors_reach_the_model_as_tensors():
    torch = pytest.importorskip("torch")
    seen = []

    def model(images):
        seen.append(type(images))
        return label(images)

    images = torch.tensor(IMAGES)
    told = fs.explainers.Counterfactual(model, images).explain(torch.tensor(NEW, requires_grad=True))
    assert set(seen) == {torch.Tensor}
    expected = fs.explainers.Counterfactual(label, IMAGES).explain(NEW)
    assert (told.points == expected.points).all()
