"""Public names that are loaded when they are first used: NumPy and SciPy alone take half a second."""

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any

# Modules of faithscope, and the public names that each of them has.
MEASURES = {  # listed in `faithscope.measures`
    "counting.counts": "Counts count",
    "measures.decoders": "GibbsDecoder OptimalDecoder",
    "measures.intervals.bounds": "local_sample_size mse_bound sample_size",
    "measures.tolerance": "tolerance_curve",
    "measures.within": "within_curve",
    "populations": "pairs_to_ask",
    "sample": "Sample",
}
RESULTS = {  # listed in `faithscope.results`
    "evaluation.compare": "Comparison",
    "evaluation.result": "Evaluation",
    "explanations": "Explanations",
    "measures.certify": "Certificate",
    "measures.comparing.populations": "Populations",
    "measures.decoders": "Simulatability",
    "measures.direction": "Direction",
    "measures.encoding": "Encoding",
    "measures.estimate": "Estimate",
    "measures.explainer_agreement": "ExplainerAgreement",
    "measures.leakage": "Leakage",
    "measures.local": "Local",
    "measures.tolerance": "ToleranceCurve",
    "measures.planning": "Plan",
    "measures.repeatability": "Repeatability",
    "measures.within": "WithinCurve",
    "readers.rationales": "Rationales",
    "tables.audit": "Audit",
}
EXPLAINERS = {  # listed in `faithscope.explainers`
    "explainers.anchors": "Anchors TextAnchors",
    "explainers.baselines": "Constant Random Unique",
    "explainers.counterfactual": "Counterfactual",
    "explainers.dice": "Dice",
    "explainers.gradient": "Gradient",
    "explainers.lime": "Lime",
    "explainers.neighbors": "NearestNeighbors",
    "explainers.reason": "SufficientReason",
    "explainers.shap": "Shap",
    "explainers.text": "AllWords FirstWord TopCoefficient",
    "explainers.tree": "TreePath",
}
NAMES = {  # listed in `faithscope`, or with others of their kind: `faithscope.discretizers`
    "agreements": "Close Same Spread Tolerance",
    "discretizers": "Clusters Codebook CommonPhrases Delta DeltaSign Floor Grouped Modified Phrases Pool "
    "Rank ReasonCodes Sign SignOfTop Template TopFeatures TopRegions Truncate",
    "evaluation.assertions": "assert_faithful",
    "evaluation.best": "Best",
    "evaluation.cache": "Cache",
    "evaluation.compare": "compare",
    "evaluation.evaluate": "evaluate local",
    "evaluation.repeatability": "repeatability",
    "explanations.codes": "Codes",
    "explanations.concepts": "Concepts",
    "explanations.counterfactuals": "Counterfactuals",
    "explanations.highlights": "Highlights",
    "explanations.importances": "Importances",
    "explanations.prototypes": "Prototypes",
    "explanations.reasons": "Reasons",
    "explanations.rules": "Rules",
    "measures.certify": "certify",
    "measures.consistency": "consistency",
    "measures.direction": "direction",
    "measures.encoding": "encoding",
    "measures.explainer_agreement": "explainer_agreement",
    "measures.leakage": "leakage",
    "measures.local": "sample_until",
    "measures.planning": "plan",
    "measures.sufficiency": "necessity sufficiency",
    "measures.within": "within",
    "monitor.monitor": "Monitor",
    "populations": "Conditional Perturbed Product RealRows drawn",
    "readers": "read",
    "readers.rationales": "read_rationales",
    "relations": "Alike Ball Judged Nearest",
    "tables.audit": "audit",
    "tables.logs": "Log",
}


def loads(module: str, *homes: Mapping[str, str], modules: Collection[str] = ()) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module whose names live elsewhere.

    Parameters
    ----------
    module : str
        Its name.
    *homes : dict of str to str
        Modules of faithscope, and the names, with blanks between them, that each of them has.
    modules : collection of str
        Modules of faithscope that are names themselves.
    """
    known = {name: home for each in homes for home, names in each.items() for name in names.split()}

    def load(name: str) -> Any:
        if name in known:
            found = getattr(import_module(f"faithscope.{known[name]}"), name)
        elif name in modules:
            found = import_module(f"faithscope.{name}")
        else:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        setattr(sys.modules[module], name, found)
        return found

    return load
