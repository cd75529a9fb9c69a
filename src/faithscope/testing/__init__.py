"""A conformance suite and populations with known truth, for implementations of these measures, ours or any other."""

from faithscope.testing.cases import (
    CASES,
    NUMBER_CASES,
    SCOPED_CASES,
    SCOPED_NUMBER_CASES,
    Case,
)
from faithscope.testing.conformance import (
    Conformance,
    Verdict,
    check_consistency,
    check_sufficiency,
)
from faithscope.testing.populations import (
    POPULATIONS,
    FinitePopulation,
    FittedLeaves,
    hard_populations,
    word_lists,
    zero_vectors,
)

__all__ = [
    "CASES",
    "NUMBER_CASES",
    "POPULATIONS",
    "SCOPED_CASES",
    "SCOPED_NUMBER_CASES",
    "Case",
    "Conformance",
    "FinitePopulation",
    "FittedLeaves",
    "Verdict",
    "check_consistency",
    "check_sufficiency",
    "hard_populations",
    "word_lists",
    "zero_vectors",
]
