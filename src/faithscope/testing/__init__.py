"""A conformance suite and systems with known truth, for implementations of these measures, ours or any other."""

from faithscope.testing.cases import (
    CASES,
    NUMBER_CASES,
    SCOPED_CASES,
    SCOPED_NUMBER_CASES,
    Case,
    NumberCase,
    ScopedCase,
)
from faithscope.testing.conformance import (
    Conformance,
    Verdict,
    check_consistency,
    check_consistency_of_numbers,
    check_sufficiency,
    check_sufficiency_of_numbers,
)
from faithscope.testing.hard import HardSystem, hard_systems
from faithscope.testing.reasons import REASON_SYSTEMS, ReasonedRows, ReasonSystem, ReasonTruth
from faithscope.testing.scoped_systems import SCOPED, Hub, Scoped
from faithscope.testing.systems import SYSTEMS, System
from faithscope.testing.unideal_systems import (
    ClusteredRows,
    FittedLeaves,
    HubUnderDirections,
    HubUnderTopics,
    ProvenSystem,
    WeightedRows,
)

__all__ = [
    "CASES",
    "NUMBER_CASES",
    "REASON_SYSTEMS",
    "SCOPED",
    "SCOPED_CASES",
    "SCOPED_NUMBER_CASES",
    "SYSTEMS",
    "Case",
    "ClusteredRows",
    "Conformance",
    "FittedLeaves",
    "HardSystem",
    "Hub",
    "HubUnderDirections",
    "HubUnderTopics",
    "NumberCase",
    "ProvenSystem",
    "ReasonSystem",
    "ReasonTruth",
    "ReasonedRows",
    "Scoped",
    "ScopedCase",
    "System",
    "Verdict",
    "WeightedRows",
    "check_consistency",
    "check_consistency_of_numbers",
    "check_sufficiency",
    "check_sufficiency_of_numbers",
    "hard_systems",
]
