"""faithscope: are these explanations faithful to the model, and how sure can one be?

Implements and extends "Framework for Evaluating Faithfulness of Local Explanations"
(Dasgupta, Frost, Moshkovitz, ICML 2022).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from faithscope import agreements, discretizers, errors, populations, relations
from faithscope.agreements import Close, Same, Spread, Tolerance
from faithscope.counting.counts import Counts, count
from faithscope.discretizers import (
    Clusters,
    Codebook,
    CommonPhrases,
    Delta,
    DeltaSign,
    Floor,
    Grouped,
    Modified,
    Phrases,
    Pool,
    Rank,
    ReasonCodes,
    Sign,
    SignOfTop,
    Template,
    TopFeatures,
    TopRegions,
    Truncate,
)
from faithscope.evaluation.assertions import assert_faithful
from faithscope.evaluation.best import Best
from faithscope.evaluation.cache import Cache
from faithscope.evaluation.compare import Comparison, compare
from faithscope.evaluation.evaluate import evaluate, local
from faithscope.evaluation.repeatability import repeatability
from faithscope.evaluation.result import Evaluation
from faithscope.explanations import Explanations
from faithscope.explanations.codes import Codes
from faithscope.explanations.concepts import Concepts
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.importances import Importances
from faithscope.explanations.prototypes import Prototypes
from faithscope.explanations.reasons import Reasons
from faithscope.explanations.rules import Rules
from faithscope.measures.certify import Certificate, certify
from faithscope.measures.comparing.populations import Populations
from faithscope.measures.consistency import consistency
from faithscope.measures.decoders import GibbsDecoder, OptimalDecoder, Simulatability
from faithscope.measures.encoding.measure import encoding
from faithscope.measures.encoding.result import Encoding
from faithscope.measures.estimate import Estimate
from faithscope.measures.explainer_agreement.measure import explainer_agreement
from faithscope.measures.explainer_agreement.result import ExplainerAgreement
from faithscope.measures.intervals.bounds import local_sample_size, mse_bound, sample_size
from faithscope.measures.leakage import Leakage, leakage
from faithscope.measures.local import Local, sample_until
from faithscope.measures.necessity import necessity
from faithscope.measures.numbers.tolerance import ToleranceCurve, tolerance_curve
from faithscope.measures.planning.plan import Plan, plan
from faithscope.measures.repeatability.result import Repeatability
from faithscope.measures.sufficiency import sufficiency
from faithscope.measures.within import WithinCurve, within, within_curve
from faithscope.populations import Conditional, Perturbed, Product, RealRows, drawn
from faithscope.readers import read
from faithscope.readers.rationales import Rationales, read_rationales
from faithscope.relations import Ball, Judged, Nearest, pairs_to_ask
from faithscope.sample import Sample

if TYPE_CHECKING:
    from faithscope import explainers
    from faithscope.monitor.monitor import Monitor
    from faithscope.tables.audit import Audit, audit

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Ball",
    "Best",
    "Cache",
    "Certificate",
    "Close",
    "Clusters",
    "Codebook",
    "Codes",
    "CommonPhrases",
    "Comparison",
    "Concepts",
    "Conditional",
    "Counterfactuals",
    "Counts",
    "Delta",
    "DeltaSign",
    "Encoding",
    "Estimate",
    "Evaluation",
    "ExplainerAgreement",
    "Explanations",
    "Floor",
    "GibbsDecoder",
    "Grouped",
    "Highlights",
    "Importances",
    "Judged",
    "Leakage",
    "Local",
    "Modified",
    "Monitor",
    "Nearest",
    "OptimalDecoder",
    "Perturbed",
    "Phrases",
    "Plan",
    "Pool",
    "Populations",
    "Product",
    "Prototypes",
    "Rank",
    "Rationales",
    "RealRows",
    "ReasonCodes",
    "Reasons",
    "Repeatability",
    "Rules",
    "Same",
    "Sample",
    "Sign",
    "SignOfTop",
    "Simulatability",
    "Spread",
    "Template",
    "Tolerance",
    "ToleranceCurve",
    "TopFeatures",
    "TopRegions",
    "Truncate",
    "WithinCurve",
    "agreements",
    "assert_faithful",
    "audit",
    "certify",
    "compare",
    "consistency",
    "count",
    "discretizers",
    "drawn",
    "encoding",
    "errors",
    "evaluate",
    "explainer_agreement",
    "explainers",
    "leakage",
    "local",
    "local_sample_size",
    "mse_bound",
    "necessity",
    "pairs_to_ask",
    "plan",
    "populations",
    "read",
    "read_rationales",
    "relations",
    "repeatability",
    "sample_size",
    "sample_until",
    "sufficiency",
    "tolerance_curve",
    "within",
    "within_curve",
]

_WHEN_FIRST_USED = {
    "Audit": "faithscope.tables.audit",
    "audit": "faithscope.tables.audit",
    "Monitor": "faithscope.monitor.monitor",
}


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> Any:
    """Explainers and audits are loaded when first used."""
    if name == "explainers":
        return import_module("faithscope.explainers")
    if name in _WHEN_FIRST_USED:
        return getattr(import_module(_WHEN_FIRST_USED[name]), name)
    raise AttributeError(f"module 'faithscope' has no attribute {name!r}")
