"""The boosted trees that the paper explains: xgboost's as defined, scikit-learn's as run, or a stand-in for them."""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import MissingExtra
from faithscope.inputs.grouping import group
from faithscope.runtime.files import write_atomically
from faithscope_reproduction.data import Floats, Ints, Split, split
from faithscope_reproduction.printed import rows as printed_rows
from faithscope_reproduction.records import Setting
from faithscope_reproduction.settings import Settings

# scikit-learn would train for about 5,000 seconds, by the first rounds on 4,000 and on 16,000 of 389,278 rows.
STAND_IN = ("covtype",)
_QUICK_TRAIN, _QUICK_TREES = 3_000, 20
_MANY_TREES = 1_000  # from which on grouping rows takes less time than asking about equal ones again
_MOST_CELLS = 2**21  # of Chess xgboost's trees have 65,536, scikit-learn's 1,382,976
_SMALLEST = 1e-150  # below which scikit-learn takes a denominator for 0
# The paper's grid.
_RATES = tuple(2.0**power for power in range(-5, 3))
_TREES = (50, 100, 150, 200, 250, 300)
_DEPTHS = (3, 4, 5, 6, 7)

Box = tuple[int, Ints, Ints, float]  # of a leaf: its output, the least and greatest cell of each feature, its value


def load_xgboost() -> Any:
    """The library, or a sentence that says how to install it."""
    try:
        import xgboost
    except ImportError:
        raise MissingExtra("The paper's boosted trees need xgboost: pip install 'faithscope[xgboost]'.") from None
    return xgboost


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
    chosen : mapping
        The settings it was trained with.
    """

    content: bytes = field(repr=False)
    start: Floats
    chosen: Mapping[str, Any]

    def __fingerprint__(self) -> str:
        """Identifies the model by its trees."""
        return hashlib.blake2b(self.content + self.start.tobytes(), digest_size=16).hexdigest()

    @cached_property
    def estimator(self) -> Any:
        """The model as xgboost has it."""
        classifier = load_xgboost().XGBClassifier()
        classifier.load_model(bytearray(self.content))
        return classifier

    @cached_property
    def trees(self) -> list[dict[str, Any]]:
        """The trees as xgboost writes them, as arrays: round by round, one per output."""
        numbers = {"left_children": int, "right_children": int, "split_indices": int, "split_conditions": np.float32}
        return [{name: np.array(tree[name], kind) for name, kind in numbers.items()} for tree in _trees(self.content)]

    @cached_property
    def thresholds(self) -> tuple[NDArray[np.float32], ...]:
        """The values at which the trees split each feature, in single precision, in which they compare."""
        leaf, feature, value = (
            np.concatenate([tree[name] for tree in self.trees])
            for name in ("left_children", "split_indices", "split_conditions")
        )
        features = self.estimator.get_booster().num_features()
        return tuple(np.unique(value[(leaf >= 0) & (feature == j)]) for j in range(features))

    def cells(self, X: Any) -> Ints:
        """How many thresholds lie at or below each value: rows with equal numbers get equal answers."""
        columns = zip(self.thresholds, np.asarray(X, np.float32).T, strict=True)
        return np.stack([np.searchsorted(splits, column, side="right") for splits, column in columns], axis=1)

    def snapped(self, X: Any) -> Floats:
        """Rows that get the same answers, with one value per cell between two thresholds."""
        return np.stack([axis[cell] for axis, cell in zip(self._axes, self.cells(X).T, strict=True)], axis=1)

    @property
    def _axes(self) -> list[Floats]:
        """A value in each cell of each feature."""
        below = [np.nextafter(splits[:1], np.float32(-np.inf)) for splits in self.thresholds]
        axes = [np.concatenate(pair) for pair in zip(below, self.thresholds, strict=True)]
        return [axis.astype(np.float64) if len(axis) else np.zeros(1) for axis in axes]

    def leaves(self) -> list[Box]:
        """The region of every leaf, in cells, and what it adds to the margin of its output."""
        boxes: list[Box] = []
        most = np.array([len(splits) for splits in self.thresholds])
        for number, tree in enumerate(self.trees):
            nodes = [(0, np.zeros_like(most), most)]
            for node, low, high in nodes:
                value, j = tree["split_conditions"][node], tree["split_indices"][node]
                if (left := tree["left_children"][node]) < 0:
                    boxes.append((number % len(self.start), low, high, float(value)))
                    continue
                place = np.searchsorted(self.thresholds[j], value)
                below, above = high.copy(), low.copy()
                below[j], above[j] = min(high[j], place), max(low[j], place + 1)
                nodes += [(left, low, below), (tree["right_children"][node], above, high)]
        return boxes

    def predict(self, X: Any) -> Ints:
        """Positions of the predicted labels; of many trees, equal rows are asked about once."""
        rows = np.asarray(X, np.float64)
        codes, first = group((self.cells(rows),)) if len(self.trees) >= _MANY_TREES else (slice(None), slice(None))
        return np.asarray(self._margins(rows[first]).argmax(axis=1)[codes])

    def predict_proba(self, X: Any) -> Floats:
        """A probability for each label."""
        return softmax(self._margins(np.asarray(X, np.float64)))

    def _margins(self, rows: Floats) -> Floats:
        """Margins of all classes; of two classes those of the first are 0."""
        margins = self.estimator.get_booster().inplace_predict(rows.astype(np.float32), predict_type="margin")
        margins = np.asarray(margins, np.float64).reshape(len(rows), len(self.start)) + self.start
        return np.column_stack([np.zeros(len(rows)), margins]) if margins.shape[1] == 1 else margins


def _trees(content: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(content)["learner"]["gradient_booster"]["model"]["trees"]
    return found


def softmax(margins: Floats) -> Floats:
    """Probabilities from margins."""
    powers = np.exp(margins - margins.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Tabulated:
    """Boosted trees as a table: between two neighboring thresholds of every feature their answer is constant."""

    model: Boosted
    labels: Ints
    chances: Floats

    def __fingerprint__(self) -> str:
        """Identifies the table by its trees, whose answers it gives."""
        return f"tabulated {self.model.__fingerprint__()}"

    def predict(self, X: Any) -> Ints:
        """Positions of the predicted labels."""
        return np.asarray(self.labels[self._cells(X)])

    def predict_proba(self, X: Any) -> Floats:
        """A probability for each label."""
        return np.asarray(self.chances[self._cells(X)])

    def _cells(self, X: Any) -> Any:
        sizes = [len(splits) + 1 for splits in self.model.thresholds]
        return np.ravel_multi_index(tuple(self.model.cells(X).T), sizes)


@lru_cache(maxsize=2)
def tabulated(model: Boosted) -> Boosted | Tabulated:
    """The model as a table if its thresholds leave few cells, else the model itself."""
    if float(np.prod([len(splits) + 1 for splits in model.thresholds], dtype=float)) > _MOST_CELLS:
        return model
    every = np.stack([axis.ravel() for axis in np.meshgrid(*model._axes, indexing="ij")], axis=1)
    margins = model._margins(every)
    return Tabulated(model, margins.argmax(axis=1), softmax(margins))


@lru_cache(maxsize=4)
def trained(name: str, settings: Settings, setting: Setting) -> tuple[Split, Boosted]:
    """A data set and its model in a setting, with the settings of the paper's Table 4 or by its grid.

    The model is trained once and kept in the cache.
    """
    import sklearn

    data = split(name, settings.folder, settings.seed, setting)
    rows = hashlib.blake2b(np.ascontiguousarray(data.train).tobytes(), digest_size=16).hexdigest()
    path = settings.path("models", name, setting, rows, sklearn.__version__, load_xgboost().__version__)
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as kept:
            return data, Boosted(kept["content"].tobytes(), kept["start"], json.loads(str(kept["chosen"])))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):  # there is none, or it was cut short
        model = _fitted(data, settings, setting)
    file = io.BytesIO()
    content = np.frombuffer(model.content, np.uint8)
    np.savez(file, content=content, start=model.start, chosen=np.array(json.dumps(model.chosen)))
    write_atomically(path, file.getvalue())
    return data, model


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
        return of_scikit_learn(GradientBoostingClassifier(random_state=settings.seed, **chosen).fit(X, y), chosen)
    chosen = searched(X, y, settings.seed) if settings.search else chosen
    booster = _classifier(settings.seed, **chosen).fit(X, y).get_booster()
    outputs = 1 if len(data.classes) == 2 else len(data.classes)
    return Boosted(bytes(booster.save_raw("json")), np.zeros(outputs), chosen)


def _classifier(seed: int, **chosen: Any) -> Any:
    return load_xgboost().XGBClassifier(tree_method="hist", random_state=seed, n_jobs=-1, **chosen)


def searched(X: Floats, y: Ints, seed: int) -> dict[str, Any]:
    """The best of all combinations of the paper's grid by mean accuracy over three folds; the first among equals.

    Boosting adds one tree at a time, so a model with fewer trees is the beginning of the model with most trees.
    """
    from sklearn.model_selection import KFold

    accuracies: dict[tuple[float, int, int], float] = {}
    for train, test in KFold(3, shuffle=True, random_state=seed).split(X):
        for rate in _RATES:
            for depth in _DEPTHS:
                model = _classifier(seed, learning_rate=rate, n_estimators=_TREES[-1], max_depth=depth)
                model.fit(X[train], y[train])
                for trees in _TREES:
                    right = float(np.mean(model.predict(X[test], iteration_range=(0, trees)) == y[test]))
                    accuracies[rate, trees, depth] = accuracies.get((rate, trees, depth), 0.0) + right
    rate, trees, depth = max(accuracies, key=lambda choice: accuracies[choice])
    return {"learning_rate": rate, "n_estimators": trees, "max_depth": depth}


def of_scikit_learn(estimator: Any, chosen: Mapping[str, Any]) -> Boosted:
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
    return _of_trees(trees, np.asarray(start, np.float64), features, chosen)


def _of_trees(trees: Sequence[dict[str, Any]], start: Floats, features: int, chosen: Mapping[str, Any]) -> Boosted:
    """Trees as a model of xgboost's, whose file is that of a stump with other trees put in."""
    xgboost, outputs = load_xgboost(), len(start)
    asked = {"objective": "multi:softprob", "num_class": outputs} if outputs > 1 else {}
    rows = xgboost.DMatrix(np.zeros((outputs, features)), label=np.arange(outputs))
    stump = xgboost.train({**asked, "base_score": 0.0, "max_depth": 1, "nthread": 1}, rows, 1)
    file = json.loads(bytes(stump.save_raw("json")))
    model = file["learner"]["gradient_booster"]["model"]
    like = model["trees"][0]
    model["trees"] = [
        like | tree | {"id": number, "tree_param": like["tree_param"] | {"num_nodes": str(len(tree["left_children"]))}}
        for number, tree in enumerate(trees)
    ]
    model["tree_info"] = [number % outputs for number in range(len(trees))]
    model["iteration_indptr"] = list(range(0, len(trees) + 1, outputs))
    model["gbtree_model_param"]["num_trees"] = str(len(trees))
    return Boosted(json.dumps(file).encode(), start, chosen)


def stand_in(X: Floats, y: Ints, chosen: Mapping[str, Any], seed: int) -> Boosted:
    """Boosted trees by the rule of scikit-learn's ``GradientBoostingClassifier`` for three classes or more.

    In each round one tree per class is grown on the residuals, ``1(y = k) - p_k``, by least squares; each leaf then
    takes one Newton step, ``(K - 1) / K · Σ r / Σ p_k (1 - p_k)``. There is no penalty and no least weight of a leaf.
    xgboost grows the trees (with second derivatives of 1 its gain is that of least squares), on 256 bins per feature
    where scikit-learn tries every split: that alone differs.
    """
    xgboost, classes = load_xgboost(), int(y.max()) + 1
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
        for k, tree in enumerate(_trees(bytes(booster.save_raw("json")))):
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
    return _of_trees(trees, start, X.shape[1], chosen)
