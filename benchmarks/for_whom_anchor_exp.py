"""What anchor-exp itself says of its rules, beside perturbed and real rows under the same rules."""

import importlib
from typing import Any

import numpy as np
from scipy.stats import t as student

import faithscope as fs
from explained import AnchorExp
from faithscope.reproduce.models.splits import Split
from for_whom_rules import covers

DRAWS = 1_000  # per row: ours, and new ones of anchor-exp's own


def against_anchor_exp(data: Split, model: Any, X: np.ndarray, train: np.ndarray, threshold: float) -> dict[str, Any]:
    """Claimed and measured precision of anchor-exp's rules: means over rows, and differences row by row.

    "claimed" is what anchor-exp returns with a rule, "fresh" the precision of new draws by its own function under the
    finished rule.
    """
    rival = importlib.import_module("anchor.anchor_tabular").AnchorTabularExplainer
    words = {j: list(data.categories[j] or ()) for j in data.categorical}
    package = AnchorExp(train, rival(list(data.classes), list(data.names), train, words), threshold)
    conditions, *own = package.explain_with_fresh_precision(X, model.predict, DRAWS)
    rules = fs.Rules.from_conditions(conditions, features=data.names)
    perturbed = fs.sufficiency(rules, model, X, population=fs.Perturbed(train, draws=DRAWS))
    others = np.array([row for row in data.test if not (row == X).all(axis=1).any()])
    real = fs.sufficiency(rules, model.predict(X), population=among(rules, others, model.predict(others)))
    measured = {"perturbed": perturbed, "real": real}
    claims = dict(zip(("claimed", "fresh"), map(np.array, own), strict=True))
    return {
        "data": data.name,
        "rows": len(X),
        "witnesses": len(others),
        "threshold": threshold,
        "empty": sum(not rule for rule in conditions),
        **{name: float(claim.mean()) for name, claim in claims.items()},
        **{name: told(estimate) for name, estimate in measured.items()},
        "apart": {
            f"{claim} - {name}": difference(claims[claim], estimate)
            for claim in claims
            for name, estimate in measured.items()
        },
    }


def difference(claims: np.ndarray, estimate: fs.Estimate) -> dict[str, Any]:
    """The mean of claimed less measured over the rows that can be checked, and its 95% interval by Student's t."""
    checked = estimate.counts.others > 0
    gaps = claims[checked] - estimate.counts.values[checked]
    margin = float(student.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps)))
    return {"mean": float(gaps.mean()), "low": gaps.mean() - margin, "high": gaps.mean() + margin, "rows": len(gaps)}


def among(rules: fs.Rules, others: np.ndarray, predictions: np.ndarray) -> Any:
    """All of some other real rows that each rule covers, as a population."""
    covered = [np.flatnonzero(covers(rules, row, others)) for row in range(len(rules))]
    of = np.repeat(np.arange(len(rules)), [len(rows) for rows in covered])
    witnesses = np.concatenate(covered)
    return fs.drawn(rules, others[witnesses], predictions[witnesses], of=of)


def told(estimate: fs.Estimate) -> dict[str, Any]:
    """What is kept of an estimate."""
    return {name: getattr(estimate, name) for name in ("verified", "low", "high", "unverifiable", "n")}
