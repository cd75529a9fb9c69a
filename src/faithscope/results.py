"""What measures give back: the classes of results, to look up, to annotate and to ask with ``isinstance``."""

from typing import TYPE_CHECKING

from faithscope.lazily import RESULTS, loads

if TYPE_CHECKING:
    from faithscope.evaluation.compare import Comparison
    from faithscope.evaluation.result import Evaluation
    from faithscope.explanations import Explanations
    from faithscope.measures.certify import Certificate
    from faithscope.measures.comparing.populations import Populations
    from faithscope.measures.decoders import Simulatability
    from faithscope.measures.direction import Direction
    from faithscope.measures.encoding import Encoding
    from faithscope.measures.estimate import Estimate
    from faithscope.measures.explainer_agreement import ExplainerAgreement
    from faithscope.measures.leakage import Leakage
    from faithscope.measures.local import Local
    from faithscope.measures.planning import Plan
    from faithscope.measures.repeatability import Repeatability
    from faithscope.measures.tolerance import ToleranceCurve
    from faithscope.measures.within import WithinCurve
    from faithscope.readers.rationales import Rationales
    from faithscope.tables.audit import Audit

__all__ = [
    "Audit",
    "Certificate",
    "Comparison",
    "Direction",
    "Encoding",
    "Estimate",
    "Evaluation",
    "ExplainerAgreement",
    "Explanations",
    "Leakage",
    "Local",
    "Plan",
    "Populations",
    "Rationales",
    "Repeatability",
    "Simulatability",
    "ToleranceCurve",
    "WithinCurve",
]


def __dir__() -> list[str]:
    return __all__


__getattr__ = loads(__name__, RESULTS)
