"""faithscope: are these explanations faithful to the model, and how sure can one be?

Implements and extends "Framework for Evaluating Faithfulness of Local Explanations"
(Dasgupta, Frost, Moshkovitz, ICML 2022).
"""

from typing import TYPE_CHECKING

from faithscope.lazily import MEASURES, NAMES, RESULTS, loads

if TYPE_CHECKING:
    from faithscope import agreements, discretizers, errors, explainers, measures, populations, relations, results
    from faithscope.agreements import Close, Same, Spread, Tolerance
    from faithscope.counting.counts import Counts as Counts
    from faithscope.counting.counts import count as count
    from faithscope.discretizers import Clusters as Clusters
    from faithscope.discretizers import (
        Codebook,
        Floor,
        Grouped,
        Rank,
        ReasonCodes,
        Sign,
        SignOfTop,
        TopFeatures,
    )
    from faithscope.discretizers import CommonPhrases as CommonPhrases
    from faithscope.discretizers import Delta as Delta
    from faithscope.discretizers import DeltaSign as DeltaSign
    from faithscope.discretizers import Modified as Modified
    from faithscope.discretizers import Phrases as Phrases
    from faithscope.discretizers import Pool as Pool
    from faithscope.discretizers import Template as Template
    from faithscope.discretizers import TopRegions as TopRegions
    from faithscope.discretizers import Truncate as Truncate
    from faithscope.evaluation.assertions import assert_faithful
    from faithscope.evaluation.best import Best
    from faithscope.evaluation.cache import Cache
    from faithscope.evaluation.compare import Comparison as Comparison
    from faithscope.evaluation.compare import compare
    from faithscope.evaluation.evaluate import evaluate, local
    from faithscope.evaluation.repeatability import repeatability
    from faithscope.evaluation.result import Evaluation as Evaluation
    from faithscope.explanations import Explanations as Explanations
    from faithscope.explanations.codes import Codes
    from faithscope.explanations.concepts import Concepts
    from faithscope.explanations.counterfactuals import Counterfactuals
    from faithscope.explanations.highlights import Highlights
    from faithscope.explanations.importances import Importances
    from faithscope.explanations.prototypes import Prototypes
    from faithscope.explanations.reasons import Reasons
    from faithscope.explanations.rules import Rules
    from faithscope.measures.certify import Certificate as Certificate
    from faithscope.measures.certify import certify
    from faithscope.measures.comparing.populations import Populations as Populations
    from faithscope.measures.consistency import consistency
    from faithscope.measures.decoders import GibbsDecoder as GibbsDecoder
    from faithscope.measures.decoders import OptimalDecoder as OptimalDecoder
    from faithscope.measures.decoders import Simulatability as Simulatability
    from faithscope.measures.direction import Direction as Direction
    from faithscope.measures.direction import direction
    from faithscope.measures.encoding import Encoding as Encoding
    from faithscope.measures.encoding import encoding
    from faithscope.measures.estimate import Estimate as Estimate
    from faithscope.measures.explainer_agreement import ExplainerAgreement as ExplainerAgreement
    from faithscope.measures.explainer_agreement import explainer_agreement
    from faithscope.measures.intervals.bounds import local_sample_size as local_sample_size
    from faithscope.measures.intervals.bounds import mse_bound as mse_bound
    from faithscope.measures.intervals.bounds import sample_size as sample_size
    from faithscope.measures.leakage import Leakage as Leakage
    from faithscope.measures.leakage import leakage
    from faithscope.measures.local import Local as Local
    from faithscope.measures.local import sample_until
    from faithscope.measures.planning import Plan as Plan
    from faithscope.measures.planning import plan
    from faithscope.measures.repeatability import Repeatability as Repeatability
    from faithscope.measures.sufficiency import necessity, sufficiency
    from faithscope.measures.tolerance import ToleranceCurve as ToleranceCurve
    from faithscope.measures.tolerance import tolerance_curve as tolerance_curve
    from faithscope.measures.within import WithinCurve as WithinCurve
    from faithscope.measures.within import within
    from faithscope.measures.within import within_curve as within_curve
    from faithscope.monitor.monitor import Monitor
    from faithscope.populations import Conditional, Perturbed, Product, RealRows, drawn
    from faithscope.populations import pairs_to_ask as pairs_to_ask
    from faithscope.readers import read
    from faithscope.readers.rationales import Rationales as Rationales
    from faithscope.readers.rationales import read_rationales
    from faithscope.relations import Alike, Ball, Judged, Nearest
    from faithscope.sample import Sample as Sample
    from faithscope.tables.audit import Audit as Audit
    from faithscope.tables.audit import audit
    from faithscope.tables.logs import Log

__version__ = "0.1.0"

__all__ = [
    "Alike",
    "Ball",
    "Best",
    "Cache",
    "Close",
    "Codebook",
    "Codes",
    "Concepts",
    "Conditional",
    "Counterfactuals",
    "Floor",
    "Grouped",
    "Highlights",
    "Importances",
    "Judged",
    "Log",
    "Monitor",
    "Nearest",
    "Perturbed",
    "Product",
    "Prototypes",
    "Rank",
    "RealRows",
    "ReasonCodes",
    "Reasons",
    "Rules",
    "Same",
    "Sign",
    "SignOfTop",
    "Spread",
    "Tolerance",
    "TopFeatures",
    "agreements",
    "assert_faithful",
    "audit",
    "certify",
    "compare",
    "consistency",
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
    "measures",
    "necessity",
    "plan",
    "populations",
    "read",
    "read_rationales",
    "relations",
    "repeatability",
    "results",
    "sample_until",
    "sufficiency",
    "within",
]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


__getattr__ = loads(__name__, NAMES, MEASURES, RESULTS, modules=__all__)
