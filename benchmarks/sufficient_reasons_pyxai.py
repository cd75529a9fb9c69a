"""PyXAI's tree-specific reasons of boosted trees beside ours: time, length, and whether ours are its implicants."""

import contextlib
import io
import sys
import time
from typing import Any

import numpy as np

import faithscope as fs
from faithscope.reproduce.models.splits import Split

ROWS = 20
HOLDS = {
    "LT": lambda low, high, t: np.float32(high) < np.float32(t),
    "LE": lambda low, high, t: np.float32(high) <= np.float32(t),
    "GE": lambda low, high, t: np.float32(low) >= np.float32(t),
    "GT": lambda low, high, t: np.float32(low) > np.float32(t),
}


def against_pyxai(data: Split) -> str:
    """One line; the reason if PyXAI is not installed, or its own machine code is not."""
    sys.argv = sys.argv[:1]  # PyXAI reads the options of whoever imports it
    try:
        from pyxai import Explaining, Learning, Tools
    except ImportError as problem:
        return f"PyXAI is left out: {problem}"
    Tools.set_verbose(0)
    frame = data.frame(data.train[:4_000]).assign(label=data.y_train[:4_000])
    with contextlib.redirect_stdout(io.StringIO()):
        learner = Learning.Xgboost(
            frame, problem_type="classification", instances_type="tabular", labels_type="classes"
        )
        converted = learner.evaluate(
            splitting_method=Learning.HOLD_OUT,
            model_type=Learning.BT,
            model_parameters={"n_estimators": 100, "max_depth": 6},
        )
        model, explainer = learner.get_raw_models()[0], Explaining.initialize(converted)
    X = data.test[:ROWS]
    began = time.perf_counter()
    rules = fs.explainers.SufficientReason(model).explain(X)
    ours = (time.perf_counter() - began) / ROWS
    theirs, agree, lengths = 0.0, 0, []
    for row in range(ROWS):
        explainer.set_instance(data.frame(X).iloc[row])
        began = time.perf_counter()
        reason = explainer.tree_specific_reason()
        theirs += (time.perf_counter() - began) / ROWS
        lengths.append(len(explainer.to_features(reason, details=True)))
        agree += bool(explainer.is_implicant(_literals(explainer, rules, row, data.names)))
    own = np.mean([len(rules.conjunction(row)) for row in range(ROWS)])
    return (
        f"PyXAI, {ROWS} rows of adult, 100 trees of depth 6: {1000 * theirs:.1f} ms per row, ours {1000 * ours:.1f} ms "
        f"({theirs / ours:.1f}x); features per reason {np.mean(lengths):.1f}, ours {own:.1f}; PyXAI takes "
        f"{agree} of our {ROWS} reasons for implicants"
    )


def _literals(explainer: Any, rules: Any, row: int, names: tuple[str, ...]) -> list[int]:
    """The literals of a row that its rule implies."""
    by_name = {condition.feature: condition for condition in rules.conjunction(row)}
    implied = []
    for literal in explainer.binary_representation:
        parts = explainer.to_features([literal], details=True)
        for name, (detail, *_) in parts.items():
            condition = by_name.get(names[int(name[1:])] if name not in names else name)
            if condition is not None:
                low = np.nextafter(condition.low, np.inf) if np.isfinite(condition.low) else -np.inf
                operator = getattr(detail["operator_sign_considered"], "value", detail["operator_sign_considered"])
                if HOLDS[str(operator)](low, condition.high, detail["threshold"]):
                    implied.append(literal)
    return implied
