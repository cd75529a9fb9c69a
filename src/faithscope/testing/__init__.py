"""A conformance suite for implementations of consistency and sufficiency, ours or any other."""

from faithscope.testing.cases import CASES, Case
from faithscope.testing.conformance import (
    Conformance,
    Verdict,
    check_consistency,
    check_consistency_of_numbers,
    check_sufficiency,
    check_sufficiency_of_numbers,
)
from faithscope.testing.number_cases import NUMBER_CASES, SCOPED_NUMBER_CASES, NumberCase
from faithscope.testing.scoped_cases import SCOPED_CASES, ScopedCase
from faithscope.testing.scoped_systems import SCOPED, Hub, Scoped
from faithscope.testing.systems import SYSTEMS, System

__all__ = [
    "CASES",
    "NUMBER_CASES",
    "SCOPED",
    "SCOPED_CASES",
    "SCOPED_NUMBER_CASES",
    "SYSTEMS",
    "Case",
    "Conformance",
    "Hub",
    "NumberCase",
    "Scoped",
    "ScopedCase",
    "System",
    "Verdict",
    "check_consistency",
    "check_consistency_of_numbers",
    "check_sufficiency",
    "check_sufficiency_of_numbers",
]
