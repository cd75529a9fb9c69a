"""Anchors at several precision thresholds, searched for together, each as an explainer of its own."""

from dataclasses import dataclass, field
from typing import Any

import faithscope as fs
from faithscope.runtime.fingerprint import fingerprint


@dataclass(frozen=True, eq=False)
class SweptAnchors:
    """Anchors at one of several thresholds; the first that explains some rows explains them for all thresholds.

    Attributes
    ----------
    anchors : Anchors or ReleasedAnchors
        Its own threshold plays no part.
    thresholds : tuple of float
    threshold : float
        One of the thresholds.
    rules : dict
        Rules by threshold, by the fingerprint of the rows; shared among all thresholds.
    """

    anchors: Any
    thresholds: tuple[float, ...]
    threshold: float
    rules: dict[str, dict[float, fs.Rules]] = field(repr=False)

    @classmethod
    def of(cls, anchors: Any, thresholds: tuple[float, ...]) -> "dict[float, SweptAnchors]":
        """An explainer per threshold."""
        rules: dict[str, dict[float, fs.Rules]] = {}
        return {threshold: cls(anchors, thresholds, threshold, rules) for threshold in thresholds}

    def __fingerprint__(self) -> tuple[Any, float]:
        """Identifies the explainer without the other thresholds, which do not change its rules."""
        return self.anchors, self.threshold

    def explain(self, X: Any, *, progress: Any = None) -> fs.Rules:
        """One rule per row."""
        asked = fingerprint(X)
        if asked not in self.rules:
            self.rules[asked] = self.anchors.explain_at(X, self.thresholds, progress=progress)
        return self.rules[asked][self.threshold]
