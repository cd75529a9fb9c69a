"""Calls of the methods of what public functions and constructors give, with hostile arguments."""

import os
import tempfile
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from inspect import Parameter, signature
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

import faithscope as fs
import faithscope.testing
from faithscope.relations import to_relation
from faithscope.sinks.shareable import Shareable
from faithscope.tables.audit import Audit
from faithscope.tables.windows import Windows
from fuzz import hostile, kinds
from fuzz.choices import COUNTS, DISCRETIZERS, SEEDS, SHARES, WORDS
from fuzz.functions import LOG, NAMES
from fuzz.hostile import SCALARS, lists
from fuzz.kinds import clean_lists, comparisons, evaluations, explanations, fitting_rows, labels, of_any_kind, some_rows
from fuzz.registry import RESULTS, TARGETS, members, target

SCOPES = ["x0 <= 0.5", "x1 > 0", "everything"]
RESULT, KIND, DECODER, AUDIT = "results", "methods of explanations", "decoders", "audits"


@cache
def audits():
    return fs.audit(LOG, prediction="yhat", explanation="phi_*", by="g", time="when")


def monitors():
    monitor = fs.Monitor(by="g", at_least=0.9)
    monitor.add_log(LOG, prediction="yhat", explanation="phi_*", when="when")
    return monitor


def scoped_monitors():
    monitor = fs.Monitor(by="g", at_least=0.9, scopes=fs.Rules.parse(SCOPES, features=["x0", "x1"]))
    monitor.add(SCOPES, [1, 0, 0], X=np.eye(3, 2), by=["x", "y", "y"], when="2026-03-01")
    return monitor


def _decoder(kind):
    sizes = st.sampled_from([1, 3, 8])
    samples = sizes.flatmap(lambda n: st.tuples(of_any_kind(n), clean_lists(n)))
    return st.one_of(st.just(kind()), samples.map(lambda pair: kind().fit(*pair)))


def _decoded(ev):
    decoder = fs.OptimalDecoder(ev._counts())
    return decoder.accuracy(ev.explanations, ev.predictions)


def _local(ev):
    from faithscope.measures.local import at_row

    return at_row(ev.consistency.counts, ev.explanations.take([0]), ev.predictions.tolist()[0])


def _repeated(kind):
    runs = [[[0.5, -1.0], [2.0, 0.0], [1.0, 1.0]], [[0.5, -1.0], [0.0, 0.5], [1.0, 1.0]]]
    return fs.repeatability([kind(run) for run in runs])


def _encoding(n):
    rules = fs.Rules.parse([["x0 <= 9", "x0 <= 5", "x1 > 2"][row % 3] for row in range(n)], features=["x0", "x1"])
    return fs.encoding(rules, [row % 2 for row in range(n)], [[row, n - row] for row in range(n)])


def _rationales(given):
    return fs.read_rationales([{"input": given, "answer": "a", "explanation": "\0"}, {"answer": 3, "explanation": "x"}])


UNWEIGHTED = evaluations().filter(lambda ev: ev.weights is None)
INSTANCES = {
    "Estimate": evaluations().map(lambda ev: ev.consistency),
    "Encoding": st.integers(1, 12).map(_encoding),
    "Evaluation": evaluations(),
    "Comparison": comparisons(),
    "Populations": evaluations().map(lambda ev: ev.by([0] * len(ev.predictions))),
    "Plan": UNWEIGHTED.map(fs.plan),
    "Local": UNWEIGHTED.map(_local),
    "Certificate": UNWEIGHTED.map(lambda ev: fs.certify(ev.explanations, ev.predictions)),
    "Leakage": kinds.reasons(5).map(lambda given: fs.leakage(given, ["yes", "no", "no", "yes", "no"])),
    "Rationales": st.sampled_from(["x", {"a": 1}, None, '{"a": 2}', ["\ud800"]]).map(_rationales),
    "WithinCurve": kinds.grid(5).map(lambda m: fs.within_curve(m, list("aabba"), [0, 1.0])),
    "ToleranceCurve": st.just([1.0, 2.0, 4.5, 4.0, 0.5]).map(lambda y: fs.tolerance_curve(list("aabba"), y, [0.5, 2])),
    "Simulatability": UNWEIGHTED.map(_decoded),
    "ExplainerAgreement": kinds.grid(5).map(lambda m: fs.explainer_agreement({"a": m, "b": m[::-1], "c": -m}, k=1)),
    "Repeatability": st.sampled_from([fs.Importances, list]).map(_repeated),
    "Windows": st.builds(audits).map(lambda audit: audit.windows),
    "Audit": st.builds(audits),
    "Monitor": st.one_of(st.builds(monitors), st.builds(scoped_monitors)),
    "Counts": UNWEIGHTED.map(lambda ev: ev.consistency.counts),
    "Sample": evaluations().map(lambda ev: ev.sample),
    "GibbsDecoder": _decoder(fs.GibbsDecoder),
    "OptimalDecoder": _decoder(fs.OptimalDecoder),
}
FAMILIES = {"GibbsDecoder": DECODER, "OptimalDecoder": DECODER, "Audit": AUDIT, "Windows": AUDIT, "Monitor": AUDIT}
SLOW = {"plot": 2, "curve": 6, "discretizations": 12}


def _reader(owner, instances, name, family):
    """A property, or a method that needs no argument."""

    @target(f"{owner}.{name}", family, SLOW.get(name, 10))
    def _(draw):
        instance = draw(instances)

        def call():
            answer = getattr(instance, name)
            return answer() if callable(answer) and not isinstance(answer, float | fs.Codebook) else answer

        return call


def needs_nothing(kind, name):
    """Whether this is a property, or a method that can be called without arguments."""
    value = getattr(kind, name)
    if not callable(value):
        return True
    wanted = list(signature(value).parameters.values())[1:]
    return all(parameter.default is not Parameter.empty for parameter in wanted)


def _with(name, family, examples, instances, arguments):
    """A method of drawn instances with drawn arguments."""
    method = name.rpartition(".")[2]

    @target(name, family, examples)
    def _(draw):
        instance = draw(instances)
        given, how = draw(arguments(instance))
        return lambda: getattr(instance, method)(*given, **how)


def _k(instance):
    return st.tuples(st.tuples(st.one_of(COUNTS, SCALARS)), st.just({}))


for name in ("table", "counterexamples", "scopes", "wrongly_covered"):
    _with(f"Evaluation.{name}", RESULT, 30, INSTANCES["Evaluation"], _k)
for name in ("table", "features"):
    _with(f"Repeatability.{name}", RESULT, 15, INSTANCES["Repeatability"], _k)
for name in ("table", "counterexamples"):
    _with(f"Audit.{name}", AUDIT, 15, INSTANCES["Audit"], _k)
for name in ("limits", "single_look", "alarms"):
    _with(f"Monitor.{name}", AUDIT, 10, INSTANCES["Monitor"], _k)


def _added(monitor):
    n = st.sampled_from([0, 1, 4])
    whens = st.one_of(st.sampled_from(["2026-03-01", "x", None, [None] * 4, [3] * 4]), SCALARS)
    how = {"when": whens, "by": n.flatmap(labels), "batch": SCALARS, "discretizer": DISCRETIZERS, "X": some_rows(4)}
    scopes = (lists(4, st.sampled_from(SCOPES)),) if monitor._scopes is not None else ()
    rows = n.flatmap(lambda size: st.tuples(st.one_of(explanations(size), *scopes), labels(size)))
    return st.tuples(rows, st.fixed_dictionaries({}, optional=how))


def _added_log(monitor):
    how = dict.fromkeys(("prediction", "explanation", "when", "by"), NAMES) | {"batch": SCALARS, "nulls": WORDS}
    tables = st.one_of(st.just(LOG), st.sampled_from([0, 1, 4]).flatmap(hostile.tables), SCALARS)
    return st.tuples(st.tuples(tables), st.fixed_dictionaries({}, optional=how))


_with("Monitor.add", AUDIT, 30, INSTANCES["Monitor"], _added)
_with("Monitor.add_log", AUDIT, 20, INSTANCES["Monitor"], _added_log)


@target("Monitor", AUDIT, 20)
def _(draw):
    places = ["new", "deep/er", ".", "a\0b", "x" * 300, None, 3, b"x"]
    where, how = (
        draw(st.sampled_from(places)),
        draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "at_least": SHARES,
                    "confidence": SHARES,
                    "by": st.one_of(NAMES, SCALARS),
                    "seed": SEEDS,
                    "scopes": st.one_of(SCALARS, st.just(["a <= 3", "b == 1"]), explanations(3), st.lists(SCALARS)),
                },
            )
        ),
    )

    def call():
        with tempfile.TemporaryDirectory() as folder:
            return fs.Monitor(Path(folder) / where if isinstance(where, str) else where, **how).by

    return call


_with("Encoding.table", RESULT, 20, INSTANCES["Encoding"], _k)


def _groups(ev):
    n = len(ev.predictions)
    return st.tuples(
        st.tuples(labels(n), st.sampled_from(["consistency", "consistency", "sufficiency", "necessity", "", None])),
        st.just({}),
    )


_with("Evaluation.by", RESULT, 40, INSTANCES["Evaluation"], _groups)
_with("Audit.by", AUDIT, 15, INSTANCES["Audit"], lambda instance: st.tuples(st.tuples(NAMES), st.just({})))
_with(
    "Audit.over_time", AUDIT, 15, INSTANCES["Audit"], lambda instance: st.tuples(st.tuples(NAMES, WORDS), st.just({}))
)
_with(
    "Sample.split", RESULT, 30, INSTANCES["Sample"], lambda sample: st.tuples(st.tuples(labels(sample.n)), st.just({}))
)
_with("Sample.half_places", RESULT, 10, INSTANCES["Sample"], lambda sample: st.tuples(st.tuples(SEEDS), st.just({})))
_with("Sample.halves", RESULT, 10, INSTANCES["Sample"], lambda sample: st.tuples(st.tuples(SEEDS), st.just({})))
_with(
    "Sample.discretized",
    RESULT,
    15,
    INSTANCES["Sample"],
    lambda sample: st.tuples(st.tuples(DISCRETIZERS), st.just({})),
)
_with("Sample.settled", RESULT, 15, INSTANCES["Sample"], lambda sample: st.tuples(st.tuples(DISCRETIZERS), st.just({})))
_with("Plan.at", RESULT, 30, INSTANCES["Plan"], _k)
_with("Plan.interval", RESULT, 30, INSTANCES["Plan"], _k)


AGREEING = st.one_of(st.sampled_from(["a", "b", "c"]), SCALARS)
_with(
    "ExplainerAgreement.pair",
    RESULT,
    15,
    INSTANCES["ExplainerAgreement"],
    lambda _: st.tuples(st.tuples(AGREEING, AGREEING), st.just({})),
)
_with(
    "ExplainerAgreement.rows",
    RESULT,
    20,
    INSTANCES["ExplainerAgreement"],
    lambda _: st.tuples(st.tuples(AGREEING, AGREEING, COUNTS), st.just({})),
)
MEASURED = st.one_of(st.sampled_from(["same", "FA", "sra", "kappa", "chance"]), SCALARS)
_with(
    "ExplainerAgreement.matrix",
    RESULT,
    20,
    INSTANCES["ExplainerAgreement"],
    lambda _: st.tuples(st.tuples(MEASURED), st.just({})),
)
_with(
    "Comparison.agreement",
    RESULT,
    30,
    INSTANCES["Comparison"],
    lambda _: st.tuples(
        st.tuples(DISCRETIZERS), st.fixed_dictionaries({}, optional={"k": COUNTS, "confidence": SHARES})
    ),
)


def _paths(name, instances, family, examples):
    """A method that writes a file: to places that exist, that do not, and that are none."""

    @target(name, family, examples)
    def _(draw):
        instance, where = (
            draw(instances),
            draw(st.sampled_from(["new", "new", "deep/er", ".", "a\0b", "x" * 300, None, 3, b"x"])),
        )

        def call():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / where if isinstance(where, str) else where
                getattr(instance, name.rpartition(".")[2])(path)
                assert Path(path).stat().st_size

        return call


_paths("Evaluation.to_parquet", INSTANCES["Evaluation"], RESULT, 40)
_paths("Evaluation.to_html", INSTANCES["Evaluation"], RESULT, 8)
_paths("Comparison.to_html", INSTANCES["Comparison"], RESULT, 4)
_paths("Monitor.save", INSTANCES["Monitor"], AUDIT, 4)
_paths("Monitor.to_html", INSTANCES["Monitor"], AUDIT, 3)
_paths("Audit.to_html", INSTANCES["Audit"], AUDIT, 3)


def _tracked(owner, instances, family):
    """Runs of MLflow in a folder of their own: names that it takes, that it refuses, and that are none."""

    @target(f"{owner}.to_mlflow", family, 3)
    def _(draw):
        instance = draw(instances)
        prefix = draw(st.sampled_from(["faithscope", "a.b", "", "a/b", "..", "x" * 300, None, 3]))
        run_id = draw(st.sampled_from([None, None, None, "nowhere", "", 3]))

        def call():
            with tempfile.TemporaryDirectory() as folder, _runs_in(Path(folder)):
                return instance.to_mlflow(run_id=run_id, prefix=prefix)

        return call


@contextmanager
def _runs_in(folder):
    if find_spec("mlflow") is None:
        yield
        return
    import mlflow

    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    mlflow.set_tracking_uri(folder.as_uri())
    try:
        yield
    finally:
        mlflow.set_tracking_uri(None)


for owner, instances in INSTANCES.items():
    if issubclass(getattr(fs, owner, Windows), Shareable):
        _tracked(owner, instances, FAMILIES.get(owner, RESULT))
        if f"{owner}.to_html" not in TARGETS:
            _paths(f"{owner}.to_html", instances, FAMILIES.get(owner, RESULT), 4)

for owner in INSTANCES:
    kind = getattr(fs, owner, None) or next(kind for kind in (*RESULTS, Audit) if kind.__name__ == owner)
    for name, _ in members(kind):
        if f"{owner}.{name}" not in TARGETS and needs_nothing(kind, name):
            _reader(owner, INSTANCES[owner], name, FAMILIES.get(owner, RESULT))


def _new_rows(decoder):
    """Rows like those that a decoder learned from, and rows that are not."""
    hostile_rows = hostile.SIZES.flatmap(lambda n: st.tuples(explanations(n), labels(n)))
    same_kind = st.sampled_from([1, 3, 8]).flatmap(lambda n: st.tuples(of_any_kind(n), clean_lists(n)))
    options = st.fixed_dictionaries(
        {},
        optional={
            "confidence": SCALARS,
            "weights": st.sampled_from([[1.0, 0.0, 2.0], "x", [0.0] * 3, [np.nan] * 3]),
            "clusters": st.sampled_from([[0, 0, 1], [0] * 3, None, "abc"]),
        },
    )
    return st.tuples(st.one_of(hostile_rows, same_kind), options)


for owner in ("GibbsDecoder", "OptimalDecoder"):
    _with(
        f"{owner}.fit",
        DECODER,
        30,
        INSTANCES[owner],
        lambda instance: hostile.SIZES.flatmap(lambda n: st.tuples(st.tuples(explanations(n), labels(n)), st.just({}))),
    )
    _with(
        f"{owner}.predict",
        DECODER,
        30,
        INSTANCES[owner],
        lambda instance: hostile.SIZES.flatmap(lambda n: st.tuples(st.tuples(explanations(n)), st.just({}))),
    )

    _with(f"{owner}.accuracy", DECODER, 30, INSTANCES[owner], _new_rows)

# Methods of kinds take positions that exist, as indexing does; everything else about them is hostile.
SIZED = st.sampled_from([1, 3, 8])
EVERY_KIND = {name: make for name, make in kinds.KINDS.items() if name != "Rankings"}


def _position(given):
    return st.tuples(st.tuples(st.integers(-len(given), len(given) - 1)), st.just({}))


def _positions(given):
    masks = st.lists(st.booleans(), min_size=len(given), max_size=len(given))
    places = st.lists(st.integers(0, len(given) - 1), max_size=5)
    return st.tuples(st.tuples(st.one_of(masks, places, st.just(slice(0, 1)))), st.just({}))


def _other(given):
    return st.tuples(st.tuples(SIZED.flatmap(of_any_kind)), st.just({}))


def _parts(given):
    parts = [part for conjunction in getattr(given, "distinct", ()) for part in conjunction]
    return st.tuples(st.tuples(st.just(parts), some_rows(len(given))), st.just({}))


def _ordered_parts(given):
    """Parts and rows as for `holds`, in the order that they have."""
    return _parts(given).map(lambda asked: ((*asked[0], None), asked[1]))


ARGUMENTS = {
    "describe": _position,
    "item": _position,
    "conjunction": _position,
    "take": _positions,
    "join": _other,
    "locate": _other,
    "check_comparable": _other,
    "holds": _parts,
    "postings": _parts,
    "masks": _ordered_parts,
    "documents": lambda given: st.tuples(st.tuples(some_rows(len(given))), st.just({})),
    "alone": lambda given: st.tuples(st.tuples(some_rows(len(given))), st.just({})),
    "removed": lambda given: st.tuples(st.tuples(some_rows(len(given))), st.just({})),
    "nearest": lambda instance: st.tuples(st.tuples(some_rows(3), st.integers(1, 3)), st.just({})),
    "within": lambda instance: st.tuples(st.tuples(st.just([0, 1]), some_rows(3), st.just(1.0)), st.just({})),
}


def _kind_method(owner, make, name, arguments):
    @target(f"{owner}.{name}", KIND, 10)
    def _(draw):
        instance = draw(SIZED.flatmap(make))
        given, how = draw(arguments(instance))

        def call():
            answer = getattr(instance, name)(*given, **how)
            return list(answer) if hasattr(answer, "__next__") else answer

        return call


for owner, make in EVERY_KIND.items():
    kind = next(kind for kind in (*RESULTS, *vars(fs).values()) if getattr(kind, "__name__", "") == owner)
    for name, _ in members(kind):
        if name in ARGUMENTS:
            _kind_method(owner, make, name, ARGUMENTS[name])
        elif f"{owner}.{name}" not in TARGETS and name != "made":
            _reader(owner, SIZED.flatmap(make), name, KIND)


def _relation(relation):
    owner = type(relation).__name__

    @target(f"{owner}.cover", KIND, 15)
    def _(draw):
        given = draw(SIZED.flatmap(of_any_kind))
        X = draw(st.one_of(fitting_rows(given, len(given)), some_rows(len(given))))
        return lambda: relation.cover(given.take(given.group()[1]), given, X)

    @target(f"{owner}.scopes", KIND, 15)
    def _(draw):
        given = draw(SIZED.flatmap(of_any_kind))
        return lambda: to_relation(relation, given).scopes(given)

    _reader(owner, st.just(relation), "partitions", KIND)


_relation(fs.Ball(1.0))
_relation(fs.Nearest())
_relation(fs.Judged([[1]]))
for chosen in (fs.Ball(1.0), fs.Nearest(), fs.Judged([[1]])):
    for name in ("partial", "reads_rows"):
        _reader(type(chosen).__name__, st.just(chosen), name, KIND)


@target("Judged.about", KIND, 15)
def _(draw):
    given = draw(SIZED.flatmap(of_any_kind))
    return lambda: fs.Judged([[1]]).about(given)


def _records_of_testing():
    """Simulated systems and known answers: what they are made of is given, only numbers of rows are drawn."""
    simulated = {
        "Conformance": st.just(faithscope.testing.check_sufficiency(lambda e, X, y: 0.5)),
        "Verdict": st.sampled_from(faithscope.testing.check_sufficiency(lambda e, X, y: 0.5).verdicts),
        "ScopedCase": st.sampled_from(faithscope.testing.SCOPED_CASES),
        "System": st.sampled_from(list(faithscope.testing.SYSTEMS.values())),
        "Scoped": st.sampled_from(list(faithscope.testing.SCOPED.values())),
        "Hub": st.builds(faithscope.testing.Hub, st.floats(0, 1), st.floats(0, 1)),
        "ReasonSystem": st.sampled_from(list(faithscope.testing.REASON_SYSTEMS.values())),
        **_hard_systems(),
    }
    rng = np.random.default_rng(0)
    for owner, instances in simulated.items():
        for name, _ in members(getattr(faithscope.testing, owner)):
            if f"{owner}.{name}" == "HardSystem.draw":
                drawn = lambda instance: st.just(((rng,), {}))  # noqa: E731
                _with("testing.HardSystem.draw", "faithscope.testing", 10, instances, drawn)
            elif f"{owner}.{name}" == "ReasonSystem.draw":
                drawn = lambda instance: st.tuples(st.tuples(SCALARS, SCALARS), st.just({}))  # noqa: E731
                _with("testing.ReasonSystem.draw", "faithscope.testing", 10, instances, drawn)
            elif f"{owner}.{name}" == "ReasonSystem.consistency_by":
                drawn = lambda instance: st.tuples(st.tuples(SCALARS), st.just({}))  # noqa: E731
                _with("testing.ReasonSystem.consistency_by", "faithscope.testing", 10, instances, drawn)
            elif name == "draw":
                drawn = lambda instance: st.tuples(st.tuples(st.integers(0, 50), st.just(rng)), st.just({}))  # noqa: E731
                _with(f"testing.{owner}.draw", "faithscope.testing", 10, instances, drawn)
            elif name == "expected":
                drawn = lambda instance: st.tuples(st.tuples(st.integers(1, 50)), st.just({}))  # noqa: E731
                _with(f"testing.{owner}.expected", "faithscope.testing", 10, instances, drawn)
            else:
                _reader_in_testing(owner, instances, name)


def _hard_systems():
    systems, testing = st.sampled_from(list(faithscope.testing.SYSTEMS.values())), faithscope.testing
    return {
        "ClusteredRows": st.builds(testing.ClusteredRows, systems, st.integers(1, 60), st.floats(0, 1)),
        "ProvenSystem": st.builds(testing.ProvenSystem, st.integers(1, 3), st.integers(1, 3)),
        "WeightedRows": st.builds(testing.WeightedRows, systems, st.floats(0.1, 9), st.floats(0, 2)),
        "FittedLeaves": st.builds(testing.FittedLeaves, st.integers(2, 60), st.integers(1, 5), st.booleans()),
        "HubUnderTopics": st.builds(testing.HubUnderTopics, st.integers(1, 40), st.floats(0, 1)),
        "HubUnderDirections": st.builds(testing.HubUnderDirections, st.integers(1, 40), st.floats(0, 1)),
        "HardSystem": st.sampled_from(list(testing.hard_systems(40).values())),
    }


def _reader_in_testing(owner, instances, name):
    _reader(f"testing.{owner}", instances, name, "faithscope.testing")


_records_of_testing()
