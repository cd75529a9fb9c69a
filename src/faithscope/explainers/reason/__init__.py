"""Sufficient reasons: rules of tree models under which the prediction cannot change, by proof."""

from faithscope.explainers.reason.explainer import SufficientReason

__all__ = ["SufficientReason"]
