"""What anchor-exp itself says of its rules of Adult, beside perturbed and real rows under the same rules."""

import importlib
from typing import Any

import numpy as np

import faithscope as fs
from explained import AnchorExp
from faithscope.reproduce.models.splits import Split
from for_whom_rules import covers


def against_anchor_exp(data: Split, model: Any, X: np.ndarray, train: np.ndarray, threshold: float) -> dict[str, Any]:
    """Claimed and measured precision of anchor-exp's rules, means over rows."""
    rival = importlib.import_module("anchor.anchor_tabular").AnchorTabularExplainer
    words = {j: list(data.categories[j] or ()) for j in data.categorical}
    package = rival(list(data.classes), list(data.names), train, words)
    conditions, claimed = AnchorExp(train, package, threshold).explain_with_precision(X, model.predict)
    rules = fs.Rules.from_conditions(conditions, features=data.names)
    perturbed = fs.sufficiency(rules, model, X, population=fs.Perturbed(train, draws=1_000))
    others = np.array([row for row in data.test if not (row == X).all(axis=1).any()])
    real = fs.sufficiency(rules, model.predict(X), population=among(rules, others, model.predict(others)))
    mean = float(np.mean(claimed))
    return {
        "data": data.name,
        "rows": len(X),
        "witnesses": len(others),
        "threshold": threshold,
        "claimed": mean,
        "empty": sum(not rule for rule in conditions),
        "perturbed": told(perturbed),
        "real": told(real),
        "inside perturbed": perturbed.low <= mean <= perturbed.high,
        "inside real": real.low <= mean <= real.high,
    }


def among(rules: fs.Rules, others: np.ndarray, predictions: np.ndarray) -> Any:
    """All of some other real rows that each rule covers, as a population."""
    covered = [np.flatnonzero(covers(rules, row, others)) for row in range(len(rules))]
    of = np.repeat(np.arange(len(rules)), [len(rows) for rows in covered])
    witnesses = np.concatenate(covered)
    return fs.drawn(rules, others[witnesses], predictions[witnesses], of=of)


def told(estimate: fs.Estimate) -> dict[str, Any]:
    """What is kept of an estimate."""
    return {name: getattr(estimate, name) for name in ("verified", "low", "high", "unverifiable", "n")}
