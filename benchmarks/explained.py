"""anchor-exp, as two of the scripts ask it."""

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np


def quarters(column):
    """The ends of the quarters of a column."""
    return np.unique(np.percentile(column, (25, 50, 75)))


@dataclass(frozen=True)
class AnchorExp:
    """anchor-exp, whose rules come as conditions: feature, operator, value."""

    known: np.ndarray
    explainer: Any
    threshold: float

    def explain(self, rows, predict, draws=0):
        """The rule of each row, what anchor-exp claims, and the precision of new draws of its own under each rule."""
        np.random.seed(0)  # noqa: NPY002 - theirs
        rules, claims = zip(*(self._search(row, predict) for row in rows), strict=True)
        samplers = [self.explainer.get_sample_fn(row, predict)[0] for row in rows if draws]
        fresh = [draw(list(places), draws)[2].mean() for draw, (places, _) in zip(samplers, rules, strict=False)]
        return [conditions for _, conditions in rules], claims, fresh

    def _search(self, row, predict):
        """By the steps of ``explain_instance``, which then writes the conditions as text."""
        search = importlib.import_module("anchor.anchor_base").AnchorBaseBeam.anchor_beam
        draw, mapping = self.explainer.get_sample_fn(row, predict)
        asked = {"delta": 0.1, "epsilon": 0.15, "batch_size": 100, "desired_confidence": self.threshold}
        anchor = search(draw, **asked)
        conditions = []
        for j, operator, value in (mapping[place] for place in anchor["feature"]):
            if operator == "eq":
                conditions.append((j, "==", value))
            else:
                bound = float(quarters(self.known[:, j])[value])
                conditions.append((j, "<=" if operator == "leq" else ">", bound))
        # The precision of the whole rule, or of all rows if the rule is empty.
        return (anchor["feature"], conditions), ([anchor["all_precision"]] + anchor["precision"])[-1]
