"""Rows of images and of tables in every explainer: pixels and columns are features, and the model gets its own kind."""

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.explainers import Anchors, Counterfactual, Lime, NearestNeighbors, Shap, TreePath, Unique

IMAGES = default_rng(0).random((40, 1, 3, 4))
FLAT = IMAGES.reshape(40, 12)
NEW = default_rng(1).random((6, 1, 3, 4))


def chances(images):
    assert tuple(images.shape[1:]) == (1, 3, 4), "the model gets images"
    share = np.asarray(images)[:, 0, 1].mean(axis=1)
    return np.column_stack([1 - share, share])


def label(images):
    return chances(images)[:, 1] > 0.5


def flat(function):
    return lambda rows: function(np.asarray(rows).reshape(len(rows), 1, 3, 4))


EXPLAINERS = {
    "tree": lambda rows, ask: TreePath.surrogate(ask(label), rows, max_leaf_nodes=4),
    "neighbors": lambda rows, ask: NearestNeighbors(rows),
    "gower": lambda rows, ask: NearestNeighbors(rows, metric="gower"),
    "lime": lambda rows, ask: Lime(ask(chances), rows, samples=50),
    "anchors": lambda rows, ask: Anchors(ask(label), rows, beam=1),
    "shap": lambda rows, ask: Shap(ask(chances), rows[:3], evaluations=60),
    "counterfactual": lambda rows, ask: Counterfactual(ask(label), rows),
    "unique": lambda rows, ask: Unique(),
}


@pytest.mark.parametrize("name", EXPLAINERS)
@pytest.mark.thorough
def test_images_are_explained_measured_and_reported_as_rows_of_pixels(name, tmp_path):
    explainer, pixels = EXPLAINERS[name](IMAGES, lambda function: function), NEW.reshape(6, 12)
    told = fs.evaluate(label, explainer, NEW, progress=False)
    told.to_html(tmp_path / "page.html")
    of_images, of_pixels = told.explanations, EXPLAINERS[name](FLAT, flat).explain(pixels)
    if isinstance(of_images, fs.Importances):
        assert of_images.shape == (1, 3, 4), "maps keep their shape"
        of_images, of_pixels = of_images._with(names=None), of_pixels._with(names=None, shape=(1, 3, 4))
    codes, _ = of_images.join(of_pixels).group()
    assert codes[:6].tolist() == codes[6:].tolist()
    rows = fs.evaluate(label(NEW), told.explanations, pixels, progress=False)
    assert told.consistency.value == rows.consistency.value
    assert (told.sufficiency and told.sufficiency.value) == (rows.sufficiency and rows.sufficiency.value)


def test_tensors_reach_the_model_as_tensors():
    torch = pytest.importorskip("torch")
    seen = []

    def model(images):
        seen.append(type(images))
        return label(images)

    images = torch.tensor(IMAGES)
    told = Counterfactual(model, images).explain(torch.tensor(NEW, requires_grad=True))
    assert set(seen) == {torch.Tensor}
    expected = Counterfactual(label, IMAGES).explain(NEW)
    assert (told.points == expected.points).all()
