"""What an explanation says, and what makes two of them the same."""

from faithscope.explanations.base import Explanations

__all__ = ["Explanations"]
