"""Every kind of model that sufficient reasons are proven of, on every data set: do random rows break a rule?"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import faithscope as fs
from faithscope.reproduce.models.splits import Split
from ratios import is_missing
from sufficient_reasons_points import points_inside

TRAINED = 5_000  # rows at most

KINDS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "forest": ("sklearn", lambda m: m.RandomForestClassifier(25, max_depth=8, random_state=0)),
    "boosting": ("sklearn", lambda m: m.GradientBoostingClassifier(n_estimators=25, random_state=0)),
    "hist boosting": ("sklearn", lambda m: m.HistGradientBoostingClassifier(max_iter=25, max_leaf_nodes=16)),
    "xgboost": ("xgboost", lambda m: m.XGBClassifier(n_estimators=25, max_depth=4, n_jobs=1)),
    "lightgbm": ("lightgbm", lambda m: m.LGBMClassifier(n_estimators=25, num_leaves=16, n_jobs=1, verbose=-1)),
}


def broken(sets: Mapping[str, Split], rows: int, points: int) -> Iterator[dict[str, Any]]:
    """One line per kind: reasons on all data sets, and random rows inside them that get another prediction."""
    for name, (library, make) in KINDS.items():
        if is_missing(library):
            continue
        module = importlib.import_module("sklearn.ensemble" if library == "sklearn" else library)
        lengths, tried, wrong = [], 0, 0
        for data in sets.values():
            model = make(module).fit(data.train[:TRAINED], data.y_train[:TRAINED])
            X = data.test[:rows]
            rules = fs.explainers.SufficientReason(model).explain(X)
            wrong += points_inside(model, rules, X, data.train, points, missing=name != "boosting")
            tried += points * len(X)
            lengths += [len(rules.conjunction(row)) for row in range(len(X))]
        yield {"model": name, "conditions": float(np.mean(lengths)), "points": tried, "violations": wrong}
