"""Boosted trees as arrays: scikit-learn's, or those of a stand-in that follows its rule, asked fast and exactly."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import MissingExtra
from faithscope.inputs.grouping import group

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_AT_ONCE = 2**21  # pairs of a row and a tree that are followed at once in double precision
_MANY_TREES = 1_000  # from which on grouping rows takes less time than asking about equal ones again


@dataclass(frozen=True, eq=False)
class Forest:
    """Boosted trees, one per round and output: a row goes left where its value, in single precision, is below.

    Margins are summed in double precision from the first round on, as scikit-learn sums them, so labels are its
    labels. xgboost sums the same trees in single precision, which is fast: rows whose two largest margins are nearer
    than its rounding can reach are summed again.

    Attributes
    ----------
    feature : (nodes,) array of int
    threshold : (nodes,) array of float32
    left, right : (nodes,) arrays of int
        Positions of nodes; of a leaf, its own.
    value : (nodes,) array
        What a leaf adds to the margin, times the learning rate.
    roots : (rounds, outputs) array of int
        One output if there are two classes.
    start : (outputs,) array
        Margins before the first round.
    features : int
    """

    feature: Ints
    threshold: NDArray[np.float32]
    left: Ints
    right: Ints
    value: Floats
    roots: Ints
    start: Floats
    features: int

    @classmethod
    def of(cls, estimator: Any) -> "Forest":
        """The trees of scikit-learn's fitted ``GradientBoostingClassifier``."""
        trees = [tree.tree_ for tree in estimator.estimators_.ravel()]
        sizes = np.array([tree.node_count for tree in trees])
        first = np.cumsum(sizes) - sizes
        own, at = np.arange(sizes.sum()), np.repeat(first, sizes)
        left, right = (
            np.concatenate([getattr(tree, side) for tree in trees]) for side in ("children_left", "children_right")
        )
        leaf = left < 0
        value = np.concatenate([tree.value[:, 0, 0] for tree in trees]) * estimator.learning_rate
        return cls(
            np.where(leaf, 0, np.concatenate([tree.feature for tree in trees])).astype(np.int64),
            np.where(leaf, np.float32(0), _below(np.concatenate([tree.threshold for tree in trees]))),
            np.where(leaf, own, left + at),
            np.where(leaf, own, right + at),
            np.where(leaf, value, 0.0),
            first.reshape(estimator.estimators_.shape),
            _start(estimator),
            estimator.n_features_in_,
        )

    def __fingerprint__(self) -> str:
        """Identifies the model by its trees."""
        parts = (self.feature, self.threshold, self.left, self.right, self.value, self.roots, self.start)
        return hashlib.blake2b(b"".join(part.tobytes() for part in parts), digest_size=16).hexdigest()

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return np.asarray(self.left == np.arange(len(self.left)))

    @cached_property
    def thresholds(self) -> tuple[NDArray[np.float32], ...]:
        """The values at which the trees split each feature, in single precision, in which they compare."""
        inner = ~self.is_leaf
        return tuple(np.unique(self.threshold[inner & (self.feature == j)]) for j in range(self.features))

    def cells(self, X: Any) -> NDArray[np.int32]:
        """How many thresholds lie at or below each value: rows with equal numbers get equal answers."""
        columns = np.asarray(X, np.float32).T
        places = [
            np.searchsorted(splits, column, side="right")
            for splits, column in zip(self.thresholds, columns, strict=True)
        ]
        return np.stack(places, axis=1).astype(np.int32)

    def snapped(self, X: Any) -> Floats:
        """Rows that get the same answers, with one value per cell between two thresholds."""
        values = [
            np.concatenate([np.nextafter(splits[:1], np.float32(-np.inf)), splits]) if len(splits) else np.zeros(1)
            for splits in self.thresholds
        ]
        columns = [axis[cell] for axis, cell in zip(values, self.cells(X).T, strict=True)]
        return np.stack(columns, axis=1).astype(np.float64)

    @cached_property
    def regions(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The least and the greatest cell of each feature from which rows reach each node: (nodes, features)."""
        low = np.zeros((len(self.left), self.features), np.int32)
        high = np.full(low.shape, np.iinfo(np.int32).max, np.int32)
        node = self.roots.ravel()
        while len(node := node[~self.is_leaf[node]]):
            feature = self.feature[node]
            place = np.empty(len(node), np.int32)
            for j, splits in enumerate(self.thresholds):
                place[feature == j] = np.searchsorted(splits, self.threshold[node[feature == j]])
            for side in (self.left[node], self.right[node]):
                low[side], high[side] = low[node], high[node]
            left, right = self.left[node], self.right[node]
            high[left, feature] = np.minimum(high[left, feature], place)
            low[right, feature] = np.maximum(low[right, feature], place + 1)
            node = np.concatenate([left, right])
        return low, high

    def predict(self, X: Any) -> Ints:
        """Positions of the predicted labels; of many trees, equal rows are asked about once."""
        rows = np.asarray(X, np.float64)
        if self.roots.size < _MANY_TREES:
            return self._labels(rows)
        codes, first = group((self.cells(rows),))
        return self._labels(rows[first])[codes]

    def predict_proba(self, X: Any) -> Floats:
        """A probability for each label, from margins in single precision."""
        return self.chances(self._fast(np.asarray(X, np.float64)))

    @staticmethod
    def chances(margins: Floats) -> Floats:
        """Probabilities from margins."""
        powers = np.exp(margins - margins.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def labels(self, margins: Floats) -> Ints:
        """Positions of labels from margins as scikit-learn sums them."""
        # Of two classes scikit-learn gives a margin of exactly 0 to the second.
        return np.asarray(1 - margins[:, ::-1].argmax(axis=1) if len(self.start) == 1 else margins.argmax(axis=1))

    def margins(self, X: Any) -> Floats:
        """Margins (n, classes), bit by bit those of scikit-learn; of two classes those of the first are 0."""
        rows = np.asarray(X, np.float32)
        step = max(1, _AT_ONCE // self.roots.size)
        parts = [self._followed(rows[at : at + step]) for at in range(0, len(rows), step)]
        return np.concatenate([*parts, np.empty((0, max(2, len(self.start))))])

    def _followed(self, rows: NDArray[np.float32]) -> Floats:
        node = np.tile(self.roots.ravel(), (len(rows), 1))
        while not self.is_leaf[node].all():
            below = np.take_along_axis(rows, self.feature[node], axis=1) < self.threshold[node]
            node = np.where(below, self.left[node], self.right[node])
        added = self.value[node].reshape(len(rows), *self.roots.shape)
        margins = np.tile(self.start, (len(rows), 1))
        for of_round in np.moveaxis(added, 1, 0):  # in this order, for the sake of rounding
            margins += of_round
        return of_both(margins)

    def _labels(self, rows: Floats) -> Ints:
        margins = self._fast(rows)
        return self.settled(margins.argmax(axis=1), _lead(margins), self.sizes(rows), lambda doubtful: rows[doubtful])

    def sizes(self, rows: Floats) -> Floats:
        """What the trees of a label add to each row without their signs, for the label of which that is most."""
        sums = self._unsigned.inplace_predict(np.asarray(rows, np.float32), predict_type="margin")
        return np.asarray(sums.reshape(len(rows), self.roots.shape[1]).max(axis=1, initial=0.0), np.float64)

    @cached_property
    def largest_size(self) -> float:
        """What `sizes` gives no row more of."""
        largest = np.maximum.reduceat(np.abs(self.value), self.roots.ravel())
        return float(largest.reshape(self.roots.shape).sum(axis=0).max())

    def settled(self, labels: Ints, lead: Floats, sizes: NDArray[Any], rows: Any) -> Ints:
        """Labels from margins in single precision, summed again in double where the lead does not exceed the rounding.

        Parameters
        ----------
        labels, lead : (n,) arrays
            Labels, and by how much their margin exceeds the next.
        sizes : (n,) array
            What `sizes` gives.
        rows : callable
            From positions to rows.
        """
        doubtful = np.flatnonzero((lead <= 2 * self.rounding(sizes)) | (sizes >= 0.9 * self._most))
        if len(doubtful):
            labels[doubtful] = self.labels(self.margins(rows(doubtful)))
        return labels

    def rounding(self, sizes: NDArray[Any]) -> Floats:
        """By how much margins in single precision can be off: a sum by one rounding of all sizes for each term."""
        terms = len(self.roots) + 4  # two are for the start, two for the leaves themselves
        return np.asarray(2.0**-24 * terms * (1.001 * sizes.astype(np.float64) + np.abs(self.start).max()))

    def _fast(self, rows: Floats) -> Floats:
        margins = self._booster.inplace_predict(np.asarray(rows, np.float32), predict_type="margin")
        return of_both(np.asarray(margins, np.float64).reshape(len(rows), len(self.start)) + self.start)

    @property
    def _most(self) -> float:
        """Where values are cut off in single precision, so that no sum overflows; labels from there on are in doubt."""
        return float(np.finfo(np.float32).max) / (2 * len(self.roots))

    @cached_property
    def _booster(self) -> Any:
        """The same trees as a model of xgboost's."""
        return self._of_xgboost(self.value)

    @cached_property
    def _unsigned(self) -> Any:
        """The same trees with leaves that have lost their signs."""
        return self._of_xgboost(np.abs(self.value))

    def _of_xgboost(self, values: Floats) -> Any:
        """Trees with these values as a model of xgboost's, whose file is that of a stump with other trees put in."""
        xgboost = load_xgboost()
        outputs = self.roots.shape[1]
        asked = {"objective": "multi:softprob", "num_class": outputs} if outputs > 1 else {}
        stump = xgboost.train(
            {**asked, "base_score": 0.0, "max_depth": 1, "nthread": 1},
            xgboost.DMatrix(np.zeros((outputs, self.features)), label=np.arange(outputs)),
            1,
        )
        file = json.loads(bytes(stump.save_raw("json")))
        model = file["learner"]["gradient_booster"]["model"]
        model["trees"] = [self._tree(number, values, model["trees"][0]) for number in range(self.roots.size)]
        model["tree_info"] = np.tile(np.arange(outputs), len(self.roots)).tolist()
        model["iteration_indptr"] = list(range(0, self.roots.size + 1, outputs))
        model["gbtree_model_param"]["num_trees"] = str(self.roots.size)
        booster = xgboost.Booster()
        booster.load_model(bytearray(json.dumps(file).encode()))
        return booster

    def _tree(self, number: int, values: Floats, like: dict[str, Any]) -> dict[str, Any]:
        """One tree as xgboost writes it."""
        start = int(self.roots.ravel()[number])
        stop = int([*self.roots.ravel(), len(self.left)][number + 1])
        part, size = slice(start, stop), stop - start
        leaf = self.is_leaf[part]
        left, right = (np.where(leaf, -1, side[part] - start) for side in (self.left, self.right))
        parents = np.full(size, 2**31 - 1)
        for side in (left, right):
            parents[side[~leaf]] = np.flatnonzero(~leaf)
        condition = np.where(leaf, values[part].clip(-self._most, self._most).astype(np.float32), self.threshold[part])
        nothing = [0.0] * size
        return like | {
            "id": number,
            "left_children": left.tolist(),
            "right_children": right.tolist(),
            "parents": parents.tolist(),
            "split_indices": self.feature[part].tolist(),
            "split_conditions": condition.tolist(),
            "split_type": [0] * size,
            "default_left": [0] * size,
            "base_weights": nothing,
            "loss_changes": nothing,
            "sum_hessian": nothing,
            "tree_param": like["tree_param"] | {"num_nodes": str(size)},
        }


def _below(threshold: Floats) -> NDArray[np.float32]:
    """The least single-precision number above each threshold: x <= threshold exactly where x is below that number."""
    near = threshold.astype(np.float32)
    down = np.nextafter(near, np.float32(-np.inf))
    return np.nextafter(np.where(near > threshold, down, near), np.float32(np.inf))


def _start(estimator: Any) -> Floats:
    """Margins before the first round: of the training rows' shares of classes."""
    return np.asarray(estimator._raw_predict_init(np.zeros((1, estimator.n_features_in_), np.float32))[0], np.float64)


def of_both(margins: Floats) -> Floats:
    """Margins of both classes where one output stands for two, else the margins."""
    return np.column_stack([np.zeros(len(margins)), margins]) if margins.shape[1] == 1 else margins


def _lead(margins: Floats) -> Floats:
    """By how much the largest margin of each row exceeds the next."""
    largest = np.partition(margins, -2, axis=1)[:, -2:]
    return np.asarray(largest[:, 1] - largest[:, 0])


def load_xgboost() -> Any:
    """The library, or a sentence that says how to install it."""
    try:
        import xgboost
    except ImportError:
        raise MissingExtra("The paper's boosted trees need xgboost: pip install 'faithscope[xgboost]'.") from None
    return xgboost
