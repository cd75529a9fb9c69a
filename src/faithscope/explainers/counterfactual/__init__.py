"""Counterfactuals: the nearest row that is predicted otherwise."""

from faithscope.explainers.counterfactual.explainer import Counterfactual

__all__ = ["Counterfactual"]
