"""LIME: a linear model around each row."""

from faithscope.explainers.lime.explainer import Lime

__all__ = ["Lime"]
