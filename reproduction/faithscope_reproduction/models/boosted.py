"""Boosted trees of xgboost's with the paper's settings."""

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.inputs.grouping import group
from faithscope.runtime.files import write_atomically
from faithscope_reproduction.models.forest import load_xgboost
from faithscope_reproduction.models.splits import Floats, Split, split
from faithscope_reproduction.printed import rows as printed_rows
from faithscope_reproduction.records import Setting
from faithscope_reproduction.settings import Settings

_QUICK_TRAIN, _QUICK_TREES = 3_000, 20
_MANY_TREES = 1_000  # from which on grouping rows takes less time than asking about equal ones again
# The paper's grid.
_RATES = tuple(2.0**power for power in range(-5, 3))
_TREES = (50, 100, 150, 200, 250, 300)
_DEPTHS = (3, 4, 5, 6, 7)


@dataclass(frozen=True, eq=False)
class Boosted:
    """Boosted trees: ``predict`` gives positions of labels, ``predict_proba`` probabilities.

    Attributes
    ----------
    estimator : XGBClassifier
    chosen : mapping
        The settings it was trained with.
    seconds : float
        How long that took.
    """

    content: bytes = field(repr=False)
    chosen: Mapping[str, Any]
    seconds: float

    def __fingerprint__(self) -> str:
        """Identifies the model by its content, without the seconds of training."""
        return hashlib.blake2b(self.content, digest_size=16).hexdigest()

    @cached_property
    def estimator(self) -> Any:
        """The model as xgboost has it."""
        classifier = load_xgboost().XGBClassifier()
        classifier.load_model(bytearray(self.content))
        return classifier

    @cached_property
    def thresholds(self) -> tuple[NDArray[np.float32], ...]:
        """The values at which the trees split each feature, in single precision, in which they compare."""
        booster = self.estimator.get_booster()
        trees = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"]
        inner = np.concatenate([np.array(tree["left_children"]) >= 0 for tree in trees])
        feature = np.concatenate([np.array(tree["split_indices"]) for tree in trees])[inner]
        value = np.concatenate([np.array(tree["split_conditions"], np.float32) for tree in trees])[inner]
        return tuple(np.unique(value[feature == j]) for j in range(booster.num_features()))

    def cells(self, X: Any) -> NDArray[np.int32]:
        """How many thresholds lie at or below each value: rows with equal numbers get equal answers."""
        columns = np.asarray(X, np.float32).T
        places = [
            np.searchsorted(splits, column, side="right")
            for splits, column in zip(self.thresholds, columns, strict=True)
        ]
        return np.stack(places, axis=1).astype(np.int32)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Positions of the predicted labels; of many trees, equal rows are asked about once."""
        rows = np.asarray(X, np.float64)
        if self.estimator.get_booster().num_boosted_rounds() * self.estimator.n_classes_ < _MANY_TREES:
            return self._labels(rows)
        codes, first = group((self.cells(rows),))
        return self._labels(rows[first])[codes]

    def _labels(self, rows: Floats) -> NDArray[np.int64]:
        return np.asarray(self.estimator.predict(rows)).astype(np.int64)

    def predict_proba(self, X: Any) -> Floats:
        """A probability for each label."""
        return np.asarray(self.estimator.predict_proba(np.asarray(X, np.float64)), np.float64)


def boosted(name: str, settings: Settings, setting: Setting = "as_defined") -> tuple[Split, Boosted]:
    """A data set and boosted trees trained on it, with the settings of the paper's Table 4 or by its grid.

    The model is trained once and kept in the cache as xgboost writes it.
    """
    data = split(name, settings.folder, settings.seed, setting)
    asked = ("boosted", name, str(load_xgboost().__version__), rows_digest(data))
    question = settings.question(*asked, of=("quick", "search", "seed"))
    path = settings.cache / "models" / f"{name}-{question}"
    kept = _kept(path)
    if kept is not None:
        return data, kept
    began = time.monotonic()
    X, y = few_rows(data) if settings.quick else (data.train, data.y_train)
    chosen = _searched(X, y, settings) if settings.search else printed_settings(name, settings)
    fitted = _classifier(**chosen, seed=settings.seed).fit(X, y)
    model = Boosted(bytes(fitted.get_booster().save_raw("ubj")), chosen, time.monotonic() - began)
    write_atomically(path.with_suffix(".ubj"), model.content)
    about = {"chosen": dict(chosen), "seconds": model.seconds, "content": model.__fingerprint__()}
    write_atomically(path.with_suffix(".json"), json.dumps(about).encode())
    return data, model


def _kept(path: Path) -> Boosted | None:
    """A model from the cache; None if there is no intact one."""
    try:
        about = json.loads(path.with_suffix(".json").read_text("utf-8"))
        model = Boosted(path.with_suffix(".ubj").read_bytes(), about["chosen"], about["seconds"])
    except (OSError, ValueError, KeyError):
        return None
    return model if model.__fingerprint__() == about["content"] else None


def rows_digest(data: Split) -> str:
    """Identifies the training rows."""
    return hashlib.blake2b(np.ascontiguousarray(data.train).tobytes(), digest_size=16).hexdigest()


def few_rows(data: Split) -> tuple[Floats, NDArray[np.int64]]:
    """The first training rows, and the first row of every class."""
    first = np.unique(data.y_train, return_index=True)[1]
    kept = np.unique(np.concatenate([first, np.arange(min(_QUICK_TRAIN, len(data.y_train)))]))
    return data.train[kept], data.y_train[kept]


def printed_settings(name: str, settings: Settings) -> dict[str, Any]:
    """The settings of Table 4."""
    line = next(row for row in printed_rows("table4") if row["dataset"] == name)
    trees = min(int(line["n_estimators"]), _QUICK_TREES) if settings.quick else int(line["n_estimators"])
    depth = int(line["max_depth"])
    return {"learning_rate": float(line["learning_rate"]), "n_estimators": trees, "max_depth": depth}


def _searched(X: Floats, y: NDArray[np.int64], settings: Settings) -> dict[str, Any]:
    """The best of all combinations of the paper's grid by mean accuracy over three folds; the first among equals.

    Boosting adds one tree at a time, so a model with fewer trees is the beginning of the model with most trees.
    """
    from sklearn.model_selection import KFold

    accuracies: dict[tuple[float, int, int], list[float]] = {}
    for train, test in KFold(3, shuffle=True, random_state=settings.seed).split(X):
        for rate in _RATES:
            for depth in _DEPTHS:
                model = _classifier(learning_rate=rate, n_estimators=_TREES[-1], max_depth=depth, seed=settings.seed)
                model.fit(X[train], y[train])
                for trees in _TREES:
                    predicted = model.predict(X[test], iteration_range=(0, trees))
                    accuracies.setdefault((rate, trees, depth), []).append(float(np.mean(predicted == y[test])))
    rate, trees, depth = max(accuracies, key=lambda choice: float(np.mean(accuracies[choice])))
    return {"learning_rate": rate, "n_estimators": trees, "max_depth": depth}


def _classifier(*, seed: int, **chosen: Any) -> Any:
    return load_xgboost().XGBClassifier(tree_method="hist", random_state=seed, n_jobs=-1, **chosen)
