"""A conformance suite for implementations of consistency and sufficiency, ours or any other."""

from faithscope.testing.cases import CASES, Case
from faithscope.testing.conformance import Conformance, Verdict, check_consistency, check_sufficiency
from faithscope.testing.scoped_cases import SCOPED_CASES, ScopedCase
from faithscope.testing.scoped_systems import SCOPED, Hub, Scoped
from faithscope.testing.systems import SYSTEMS, System

__all__ = [
    "CASES",
    "SCOPED",
    "SCOPED_CASES",
    "SYSTEMS",
    "Case",
    "Conformance",
    "Hub",
    "Scoped",
    "ScopedCase",
    "System",
    "Verdict",
    "check_consistency",
    "check_sufficiency",
]
