"""What explainers are measured on and against: Adult or bundled rows, boosted trees, anchor-exp and dice-ml."""

import contextlib
import importlib
import importlib.util
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ratios import clock

Condition = tuple[int, str, float]  # feature, operator, value

PAPERS = {"n_estimators": 50, "max_depth": 5, "learning_rate": 0.25}  # for Adult, in its table of settings
DEFAULTS = {"n_estimators": 100, "max_depth": 6, "learning_rate": 0.3}  # xgboost's


@dataclass(frozen=True)
class AdultSystem:
    """Rows that a model was trained on and rows that it was not, categories as codes."""

    names: list[str]
    categories: dict[int, list[str]]
    known: np.ndarray
    labels: np.ndarray
    rows: np.ndarray

    def train(self, **settings: Any) -> Any:
        """Boosted trees."""
        if importlib.util.find_spec("xgboost"):
            return importlib.import_module("xgboost").XGBClassifier(**settings).fit(self.known, self.labels)
        trees = importlib.import_module("sklearn.ensemble").HistGradientBoostingClassifier
        renamed = {"n_estimators": "max_iter"}
        known = {renamed.get(name, name): value for name, value in settings.items()}
        return trees(**known, early_stopping=False).fit(self.known, self.labels)


@cache
def system() -> AdultSystem:
    """Adult where there is a folder with it, else what scikit-learn brings along; two rows in three are trained on."""
    folder = os.environ.get("FAITHSCOPE_DATA")
    if folder and Path(folder, "adult.parquet").exists():
        names, categories, X, y = adult(Path(folder, "adult.parquet"))
    else:
        bunch = importlib.import_module("sklearn.datasets").load_breast_cancer()
        names, categories, X, y = list(bunch.feature_names[:10]), {}, bunch.data[:, :10], bunch.target
    order, cut = np.random.default_rng(0).permutation(len(X)), 2 * len(X) // 3
    return AdultSystem(names, categories, X[order[:cut]], y[order[:cut]], X[order[cut:]])


def adult(path: Path) -> tuple[list[str], dict[int, list[str]], np.ndarray, np.ndarray]:
    frame = importlib.import_module("pandas").read_parquet(path)
    y, categories, columns = (frame.pop("label") == ">50K").to_numpy().astype(int), {}, []
    for j, name in enumerate(frame.columns):
        column = frame[name].to_numpy()
        if column.dtype.kind not in "iuf":
            words, column = np.unique(column.astype(str), return_inverse=True)
            categories[j] = words.tolist()
        columns.append(column.astype(float))
    return list(frame.columns), categories, np.column_stack(columns), y


def quarters(column: np.ndarray) -> np.ndarray:
    """The ends of the quarters of a column."""
    return np.unique(np.percentile(column, (25, 50, 75)))


@dataclass
class Clocked:
    """A function of rows that keeps count of its time, and of the rows that it was asked about."""

    function: Callable[[Any], Any]
    seconds: float = 0.0
    rows: int = 0

    def __call__(self, rows: Any) -> Any:
        seconds, answer = clock(partial(self.function, rows))
        self.seconds += seconds
        self.rows += len(rows)
        return answer


@dataclass(frozen=True)
class AnchorExp:
    """anchor-exp, whose rules come as conditions."""

    known: np.ndarray
    explainer: Any
    threshold: float

    def explain(self, rows: np.ndarray, predict: Callable[[Any], Any]) -> list[list[Condition]]:
        """The rule of each row."""
        return self.explain_with_fresh_precision(rows, predict, 0)[0]

    def explain_with_fresh_precision(
        self, rows: np.ndarray, predict: Callable[[Any], Any], draws: int
    ) -> tuple[list[list[Condition]], list[float], list[float]]:
        """The same rules, what anchor-exp claims, and the precision of new draws of its own under each rule."""
        np.random.seed(0)  # noqa: NPY002 - theirs
        anchors, rules = zip(*(self._search(row, predict) for row in rows), strict=True)
        samplers = (self.explainer.get_sample_fn(row, predict)[0] for row in rows if draws)
        fresh = [float(draw(list(a["feature"]), draws)[2].mean()) for draw, a in zip(samplers, anchors, strict=False)]
        # The precision of the whole rule, or of all rows if the rule is empty.
        claims = [float(([anchor["all_precision"]] + anchor["precision"])[-1]) for anchor in anchors]
        return list(rules), claims, fresh

    def _search(self, row: np.ndarray, predict: Callable[[Any], Any]) -> tuple[dict[str, Any], list[Condition]]:
        """By the steps of ``explain_instance``, which then writes the conditions as text."""
        search = importlib.import_module("anchor.anchor_base").AnchorBaseBeam.anchor_beam
        draw, mapping = self.explainer.get_sample_fn(row, predict)
        asked = {"delta": 0.1, "epsilon": 0.15, "batch_size": 100, "desired_confidence": self.threshold}
        anchor = search(draw, **asked)
        return anchor, [self._read(*mapping[place]) for place in anchor["feature"]]

    def _read(self, j: int, operator: str, value: float) -> Condition:
        if operator == "eq":
            return j, "==", value
        return j, "<=" if operator == "leq" else ">", float(quarters(self.known[:, j])[value])


@dataclass(frozen=True)
class DiceRandom:
    """dice-ml with method "random": from frames, in which categories are text."""

    system: AdultSystem
    model: Clocked

    def frame(self, rows: np.ndarray) -> Any:
        columns = {
            name: rows[:, j].astype(int).astype(str) if j in self.system.categories else rows[:, j]
            for j, name in enumerate(self.system.names)
        }
        return importlib.import_module("pandas").DataFrame(columns)

    def numbers(self, frame: Any) -> np.ndarray:
        return frame[self.system.names].astype(float).to_numpy()

    def predict_proba(self, frame: Any) -> np.ndarray:
        return self.model(self.numbers(frame))

    def predict(self, frame: Any) -> np.ndarray:
        return self.predict_proba(frame).argmax(axis=1)

    def explainer(self) -> Callable[[np.ndarray], list[int]]:
        """From rows to how many features each counterfactual changes, of those that one is found for."""
        dice = importlib.import_module("dice_ml")
        continuous = [name for j, name in enumerate(self.system.names) if j not in self.system.categories]
        known = self.frame(self.system.known).assign(outcome=self.system.labels)
        data = dice.Data(dataframe=known, continuous_features=continuous, outcome_name="outcome")
        rival = dice.Dice(data, dice.Model(model=self, backend="sklearn"), method="random")
        none_found = importlib.import_module("dice_ml.dice").UserConfigValidationException

        def explain(rows: np.ndarray) -> list[int]:
            changed = []
            for row in rows:
                # A progress bar is hidden.
                with contextlib.suppress(none_found), contextlib.redirect_stderr(io.StringIO()):
                    found = rival.generate_counterfactuals(self.frame(row[None]), total_CFs=1, verbose=False)
                    example = found.cf_examples_list[0]
                    sparse = example.final_cfs_df_sparse
                    point = example.final_cfs_df if sparse is None else sparse
                    changed.append(int((self.numbers(point)[0] != row).sum()))
            return changed

        return explain
