"""Anchors: rules that nearly always keep the prediction, for tables and for texts."""

from faithscope.explainers.anchors.tables import Anchors
from faithscope.explainers.anchors.texts import TextAnchors

__all__ = ["Anchors", "TextAnchors"]
