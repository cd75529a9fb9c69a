"""What every explainer satisfies on every kind of rows: an explanation is a function of the row, whatever its batch.

The laws stand here once for all explainers; the files in tests/explainers test what an explainer says.
"""

import pickle
import random
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import brute
import faithscope as fs
from explainers.systems import (
    Rule,
    diabetes,
    forest,
    holey,
    network,
    opinion,
    people,
    regression_tree,
    reviews,
    tree,
    tumors,
)
from faithscope.explainers import (
    AllWords,
    Anchors,
    Constant,
    Counterfactual,
    Dice,
    FirstWord,
    Gradient,
    Lime,
    NearestNeighbors,
    Random,
    Shap,
    SufficientReason,
    TextAnchors,
    TopCoefficient,
    TreePath,
    Unique,
)
from faithscope.explainers import __all__ as names
from faithscope.inputs.rows import rows_of, take_rows
from faithscope.relations import says_where
from refused import refused

PLAIN = ("plain", lambda: tumors()[0], lambda: tumors()[0][::40])
NORMAL = ("plain", lambda: default_rng(0).normal(size=(20, 4)).astype(np.float32), lambda: NORMAL[1]())
TABLE = ("categories, missing values and dates", people, lambda: people(12, 1, new=True))
HOLEY = ("missing values", lambda: holey()[0], lambda: holey()[0][:15])
NUMBERS = ("regression", lambda: diabetes()[0], lambda: diabetes()[0][:120:10])
TEXTS = ("texts", lambda: None, lambda: reviews()[0][:8])
PAIR = ("categories and dates", lambda: people(150).dropna(), lambda: people(150).dropna()[20:23])
EPS = fs.Tolerance(30.0)


def boosted():
    return holey()[1]


def regressor():
    return diabetes()[2]


def words():
    return TopCoefficient(*reviews()[1:])


MAKERS = (
    (
        PLAIN,
        {
            "tree path": lambda X: TreePath(tree()),
            "sufficient reason": lambda X: SufficientReason(forest(), X),
            "surrogate": lambda X: TreePath.surrogate(forest(), X, max_leaf_nodes=8),
            "neighbors": lambda X: NearestNeighbors(X[:100], k=3),
            "lime": lambda X: Lime(forest(), X, samples=300),
            "lime, own draws": lambda X: Lime(forest(), X, samples=300, draws="own"),
            "anchors": lambda X: Anchors(forest(), X, beam=1),
            "anchors, beam": lambda X: Anchors(forest(), X, max_conditions=4),
            "counterfactual": lambda X: Counterfactual(forest(), X),
            "shap of trees": lambda X: Shap(forest(), X[:20]),
            "shap": lambda X: Shap(forest(), X[:20], algorithm="permutation", evaluations=30),
            "shap of labels": lambda X: Shap(forest(), X[:20], output="label"),
            "constant": lambda X: Constant(),
            "unique": lambda X: Unique(),
        },
    ),
    (
        NORMAL,
        {
            "gradient": lambda X: Gradient(network(3), offset=True),
            "gradient x input": lambda X: Gradient(network(3), method="gradient x input"),
            "integrated": lambda X: Gradient(network(3), method="integrated gradients", offset=True),
        },
    ),
    (
        TABLE,
        {
            "surrogate": lambda X: TreePath.surrogate(Rule(), X, max_leaf_nodes=8),
            "neighbors": lambda X: NearestNeighbors(X, metric="gower"),
            "lime": lambda X: Lime(Rule(), X, samples=300),
            "lime, own draws": lambda X: Lime(Rule(), X, samples=300, draws="own"),
            "anchors": lambda X: Anchors(Rule(), X, beam=2),
            "counterfactual": lambda X: Counterfactual(Rule(), X),
            "shap": lambda X: Shap(Rule(), X[:20], algorithm="permutation", evaluations=8),
            "random": lambda X: Random(5),
            "unique": lambda X: Unique(),
        },
    ),
    (
        PAIR,
        {
            "dice": lambda X: Dice(Rule(), X),
        },
    ),
    (
        HOLEY,
        {
            "sufficient reason": lambda X: SufficientReason(boosted(), X),
            "surrogate": lambda X: TreePath.surrogate(boosted(), X),
            "lime": lambda X: Lime(boosted(), X, samples=300),
            "anchors": lambda X: Anchors(boosted(), X, beam=1),
            "counterfactual": lambda X: Counterfactual(boosted(), X),
            "shap of margins": lambda X: Shap(boosted(), X[:20]),
            "shap": lambda X: Shap(boosted(), X[:20], output="probability"),
        },
    ),
    (
        NUMBERS,
        {
            "tree path": lambda X: TreePath(regression_tree()),
            "surrogate": lambda X: TreePath.surrogate(regressor(), X, max_leaf_nodes=9),
            "lime": lambda X: Lime(regressor(), X, samples=300),
            "shap of trees": lambda X: Shap(regressor(), X[:5]),
            "shap": lambda X: Shap(regressor().predict, X[:5]),
            "anchors": lambda X: Anchors(regressor(), X, agreement=EPS, threshold=0.7, max_conditions=3),
            "counterfactual": lambda X: Counterfactual(regressor(), X, agreement=EPS),
        },
    ),
    (
        TEXTS,
        {
            "first word": lambda X: FirstWord(),
            "all words": lambda X: AllWords(),
            "top coefficient": lambda X: words(),
            "text anchors": lambda X: TextAnchors(opinion),
            "text anchors, beam": lambda X: TextAnchors(opinion, beam=4),
            "random": lambda X: Random(5),
        },
    ),
)
CASES = {f"{name} | {kind}": (*of, make) for (kind, *of), makers in MAKERS for name, make in makers.items()}
# These take no time and say no progress.
INSTANT = ("TreePath", "FirstWord", "AllWords", "TopCoefficient", "Constant", "Random", "Unique", "NearestNeighbors")


@cache
def system(name):
    """An explainer, rows to explain, and their explanations."""
    training, rows, make = CASES[name]
    if name.startswith("dice"):
        pytest.importorskip("dice_ml", reason='dice-ml is not installed: pip install "faithscope[dice]"')
    explainer, asked = make(training()), rows()
    return explainer, asked, explainer.explain(asked)


of_every_system = pytest.mark.parametrize("name", CASES)


def same(a, b):
    """Whether two sets of explanations are equal, row by row."""
    if isinstance(a, fs.Importances):
        return a.values.shape == b.values.shape and np.allclose(a.values, b.values, rtol=1e-9, atol=1e-9)
    if isinstance(a, fs.Counterfactuals):
        return a.points.tolist() == b.points.tolist()
    codes = a.join(b).group()[0]
    return (codes[: len(a)] == codes[len(a) :]).all() and np.array_equal(a.claimed, b.claimed)


def test_every_explainer_is_looked_at():
    assert {type(make(training())).__name__ for training, _, make in CASES.values()} == set(names)


@of_every_system
def test_explanations_keep_the_row_labels_of_their_table(name):
    explainer, rows, _ = system(name)
    two, labels = take_rows(rows, np.array([1, 0])), ["row 7", "row 3"]
    labelled = pd.Series(two, labels) if isinstance(two, list) else pd.DataFrame(two).set_axis(labels, axis=0)
    assert explainer.explain(labelled).index.tolist() == labels


@of_every_system
def test_a_row_is_explained_alike_in_any_batch_by_a_pickled_explainer_that_leaves_chance_and_screen_alone(name, capfd):
    explainer, rows, together = system(name)
    again, told, n = pickle.loads(pickle.dumps(explainer)), [], rows_of(rows)
    assert repr(again) == repr(explainer)
    assert len(together) == n
    order = np.r_[default_rng(0).permutation(n), : n // 2]
    capfd.readouterr()
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    mixed = again.explain(take_rows(rows, order), progress=lambda *call: told.append(call))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002
    assert capfd.readouterr() == ("", "")
    assert same(together.take(order), mixed)
    codes = dict(zip(order[:n].tolist(), mixed.group()[0][:n].tolist(), strict=True))
    assert [codes[row] for row in order[n:].tolist()] == mixed.group()[0][n:].tolist(), "equal to the last bit"
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1:] == ([] if type(explainer).__name__ in INSTANT else [(len(order), len(order))])
    for row in order[: 1 if "dice" in name else 2]:
        assert same(together.take([row]), explainer.explain(take_rows(rows, np.array([row])), progress=True))
    none = explainer.explain(take_rows(rows, np.array([], int)))
    assert len(none) == 0
    assert len(none.join(together)) == n
    words = r"progress must be .*\(done, total\); got str"
    refused(fs.errors.WrongType, words, explainer.explain, take_rows(rows, np.arange(2)), progress="yes")


@of_every_system
def test_explanations_can_be_measured_and_cover_their_own_row_if_they_say_where_they_apply(name):
    _, rows, explanations = system(name)
    labels = np.arange(rows_of(rows)) % 2
    ev = fs.evaluate(labels, explanations, rows)
    codes = explanations.group()[0].tolist()
    assert ev.consistency.value == pytest.approx(brute.consistency(codes, labels.tolist()), abs=1e-12)
    assert ev.consistency.unverifiable == pytest.approx(brute.unverifiable(codes), abs=1e-12)
    assert len(ev.local()) == rows_of(rows)
    if says_where(explanations, None):
        assert ev.sufficiency.counts.missed.sum() == 0
    else:
        with pytest.raises(fs.errors.NotScoped):
            fs.sufficiency(explanations, labels, rows)


SEEDED = [name for name in CASES if name.split(" |")[0] in ("lime", "lime, own draws", "random")]
SEEDED += [name for name in CASES if "anchors |" in name] + [
    "dice | " + PAIR[0],
    "shap | plain",
]


@pytest.mark.parametrize("name", SEEDED)
def test_another_seed_draws_anew(name):
    explainer, rows, explanations = system(name)
    assert not same(explanations, type(explainer)(**{**explainer.get_params(), "seed": 1}).explain(rows))


ROOM = "faithscope.explainers."
BLOCKS = [
    ("gradient | plain", "gradient._ROWS", 3),
    ("integrated | plain", "gradient._ROWS", 50),
    ("shap of trees | plain", "shap.trees._TREE_ROWS", 4),
    ("shap | missing values", "shap.coalitions._PAIR_CELLS", 100),
    ("shap | plain", "shap.coalitions._CELLS", 500),
    ("lime, own draws | plain", "lime._VALUES", 300 * 6 * 5),
    ("lime | missing values", "lime._AT_A_TIME", 3_000),
    ("lime | missing values", "lime.WORKERS", 5),
    ("lime | missing values", "lime.WORKERS", 1),
    ("anchors | plain", "anchors.tables._GROUP", 4),
    *[("anchors | regression", "anchors.tables._LINES", lines) for lines in (9, 50)],
    ("text anchors | texts", "anchors.texts._GROUP", 2),
    ("counterfactual | plain", "counterfactual._DISTANCES", 7 * 569),
    ("counterfactual | plain", "counterfactual._NUMBERS", 40 * 6),
    ("counterfactual | regression", "counterfactual._DISTANCES", 5 * 442),
    ("sufficient reason | plain", "reason._CELLS", 300),
]


@pytest.mark.parametrize(("name", "limit", "value"), BLOCKS)
def test_the_size_of_blocks_does_not_matter(name, limit, value, monkeypatch):
    explainer, rows, explanations = system(name)
    told = []
    monkeypatch.setattr(ROOM + limit, value)
    assert same(explanations, explainer.explain(rows, progress=lambda *call: told.append(call)))
    assert told == sorted(set(told))
    assert told[-1] == (len(explanations), len(explanations))
