"""SHAP values, exact or with a standard error."""

from faithscope.explainers.shap.explainer import Shap

__all__ = ["Shap"]
