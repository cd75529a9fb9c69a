"""Anchors: rules that nearly always keep the prediction, for tables and for texts."""

from faithscope.explainers.anchors.explainer import Anchors
from faithscope.explainers.anchors.text import TextAnchors

__all__ = ["Anchors", "TextAnchors"]
