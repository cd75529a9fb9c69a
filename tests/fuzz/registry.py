"""What is fuzzed, by its public name; and what there is to be fuzzed."""

import inspect
from dataclasses import dataclass, fields, is_dataclass
from types import ModuleType

import faithscope as fs
import faithscope.testing
from faithscope.explanations.keys import Plain, Records
from faithscope.integrations import sklearn
from faithscope.measures.certify import Certificate
from faithscope.measures.comparing.populations import Populations
from faithscope.measures.decoding.simulatability import Simulatability
from faithscope.measures.encoding.result import Encoding
from faithscope.measures.explainer_agreement.result import ExplainerAgreement
from faithscope.measures.local import Local
from faithscope.measures.numbers.tolerance import ToleranceCurve
from faithscope.measures.planning.plan import Plan
from faithscope.measures.repeatability.result import Repeatability
from faithscope.measures.within import WithinCurve
from faithscope.readers.rationales import Rationales
from faithscope.tables.audit import Audit
from faithscope.tables.windows import Windows

# What functions give.
RESULTS = (
    *(Audit, Certificate, Encoding, ExplainerAgreement, Local, Plan, Plain),
    *(Populations, Rationales, Records, Repeatability, Simulatability, ToleranceCurve, WithinCurve, Windows),
)

NOT_CALLED = {
    "Comparison": "made by compare",
    "Estimate": "made by the measures",
    "Leakage": "made by leakage",
    "Evaluation": "made by evaluate",
    "Rules": "made by parse, from_conditions, from_tree and from_bins",
    "Importances.made": "takes what is known to be right",
    "Codes.made": "takes what is known to be right",
    "Reasons.made": "takes what is known to be right",
    "Explanations": "the base of the kinds, whose own methods are fuzzed",
    "Explanations.made": "the base of the kinds",
    "Counts": "made by count",
    "Counts.locate": "takes explanations and labels that were checked",
    "Counts.locate_codes": "takes numbers of explanations that were counted",
    "Counts.kinds": "takes a sample, which was checked",
    **{f"{kind}.read": "reads the predictions of every measure" for kind in ("Same", "Close", "Tolerance", "Spread")},
    **{f"{kind}.over": "takes values that were read" for kind in ("Same", "Close", "Tolerance", "Spread")},
    "Sample": "made by Sample.of",
    "Sample.checked": "takes arrays that were checked",
    "Sample.take": "takes positions that exist",
    "Sample.noting": "takes notes of our own",
    "Sample.read_by": "takes a relation that was checked",
    "Sample.taught": "takes discretizers that were checked",
    "Sample.knowing": "takes discretizers that were checked",
    "Counts.sums_by_explanation": "takes sums that were counted",
    "explainers.TreePath.fitted_share": "asked by evaluate, of rows that were explained",
    "sklearn.FaithfulnessScorer": "made by scorer, which calls it",
    "Cache": "a folder; what it keeps is tried in tests/faults",
    "testing.Case": "a record",
    "testing.ClusteredRows": "a record",
    "testing.Conformance": "a record",
    "testing.FittedLeaves": "a record",
    "testing.HardSystem": "a record",
    "testing.HubUnderDirections": "a record",
    "testing.HubUnderTopics": "a record",
    "testing.Hub": "a record",
    "testing.NumberCase": "a record",
    "testing.ReasonSystem": "a record",
    "testing.ReasonTruth": "a record",
    "testing.ReasonedRows": "a record",
    "testing.Scoped": "a record",
    "testing.ScopedCase": "a record",
    "testing.System": "a record",
    "testing.Verdict": "a record",
    "testing.ProvenSystem": "a record",
    "testing.WeightedRows": "a record",
    **{kind.__name__: "made by a function" for kind in RESULTS},
}


@dataclass(frozen=True)
class Target:
    """One public function or method, and what draws a call of it."""

    name: str
    family: str
    draw_call: object
    examples: int


TARGETS: dict[str, Target] = {}


def target(name, family, examples=40):
    """Register a function from `draw` to a call without arguments."""

    def register(draw_call):
        known = TARGETS.get(name)
        # A module may be imported twice, by a test and in search of doctests.
        assert known is None or _line(known.draw_call) == _line(draw_call), f"{name} is registered twice"
        TARGETS[name] = Target(name, family, draw_call, examples)
        return draw_call

    return register


def _line(function):
    return function.__code__.co_filename, function.__code__.co_firstlineno


def members(kind):
    """Methods and properties of a class that are neither private nor fields."""
    held = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    for name, value in inspect.getmembers(kind):
        if not name.startswith("_") and name not in held and (callable(value) or hasattr(value, "__get__")):
            yield name, value


def public_names():
    """Every public function, class, method and property."""
    names = set()
    rooms = ((fs, ""), (fs.explainers, "explainers."), (faithscope.testing, "testing."), (sklearn, "sklearn."))
    for module, prefix in rooms:
        for name in module.__all__:
            thing = getattr(module, name)
            if not isinstance(thing, ModuleType) and callable(thing):
                names |= _names(prefix + name, thing)
    for kind in RESULTS:
        names |= _names(kind.__name__, kind)
    return names


def _names(name, thing):
    own = {name} - set(NOT_CALLED)
    if inspect.isclass(thing) and thing not in (fs.Explanations, fs.Cache):
        own |= {f"{name}.{member}" for member, _ in members(thing)} - set(NOT_CALLED)
    return own
