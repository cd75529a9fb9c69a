"""Every public function, class, method and property, and calls of it with hostile input: drawn by its signature."""

import importlib
import inspect
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import strategies as st

import faithscope as fs
from faithscope import testing
from faithscope.errors import Removed
from faithscope.evaluation.assertions import Unfaithful
from faithscope.explanations.keys import Plain, Records
from faithscope.integrations import sklearn
from faithscope.measures.certify import Certificate
from faithscope.measures.comparing.populations import Populations
from faithscope.measures.decoders import Simulatability
from faithscope.measures.encoding import Encoding
from faithscope.measures.explainer_agreement import ExplainerAgreement
from faithscope.measures.local import Local
from faithscope.measures.numbers.tolerance import ToleranceCurve
from faithscope.measures.planning.plan import Plan
from faithscope.measures.repeatability import Repeatability
from faithscope.measures.within import WithinCurve
from faithscope.readers.rationales import Rationales
from faithscope.relations import to_relation
from faithscope.tables.audit import Audit
from faithscope.tables.logs import LogColumns
from faithscope.tables.windows import Windows
from fuzz.hostile import SIZES
from fuzz.kinds import INSTANCES, SIZED, fitting_rows, of_any_kind, some_rows
from fuzz.parameters import OWN, PARAMETERS, USED, USUAL, Written, discretized, some_table
from listed import names

# What functions give: their methods are public, and how they are made is not.
RESULTS = (
    *(Audit, Certificate, Encoding, ExplainerAgreement, Local, Plan, Plain),
    *(Populations, Rationales, Records, Repeatability, Simulatability, ToleranceCurve, WithinCurve, Windows),
    *(
        fs.Comparison,
        fs.Direction,
        fs.Estimate,
        fs.Leakage,
        fs.Evaluation,
        fs.Rules,
        fs.Counts,
        fs.Sample,
        sklearn.FaithfulnessScorer,
    ),
)
NOT_CALLED = {
    "Explanations": "the base of the kinds, whose own methods are fuzzed",
    "Cache": "a folder; what it keeps is tried in tests/faults",
    "Counts.locate": "takes explanations and labels that were checked",
    "Counts.locate_codes": "takes numbers of explanations that were counted",
    **dict.fromkeys(("Importances.made", "Codes.made", "Reasons.made"), "takes what is known to be right"),
    **{f"{kind}.read": "reads the predictions of every measure" for kind in ("Same", "Close", "Tolerance", "Spread")},
    **{f"{kind}.over": "takes values that were read" for kind in ("Same", "Close", "Tolerance", "Spread")},
    **{f"Sample.{method}": "takes what was checked" for method in ("checked", "take", "noting", "covered_by")},
    **{f"Sample.{method}": "takes discretizers that were checked" for method in ("taught", "knowing", "learned")},
    "explainers.TreePath.fitted_share": "asked by evaluate, of rows that were explained",
}
# Parameters that can be left out, and of which nothing is drawn.
LEFT_ALONE = {"unlabeled", "where", "since", "inputs", "table", "missing", "fitted_on", "samples", "beam", "cases"}
LEFT_ALONE |= {"max_words", "max_conditions", "distinct"}
OF_EXPLAINERS = {"X": some_table, "progress": st.sampled_from([None, True, "yes", lambda *_: None])}
# How often `make test-all` tries what is not tried as often as others of its sort; `make fuzz` tries thrice as often.
EXAMPLES = {
    **{"plot": 2, "to_html": 2, "to_mlflow": 2, "get_params": 2, "consistency": 40, "sufficiency": 30, "necessity": 30},
    **{"encoding": 30, "evaluate": 25, "repeatability": 25, "drawn": 35, "Judged": 40, "read": 30, "Importances": 30},
    **{"read_rationales": 50, "Reasons.to_rules": 30, "Rules.parse": 30, "Rules.from_conditions": 30},
    **{"explainers.Anchors": 4, "explainers.TextAnchors": 4, "explain_at": 4, "explain_with_precision": 4},
}


@dataclass(frozen=True)
class Target:
    """Something public, by its name; a method or property also with the class that it is asked of."""

    name: str
    thing: object
    owner: type | None = None

    @property
    def family(self):
        """The room of the package that it lives in."""
        return (self.owner or self.thing).__module__.split(".")[1]

    @property
    def member(self):
        return self.name.rpartition(".")[2]

    @property
    def examples(self):
        usual = 4 if self.owner and not self.parameters else 8 if self.owner or self.family == "explainers" else 16
        return EXAMPLES.get(self.name, EXAMPLES.get(self.member, usual))

    @property
    def parameters(self):
        """What it takes, by name."""
        taken = dict(inspect.signature(self.thing).parameters) if callable(self.thing) else {}
        if "LogColumns" in str(getattr(taken.get("columns"), "annotation", "")):  # what a log takes, each by its name
            del taken["columns"]
            options = LogColumns.__annotations__
            taken |= {name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in options}
        return {name: taken[name] for name in taken if name != "self"}

    def strategies(self):
        """What is drawn for each parameter, but for those that are left alone."""
        tables = OWN.get(self.name, {}), OF_EXPLAINERS if self.family == "explainers" else {}, PARAMETERS
        known = {name: next((table[name] for table in tables if name in table), None) for name in self.parameters}
        return {name: known[name] for name in known if known[name] is not None or name not in LEFT_ALONE}

    def instances(self):
        """What a method or property is asked of."""
        owner = self.name.rpartition(".")[0]
        return INSTANCES.get(self.name, INSTANCES.get(owner))

    def call(self, draw):
        """A drawn call, without arguments."""
        n = draw(SIZES)
        if "run_id" in self.parameters and find_spec("mlflow"):
            importlib.import_module("mlflow")  # which takes longer than a call may
        subject = draw(self.instances()) if self.owner else None
        if self.family == "relations" and self.member in ("cover", "scopes", "about"):
            return _asked_of_a_relation(draw, subject, self.member)
        n = (
            len(subject)
            if isinstance(subject, fs.Explanations)
            else getattr(getattr(subject, "sample", subject), "n", n)
        )
        given = self._arguments(draw, n, subject)
        used = USED.get(
            self.name, discretized if self.family == "discretizers" and inspect.isclass(self.thing) else None
        )
        use = draw(used(n)) if used else lambda answer, _: answer

        def call():
            of = subject() if isinstance(subject, partial) else subject
            asked = getattr(of, self.member) if self.owner else self.thing
            with _folder(self, given) as there:
                try:
                    answer = asked(**there) if callable(self.thing) else asked
                except Unfaithful as told:  # an answer too
                    return str(told)
                return use(list(answer) if hasattr(answer, "__next__") else answer, there)

        return call

    def _arguments(self, draw, n, subject):
        """Everything that it needs, and none, one or two of the settings that can be left out."""
        drawn = {name: known(n) if callable(known) else known for name, known in self.strategies().items()}
        if "conditions" in drawn and self.owner:
            drawn["conditions"] = st.just([part for all_of in subject.distinct for part in all_of])
        needed = [name for name in drawn if self._always(name)]
        chosen = draw(st.sampled_from([0, 0, 0, 1, 1, 2]))
        more = draw(st.permutations([name for name in drawn if name not in needed]))[:chosen]
        return {**USUAL.get(self.name, {}), **{name: draw(drawn[name]) for name in [*needed, *more]}}

    def _always(self, name):
        parameter = self.parameters[name]
        lone = self.owner and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        return parameter.default is parameter.empty or lone or name in ("X", "eps", "estimate", "store")


def _asked_of_a_relation(draw, relation, method):
    given = draw(SIZED.flatmap(of_any_kind))
    X = draw(st.one_of(fitting_rows(given), some_rows(len(given))))
    return {
        "cover": lambda: relation.cover(given.take(given.group()[1]), given, X),
        "scopes": lambda: to_relation(relation, given).scopes(given),
        "about": lambda: relation.about(given, X),
    }[method]


@contextmanager
def _folder(target, given):
    """What a call is given, with paths and MLflow's runs in a folder of its own; afterwards what it writes is there."""
    place = next((name for name in ("path", "store") if name in given), None)
    if place is None and "run_id" not in target.parameters:
        yield given
        return
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", Path(folder).as_uri())
        patch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        there = dict(given)
        if isinstance(given.get(place), str):
            there[place] = Path(folder) / given[place]
        if isinstance(given.get(place), Written):
            there[place] = Path(folder) / "written"
            there[place].write_bytes(given[place].content)
        yield there
        if place == "path" and target.name != "Codebook.load":
            assert Path(there["path"]).stat().st_size


def members(kind):
    """Methods and properties of a class that are neither private nor fields."""
    held = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    for name, value in inspect.getmembers(kind):
        taken = callable(value) or hasattr(value, "__get__")
        if not name.startswith("_") and name not in held and taken and not isinstance(value, Removed):
            yield name, value


def public():
    """Every public function, class, method and property."""
    rooms = ((fs, ""), (fs.explainers, "explainers."), (testing, "testing."), (sklearn, "sklearn."))
    things = {prefix + name: getattr(module, name) for module, prefix in rooms for name in names(module)}
    things = {name: thing for name, thing in things.items() if callable(thing)}
    for name, thing in (things | {kind.__name__: kind for kind in RESULTS}).items():
        made = thing in RESULTS or (inspect.isclass(thing) and name.startswith("testing."))
        if not made and name not in NOT_CALLED:
            yield Target(name, thing)
        if inspect.isclass(thing) and name not in NOT_CALLED:
            for member, value in members(thing):
                bound = isinstance(inspect.getattr_static(thing, member), classmethod | staticmethod)
                if f"{name}.{member}" not in NOT_CALLED:
                    yield Target(f"{name}.{member}", value, None if bound else thing)


TARGETS = {target.name: target for target in public()}
