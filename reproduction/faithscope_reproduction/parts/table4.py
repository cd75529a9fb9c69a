"""Table 4: the models' settings and their accuracy."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from faithscope_reproduction.models.boosted import boosted
from faithscope_reproduction.models.splits import NAMES, Split
from faithscope_reproduction.models.trained import STAND_IN, trained
from faithscope_reproduction.printed import printed
from faithscope_reproduction.ranges import by_seed, ranged
from faithscope_reproduction.records import NEAR, Outcome, Record, Setting, total
from faithscope_reproduction.settings import Settings, Steps

ID = "table4"
TITLE = "Models: settings and accuracy"
_STAND_IN = (
    "a stand-in that follows scikit-learn's rule (trees on residuals, Newton leaves, no penalty) with binned splits: "
    "scikit-learn itself would train for an hour and a half"
)
_SETTINGS = ("learning_rate", "n_estimators", "max_depth")


def run(settings: Settings) -> Outcome:
    """Accuracy of xgboost (as defined) and of scikit-learn's gradient boosting (as run), with the same settings."""
    steps = Steps(settings, sys.modules[__name__])
    outcome = total(steps.do(name, _of_data_set, name, settings) for name in NAMES)
    return ranged(outcome, by_seed(lambda name, _, other: _of_data_set(name, other), "heart", settings), steps)


def _of_data_set(name: str, settings: Settings) -> Outcome:
    data, model = boosted(name, settings)
    records = [_accuracy(data, model, "as_defined", "xgboost")]
    records += _chosen(data, model.chosen) if settings.search else []
    data, other = trained(name, settings, "as_run")
    records.append(_accuracy(data, other, "as_run", _STAND_IN if name in STAND_IN else "scikit-learn's boosting"))
    return Outcome(tuple(records))


def _accuracy(data: Split, model: Any, setting: Setting, note: str) -> Record:
    right, n = int(np.sum(model.predict(data.test) == data.y_test)), len(data.y_test)
    low, high = _exact(right, n)
    known = printed(ID, "test_accuracy", dataset=data.name)
    note += _why(right / n, known, low, high)
    return Record(ID, data.name, "test_accuracy", setting, n, right / n, known, low, high, note=note)


def _why(ours: float, known: float | None, low: float, high: float) -> str:
    """What explains a difference that two printed digits show."""
    if known is None or abs(ours - known) <= NEAR:
        return ""
    return "; so few test rows do not tell them apart" if low <= known <= high else "; unexplained"


def _chosen(data: Split, chosen: Mapping[str, Any]) -> list[Record]:
    """The settings that the paper's grid chose, beside the printed ones."""
    return [
        Record(ID, data.name, name, "as_defined", len(data.train), chosen[name], printed(ID, name, dataset=data.name))
        for name in _SETTINGS
    ]


def _exact(right: int, n: int) -> tuple[float, float]:
    """Clopper and Pearson's interval."""
    from scipy.stats import binomtest

    limits = binomtest(right, n).proportion_ci(0.95, method="exact")
    return float(limits.low), float(limits.high)
