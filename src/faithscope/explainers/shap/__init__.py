"""SHAP values, exact or with their error told."""

from faithscope.explainers.shap.explainer import Shap

__all__ = ["Shap"]
