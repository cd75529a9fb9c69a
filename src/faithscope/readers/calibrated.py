"""calibrated-explanations: factual explanations as rules, fast ones as importances."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.readers.shared.conditions import claims, printed_rules
from faithscope.readers.shared.printed import Column, Read, edges_of, read_condition
from faithscope.readers.shared.rows import first_of, one_per_row
from faithscope.readers.shared.wanted import Wanted

_KEYS = {"rule", "predict", "predict_low", "predict_high", "weight", "feature"}


def recognizes(thing: Any) -> bool:
    """Whether this is what ``explain_factual`` and its like give, one explanation of it, or a list of those."""
    return bool(_explanations(thing))


def read(thing: Any, wanted: Wanted) -> Explanations:
    """One rule per row: the conjunction of its factual conditions, or of the `top` of them that weigh most.

    A factual explanation is a list of conditions that hold on its row, each with a weight: what the prediction would
    lose if the feature were otherwise. Together they say why the row is predicted as it is, so their conjunction is
    what should be sufficient for the prediction; one condition by itself does not claim to be. The weights are left
    out. `Rules.claimed` keeps the calibrated prediction of every row and its interval, to be held against ours.

    A fast explanation has weights of features without conditions, and becomes importances. An alternative explanation
    says what would be predicted elsewhere, and nothing about its own row: it is refused.
    """
    rows = _explanations(thing)
    if any(hasattr(row, "is_super_explanation") for row in rows):
        raise BadInput(
            "These are alternative explanations, whose rules do not hold on the rows that they explain: pass factual "
            "ones, explainer.explain_factual(X)."
        )
    if any(not row.binned for row in rows):
        return _fast(rows, wanted)
    names = [str(name) for name in rows[0].get_explainer().feature_names]
    conditions = [_conditions(row, names, wanted.top) for row in rows]
    told = {name: np.array([float(row.prediction[key]) for row in rows]) for name, key in _CLAIMS.items()}
    claimed = claims({**told, "width": told["high"] - told["low"]})
    return printed_rules(conditions, names, wanted, (_told(wanted.top),))._with(claimed=claimed, claim=_CLAIM)


_CLAIM = "calibrated intervals of the predictions are {width} wide on average (claimed)"
_CLAIMS = {"prediction": "predict", "low": "low", "high": "high"}


def _told(top: int | None) -> str:
    which = "all conditions" if top is None else f"the {top} conditions that weigh most"
    return f"the rule of a row joins {which} of its explanation, without their weights"


def _explanations(thing: Any) -> list[Any]:
    """The explanations of each row; none if this is something else."""
    held = getattr(thing, "explanations", None)
    listed = held if isinstance(held, list) and hasattr(thing, "calibrated_explainer") else one_per_row(thing)
    rows = listed if _is_explanation(first_of(listed)) else [thing] if _is_explanation(thing) else []
    odd = next((row for row, item in enumerate(rows) if not _is_explanation(item)), None)
    if odd is not None:
        raise BadInput(f"Row {odd} is a {type(rows[odd]).__name__} among calibrated explanations: pass one per row.")
    return list(rows)


def _is_explanation(thing: Any) -> bool:
    rules = getattr(thing, "rules", None)
    return isinstance(rules, Mapping) and set(rules) >= _KEYS and callable(getattr(thing, "get_explainer", None))


def _fast(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    names = [str(name) for name in rows[0].get_explainer().feature_names]
    weights = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        weights[number, np.asarray(row.rules["feature"], np.int64)] = row.rules["weight"]
    wanted.refuse_class("these explanations have one number per feature")
    return wanted.importances(weights, names)


def _conditions(row: Any, names: Sequence[str], top: int | None) -> list[Read]:
    rules, explainer = row.rules, row.get_explainer()
    single = [place for place, feature in enumerate(rules["feature"]) if np.ndim(feature) == 0]  # others join these
    kept = sorted(single, key=lambda place: -abs(float(rules["weight"][place])))[:top]
    return [
        _condition(str(rules["rule"][place]), int(rules["feature"][place]), row.x_test, explainer, names)
        for place in sorted(kept)
    ]


def _condition(text: str, feature: int, values: Any, explainer: Any, names: Sequence[str]) -> Read:
    labels = explainer.categorical_labels if feature in explainer.categorical_features else None
    if feature in explainer.categorical_features and (labels is None or feature not in labels):
        return Read([(names[feature], "==", values[feature])])
    known = () if labels is None else labels[feature]
    texts = known if isinstance(known, Mapping) else dict(enumerate(known))
    column = Column(
        names[feature],
        edges_of(explainer.discretizer, feature),
        {int(code): str(name) for code, name in texts.items()},
        float(values[feature]),
    )
    return read_condition(text, column, names)
