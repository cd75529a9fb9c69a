"""Logs of language models and judges: rationales with the predictions and inputs that they are about."""

from faithscope.readers.rationales.reading import read_rationales
from faithscope.readers.rationales.result import Rationales

__all__ = ["Rationales", "read_rationales"]
