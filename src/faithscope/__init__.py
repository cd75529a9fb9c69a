"""faithscope: are these explanations faithful to the model, and how sure can one be?

Implements and extends "Framework for Evaluating Faithfulness of Local Explanations"
(Dasgupta, Frost, Moshkovitz, ICML 2022).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faithscope import agreements, discretizers, errors, explainers, populations, relations
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
    from faithscope.measures.direction import Direction, direction
    from faithscope.measures.encoding import Encoding, encoding
    from faithscope.measures.estimate import Estimate
    from faithscope.measures.explainer_agreement import ExplainerAgreement, explainer_agreement
    from faithscope.measures.intervals.bounds import local_sample_size, mse_bound, sample_size
    from faithscope.measures.leakage import Leakage, leakage
    from faithscope.measures.local import Local, sample_until
    from faithscope.measures.necessity import necessity
    from faithscope.measures.numbers.tolerance import ToleranceCurve, tolerance_curve
    from faithscope.measures.planning.plan import Plan, plan
    from faithscope.measures.repeatability import Repeatability
    from faithscope.measures.sufficiency import sufficiency
    from faithscope.measures.within import WithinCurve, within, within_curve
    from faithscope.monitor.monitor import Monitor
    from faithscope.populations import Conditional, Perturbed, Product, RealRows, drawn
    from faithscope.readers import read
    from faithscope.readers.rationales import Rationales, read_rationales
    from faithscope.relations import Alike, Ball, Judged, Nearest, pairs_to_ask
    from faithscope.sample import Sample
    from faithscope.tables.audit import Audit, audit

__version__ = "0.1.0"

__all__ = [
    "Alike",
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
    "Direction",
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
    "direction",
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

_HOMES = {  # modules, and the public names that each of them has
    "agreements": "Close Same Spread Tolerance",
    "counting.counts": "Counts count",
    "discretizers": "Clusters Codebook CommonPhrases Delta DeltaSign Floor Grouped Modified Phrases Pool Rank "
    "ReasonCodes Sign SignOfTop Template TopFeatures TopRegions Truncate",
    "evaluation.assertions": "assert_faithful",
    "evaluation.best": "Best",
    "evaluation.cache": "Cache",
    "evaluation.compare": "Comparison compare",
    "evaluation.evaluate": "evaluate local",
    "evaluation.repeatability": "repeatability",
    "evaluation.result": "Evaluation",
    "explanations": "Explanations",
    "explanations.codes": "Codes",
    "explanations.concepts": "Concepts",
    "explanations.counterfactuals": "Counterfactuals",
    "explanations.highlights": "Highlights",
    "explanations.importances": "Importances",
    "explanations.prototypes": "Prototypes",
    "explanations.reasons": "Reasons",
    "explanations.rules": "Rules",
    "measures.certify": "Certificate certify",
    "measures.comparing.populations": "Populations",
    "measures.consistency": "consistency",
    "measures.decoders": "GibbsDecoder OptimalDecoder Simulatability",
    "measures.direction": "Direction direction",
    "measures.encoding": "Encoding encoding",
    "measures.estimate": "Estimate",
    "measures.explainer_agreement": "ExplainerAgreement explainer_agreement",
    "measures.intervals.bounds": "local_sample_size mse_bound sample_size",
    "measures.leakage": "Leakage leakage",
    "measures.local": "Local sample_until",
    "measures.necessity": "necessity",
    "measures.numbers.tolerance": "ToleranceCurve tolerance_curve",
    "measures.planning.plan": "Plan plan",
    "measures.repeatability": "Repeatability",
    "measures.sufficiency": "sufficiency",
    "measures.within": "WithinCurve within within_curve",
    "monitor.monitor": "Monitor",
    "populations": "Conditional Perturbed Product RealRows drawn",
    "readers": "read",
    "readers.rationales": "Rationales read_rationales",
    "relations": "Alike Ball Judged Nearest pairs_to_ask",
    "sample": "Sample",
    "tables.audit": "Audit audit",
}


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> Any:
    """Public names are loaded when they are first used: NumPy and SciPy alone take half a second."""
    if name not in __all__:
        raise AttributeError(f"module 'faithscope' has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names.split()), None)
    module = import_module(f"faithscope.{home or name}")
    globals()[name] = module if home is None else getattr(module, name)
    return globals()[name]
