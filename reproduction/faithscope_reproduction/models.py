"""The boosted trees that the paper explains: xgboost's as defined, scikit-learn's as run, or a stand-in for them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import xgboost

from faithscope.explainers.trees.reading import read_forest
from faithscope.runtime.files import write_atomically
from faithscope_reproduction.data import Floats, Ints, Split, split
from faithscope_reproduction.printed import rows as printed_rows
from faithscope_reproduction.records import Setting
from faithscope_reproduction.settings import Settings

# scikit-learn would train for about 5,000 seconds, by the first rounds on 4,000 and on 16,000 of 389,278 rows.
STAND_IN = ("covtype",)
_QUICK_TRAIN, _QUICK_TREES = 3_000, 20
_MOST_CELLS = 2**21  # of Chess xgboost's trees have 65,536, scikit-learn's 1,382,976
_SMALLEST = 1e-150  # below which scikit-learn takes a denominator for 0
_LARGEST = 1e35  # of leaves, which divide by what is hardly more: sums of many are finite in single precision


@dataclass(frozen=True, eq=False)
class Boosted:
    """Boosted trees as a model of xgboost's, whoever grew them; they compare and add in single precision.

    ``predict`` gives positions of labels, ``predict_proba`` probabilities. scikit-learn adds in double precision, so
    a label differs from its own only where two margins are equal but for rounding.

    Attributes
    ----------
    content : bytes
        The model as xgboost writes it, as JSON.
    start : (outputs,) array
        What is added to its margins; one output if there are two classes.
    """

    content: bytes = field(repr=False)
    start: Floats

    def __fingerprint__(self) -> str:
        """Identifies the model by its trees."""
        return hashlib.blake2b(self.content + self.start.tobytes(), digest_size=16).hexdigest()

    @cached_property
    def estimator(self) -> Any:
        """The model as xgboost has it."""
        classifier = xgboost.XGBClassifier()
        classifier.load_model(bytearray(self.content))
        return classifier

    @cached_property
    def forest(self) -> Any:
        """The trees, and the cells between their thresholds: rows of the same cells get the same answers."""
        return read_forest(self.estimator)

    @cached_property
    def table(self) -> Floats | None:
        """The margins of every combination of cells; None where there are many."""
        edges: list[Floats] = self.forest.edges
        if float(np.prod([len(cuts) + 1.0 for cuts in edges])) > _MOST_CELLS:
            return None
        axes = [np.append(cuts, cuts[-1:] + 1.0) if len(cuts) else np.zeros(1) for cuts in edges]
        return self._asked(np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1))

    def predict(self, X: Any) -> Ints:
        """Positions of the predicted labels."""
        return np.asarray(self.margins(X).argmax(axis=1))

    def predict_proba(self, X: Any) -> Floats:
        """A probability for each label."""
        return softmax(self.margins(X))

    def margins(self, X: Any) -> Floats:
        """Margins of all classes, of two classes 0 and that of the second; from the table if there is one."""
        rows = np.asarray(X, np.float64)
        if self.table is not None:
            sizes = [len(cuts) + 1 for cuts in self.forest.edges]
            return np.asarray(self.table[np.ravel_multi_index(tuple(self.forest.cells(rows).T), sizes)])
        return self._asked(rows)

    def _asked(self, rows: Floats) -> Floats:
        margins = self.estimator.get_booster().inplace_predict(rows.astype(np.float32), predict_type="margin")
        margins = np.asarray(margins, np.float64).reshape(len(rows), len(self.start)) + self.start
        return np.column_stack([np.zeros(len(rows)), margins]) if margins.shape[1] == 1 else margins


def softmax(margins: Floats) -> Floats:
    """Probabilities from margins."""
    powers = np.exp(margins - margins.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@lru_cache(maxsize=4)
def trained(name: str, settings: Settings, setting: Setting) -> tuple[Split, Boosted]:
    """A data set and its model in a setting, with the settings of the paper's Table 4.

    The model is trained once and kept in the cache.
    """
    import sklearn

    data = split(name, settings.folder, settings.seed, setting)
    rows = hashlib.blake2b(np.ascontiguousarray(data.train).tobytes(), digest_size=16).hexdigest()
    path = settings.path("models", name, setting, rows, sklearn.__version__, xgboost.__version__)
    if not path.exists():
        model = _fitted(data, settings, setting)
        write_atomically(path, json.dumps(model.start.tolist()).encode() + b"\n" + model.content)
    start, _, content = path.read_bytes().partition(b"\n")
    return data, Boosted(content, np.array(json.loads(start)))


def _fitted(data: Split, settings: Settings, setting: Setting) -> Boosted:
    from sklearn.ensemble import GradientBoostingClassifier

    X, y = data.train, data.y_train
    line = next(row for row in printed_rows("table4") if row["dataset"] == data.name)
    chosen: dict[str, Any] = {"learning_rate": float(line["learning_rate"])}
    chosen |= {name: int(line[name]) for name in ("n_estimators", "max_depth")}
    if settings.quick:  # the first rows, and the first row of every class
        chosen["n_estimators"] = min(chosen["n_estimators"], _QUICK_TREES)
        first = np.unique(y, return_index=True)[1]
        kept = np.unique(np.concatenate([first, np.arange(min(_QUICK_TRAIN, len(y)))]))
        X, y = X[kept], y[kept]
    if setting == "as_run":
        if data.name in STAND_IN:
            return stand_in(X, y, chosen, settings.seed)
        return of_scikit_learn(GradientBoostingClassifier(random_state=settings.seed, **chosen).fit(X, y))
    classifier = xgboost.XGBClassifier(tree_method="hist", random_state=settings.seed, n_jobs=-1, **chosen)
    booster = classifier.fit(X, y).get_booster()
    outputs = 1 if len(data.classes) == 2 else len(data.classes)
    return Boosted(bytes(booster.save_raw("json")), np.zeros(outputs))


def of_scikit_learn(estimator: Any) -> Boosted:
    """The trees of scikit-learn's fitted ``GradientBoostingClassifier``."""
    trees = []
    for tree in (each.tree_ for each in estimator.estimators_.ravel()):
        order = [0]  # xgboost takes the node after a left child for the right one
        for node in order:
            if tree.children_left[node] >= 0:
                order += [tree.children_left[node], tree.children_right[node]]
        leaf, place = tree.children_left[order] < 0, np.argsort(order)
        left, right = (np.where(leaf, -1, place[side[order]]) for side in (tree.children_left, tree.children_right))
        parents = np.full(len(leaf), 2**31 - 1)
        for side in (left, right):
            parents[side[~leaf]] = np.flatnonzero(~leaf)
        # x <= threshold exactly where x is below the least single-precision number above the threshold.
        threshold = tree.threshold[order]
        near = threshold.astype(np.float32)
        near = np.where(near > threshold, np.nextafter(near, np.float32(-np.inf)), near)
        condition = np.where(
            leaf, estimator.learning_rate * tree.value[order, 0, 0], np.nextafter(near, np.float32(np.inf))
        )
        nothing = [0] * len(leaf)
        trees.append(
            {
                "left_children": left.tolist(),
                "right_children": right.tolist(),
                "parents": parents.tolist(),
                "split_indices": np.where(leaf, 0, tree.feature[order]).tolist(),
                "split_conditions": condition.tolist(),
                **dict.fromkeys(("split_type", "default_left"), nothing),
                **dict.fromkeys(("base_weights", "loss_changes", "sum_hessian"), [0.0] * len(leaf)),
            }
        )
    features = estimator.n_features_in_
    start = estimator._raw_predict_init(np.zeros((1, features), np.float32))[0]  # by the classes' shares
    return _of_trees(trees, np.asarray(start, np.float64), features)


def _of_trees(trees: Sequence[dict[str, Any]], start: Floats, features: int) -> Boosted:
    """Trees as a model of xgboost's, whose file is that of a stump with other trees put in; no leaf is beyond 1e35."""
    for tree in trees:
        tree["split_conditions"] = np.clip(tree["split_conditions"], -_LARGEST, _LARGEST).tolist()
    outputs = len(start)
    asked = {"objective": "multi:softprob", "num_class": outputs} if outputs > 1 else {}
    rows = xgboost.DMatrix(np.zeros((outputs, features)), label=np.arange(outputs))
    stump = xgboost.train({**asked, "base_score": 0.0, "max_depth": 1, "nthread": 1}, rows, 1)
    file = json.loads(stump.save_raw("json"))
    model = _model(file)
    like = model["trees"][0]
    model["trees"] = [
        like | tree | {"id": number, "tree_param": like["tree_param"] | {"num_nodes": str(len(tree["left_children"]))}}
        for number, tree in enumerate(trees)
    ]
    model["tree_info"] = [number % outputs for number in range(len(trees))]
    model["iteration_indptr"] = list(range(0, len(trees) + 1, outputs))
    model["gbtree_model_param"]["num_trees"] = str(len(trees))
    return Boosted(json.dumps(file).encode(), start)


def _model(file: dict[str, Any]) -> dict[str, Any]:
    model: dict[str, Any] = file["learner"]["gradient_booster"]["model"]
    return model


def stand_in(X: Floats, y: Ints, chosen: Mapping[str, Any], seed: int) -> Boosted:
    """Boosted trees by the rule of scikit-learn's ``GradientBoostingClassifier`` for three classes or more.

    In each round one tree per class is grown on the residuals, ``1(y = k) - p_k``, by least squares; each leaf then
    takes one Newton step, ``(K - 1) / K · Σ r / Σ p_k (1 - p_k)``. There is no penalty and no least weight of a leaf.
    xgboost grows the trees (with second derivatives of 1 its gain is that of least squares), on 256 bins per feature
    where scikit-learn tries every split: that alone differs.
    """
    classes = int(y.max()) + 1
    rows = xgboost.QuantileDMatrix(np.asarray(X, np.float32), label=y)
    grown = {"objective": "multi:softprob", "num_class": classes, "tree_method": "hist", "seed": seed, "base_score": 0}
    grown |= {"max_depth": chosen["max_depth"], "reg_lambda": 0.0, "min_child_weight": 1.0, "learning_rate": 1.0}
    start = np.log(np.bincount(y, minlength=classes) / len(y))
    margins, truth = np.tile(start, (len(y), 1)), np.eye(classes)[y]
    trees: list[dict[str, Any]] = []
    for _ in range(chosen["n_estimators"]):
        residuals = truth - softmax(margins)
        slopes = (-residuals.astype(np.float32), np.ones(residuals.shape, np.float32))
        booster = xgboost.Booster(grown, [rows])  # a new one, since it tells the leaves of all its trees or none
        booster.update(rows, 0, fobj=lambda *_, slopes=slopes: slopes)
        leaves = booster.predict(rows, pred_leaf=True).astype(np.int64).reshape(len(y), classes)
        for k, tree in enumerate(_model(json.loads(booster.save_raw("json")))["trees"]):
            # Since r is 1 - p or -p, |r| (1 - |r|) is p (1 - p).
            sizes, r = np.abs(residuals[:, k]), residuals[:, k]
            above = np.bincount(leaves[:, k], r) * (classes - 1) / classes
            below = np.bincount(leaves[:, k], sizes * (1 - sizes))
            steps = np.where(np.abs(below) < _SMALLEST, 0.0, above / np.maximum(below, _SMALLEST))
            values = chosen["learning_rate"] * steps
            margins[:, k] += values[leaves[:, k]]
            values = np.pad(values, (0, len(tree["left_children"]) - len(values)))
            is_leaf = np.array(tree["left_children"]) < 0
            tree["split_conditions"] = np.where(is_leaf, values, tree["split_conditions"]).tolist()
            trees.append(tree)
    return _of_trees(trees, start, X.shape[1])
