"""What methods are asked of: explanations of every kind, results measured on them, explainers, simulated systems."""

import json
from functools import cache, partial

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import faithscope as fs
from faithscope import testing
from faithscope.explanations.keys import Plain, Records
from faithscope.measures.local import at_row
from fuzz.hostile import SCALARS, TEXTS, clean_lists, columns, lists, matrices, rows, tables

EX = fs.explainers
NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5])
OPERATORS = ("<=", "<", ">=", ">", "==", "!=", "in", "not in", "between")
SAMPLES = st.sampled_from([1, 2, 3, 5, 8])
SIZED = st.sampled_from([1, 3, 8])


@cache
def grid(n, d=2):
    """Rows of tame numbers."""
    return lists(n * d, NUMBERS).map(lambda values: np.array(values).reshape(n, d))


@cache
def marks(n):
    return lists(2 * n, st.sampled_from([0, 1])).map(lambda values: np.array(values).reshape(n, 2))


@st.composite
def conditions(draw):
    """A condition on x0 or x1 that can be true."""
    operator = draw(st.sampled_from(OPERATORS))
    value = draw(NUMBERS)
    value = (value, value + 1) if operator == "between" else (value, 0.5) if "in" in operator else value
    return draw(st.sampled_from(["x0", "x1"])), operator, value


def reasons(n):
    texts = lists(n, st.sampled_from([*TEXTS, "yes", "It is NOT so, no.", "not so", "x" * 5000]))
    return st.builds(fs.Reasons, texts, st.one_of(st.none(), texts))


def with_words(matrix):
    """The same rows, their second column as words."""
    return pd.DataFrame({"x0": matrix[:, 0], "x1": np.where(matrix[:, 1] > 0, "up", "down")})


KINDS = {
    "Importances": lambda n: grid(n).map(fs.Importances),
    "Plain": lambda n: clean_lists(n).map(Plain),
    "Records": lambda n: st.builds(Records, st.tuples(clean_lists(n), clean_lists(n)), st.just(["a", "b"])),
    "Rules": lambda n: lists(n, st.lists(conditions(), max_size=3)).map(
        partial(fs.Rules.from_conditions, features=["x0", "x1"])
    ),
    "Highlights": lambda n: lists(n, st.sets(st.sampled_from(TEXTS[1:9]), max_size=2)).map(fs.Highlights),
    "Concepts": lambda n: st.builds(fs.Concepts, marks(n), st.just(["x0", "x1"])),
    "Codes": lambda n: lists(n, st.lists(st.sampled_from([*TEXTS[1:9], 14, None]), max_size=3)).map(fs.Codes),
    "Reasons": reasons,
    "Prototypes": lambda n: lists(n, st.sets(st.integers(0, 2), min_size=1, max_size=2)).map(
        partial(fs.Prototypes, points=np.array([[0.0, 0.0], [1.0, 1.0], [0.5, -1.0]]))
    ),
    "Counterfactuals": lambda n: st.builds(fs.Counterfactuals, grid(n), grid(n)),
}


@cache
def of_any_kind(n):
    rankings = grid(n).map(fs.Importances).map(fs.Rank())
    return st.one_of(rankings, *(kind(n) for kind in KINDS.values()))


@cache
def explanations(n):
    """What a caller may hand over as explanations."""
    good = of_any_kind(n) if n else st.nothing()
    return st.one_of(good, good, clean_lists(n), matrices(n), tables(n), columns(n))


@cache
def labels(n):
    """Predictions: mostly clean."""
    return st.one_of(clean_lists(n), clean_lists(n), rows(n).flatmap(columns))


@cache
def some_rows(n):
    """Rows that kinds apply to, mostly."""
    return st.one_of(grid(n), grid(n), lists(n, st.sampled_from(TEXTS)), rows(n).flatmap(tables))


def fitting_rows(given):
    """Rows that explanations of this kind apply to."""
    n = len(given)
    if isinstance(given, fs.Concepts):
        return marks(n)
    return lists(n, st.sampled_from(TEXTS)) if isinstance(given, fs.Highlights) else grid(n)


@st.composite
def evaluations(draw):
    """An evaluation of explanations of any kind, weighted or not."""
    size = draw(SAMPLES)
    given = draw(of_any_kind(size))
    weights = draw(st.sampled_from([None, None, [1.0] * size, list(range(1, size + 1))]))
    return fs.evaluate(draw(clean_lists(size)), given, draw(fitting_rows(given)), weights=weights, progress=False)


@st.composite
def comparisons(draw):
    """A comparison of one or two explainers, by group or not."""
    size = draw(st.sampled_from([2, 3, 5, 8]))
    methods = {name: draw(of_any_kind(size)) for name in draw(st.sampled_from([("a",), ("a", TEXTS[8])]))}
    numeric = {name: given for name, given in methods.items() if not isinstance(given, fs.Highlights)}
    groups = draw(st.one_of(st.none(), clean_lists(size)))
    return fs.compare(
        draw(clean_lists(size)), numeric or {"a": ["w"] * size}, draw(grid(size)), by=groups, progress=False
    )


LOG = pd.DataFrame(
    {"phi_a": [0.0, 1.0, 0.0, 1.0], "phi_b": [1.0, 1.0, 1.0, 0.0], "yhat": list("abab"), "g": [1, 1, 2, 2]}
)
LOG["when"] = pd.date_range("2026-01-01", periods=4)
SCOPES = ["x0 <= 0.5", "x1 > 0", "everything"]


@cache
def audited():
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
    samples = SIZED.flatmap(lambda n: st.tuples(of_any_kind(n), clean_lists(n)))
    return st.one_of(st.just(kind()), samples.map(lambda pair: kind().fit(*pair)))


def _repeated(kind):
    runs = [[[0.5, -1.0], [2.0, 0.0], [1.0, 1.0]], [[0.5, -1.0], [0.0, 0.5], [1.0, 1.0]]]
    return fs.repeatability([kind(run) for run in runs])


def _encoding(n):
    rules = fs.Rules.parse([["x0 <= 9", "x0 <= 5", "x1 > 2"][row % 3] for row in range(n)], features=["x0", "x1"])
    return fs.encoding(rules, [row % 2 for row in range(n)], [[row, n - row] for row in range(n)])


def _rationales(given):
    return fs.read_rationales([{"input": given, "answer": "a", "explanation": "\0"}, {"answer": 3, "explanation": "x"}])


EVALUATIONS = evaluations()
UNWEIGHTED = EVALUATIONS.filter(lambda ev: ev.weights is None)
RESULTS = {
    "Estimate": EVALUATIONS.map(lambda ev: ev.consistency),
    "Encoding": st.integers(1, 12).map(_encoding),
    "Evaluation": EVALUATIONS,
    "Comparison": comparisons(),
    "Populations": EVALUATIONS.map(lambda ev: ev.by([0] * len(ev.predictions))),
    "Plan": UNWEIGHTED.map(fs.plan),
    "Local": UNWEIGHTED.map(
        lambda ev: at_row(ev.consistency.counts, ev.explanations.take([0]), ev.predictions.tolist()[0])
    ),
    "Certificate": UNWEIGHTED.map(lambda ev: fs.certify(ev.explanations, ev.predictions)),
    "Leakage": reasons(5).map(lambda given: fs.leakage(given, ["yes", "no", "no", "yes", "no"])),
    "Rationales": st.sampled_from(["x", {"a": 1}, None, '{"a": 2}', ["\ud800"]]).map(_rationales),
    "WithinCurve": grid(5).map(lambda m: fs.within_curve(m, list("aabba"), [0, 1.0])),
    "ToleranceCurve": st.just([1, 2, 4.5, 4, 0.5]).map(lambda y: fs.tolerance_curve(list("aabba"), y, [0.5, 2])),
    "Simulatability": UNWEIGHTED.map(
        lambda ev: fs.OptimalDecoder(ev._counts()).accuracy(ev.explanations, ev.predictions)
    ),
    "ExplainerAgreement": grid(5).map(lambda m: fs.explainer_agreement({"a": m, "b": m[::-1], "c": -m}, k=1)),
    "Direction": grid(6).map(lambda m: fs.direction(m + 2, lambda X: np.asarray(X)[:, 0], TRAIN)),
    "Repeatability": st.sampled_from([fs.Importances, list]).map(_repeated),
    "Windows": st.builds(audited).map(lambda audit: audit.windows),
    "Audit": st.builds(audited),
    "Counts": UNWEIGHTED.map(lambda ev: ev.consistency.counts),
    "Sample": EVALUATIONS.map(lambda ev: ev.sample),
}

TRAIN = np.array([[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [-1.0, 0.0], [1.0, 1.0], [0.0, -1.0]])
NAMED = pd.DataFrame(TRAIN, columns=["x0", "x1"])


def predict(rows):
    """A label for rows of any kind: whether the first column is positive, where it is a number."""
    return proba(rows)[:, 1] > 0.5


def proba(rows):
    """Probabilities of two classes for rows of any kind."""
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    try:
        first = pd.DataFrame(rows).iloc[:, 0].to_numpy(float)
        ones = np.where(first > 0, 0.9, 0.1)
    except Exception:  # texts, dates, tables without columns
        ones = np.full(n, 0.1)
    return np.column_stack([1 - ones, ones])


def about(texts):
    """A label for texts: whether they speak of a."""
    return ["a" in str(text) for text in texts]


@cache
def tree():
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0).fit([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], [0, 1, 1])


@cache
def linear():
    """A model of texts and its vectorizer."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    texts = ["good plot", "dull plot", "good good", "dull"]
    vectorizer = CountVectorizer().fit(texts)
    return LogisticRegression().fit(vectorizer.transform(texts), [1, 0, 1, 0]), vectorizer


def _dice():
    from sklearn.linear_model import LogisticRegression

    return EX.Dice(LogisticRegression().fit(NAMED, [0, 1, 1, 0, 1, 0]), NAMED)


def _gradient():
    try:
        from torch.nn import Linear
    except ImportError:
        return EX.Gradient(object())  # refused: torch is not installed, or this is no module
    return EX.Gradient(Linear(2, 2))


# Settings that keep a call short, unless it draws others.
FAST = {
    "Lime": {"samples": 20},
    "Anchors": {"beam": 1, "max_conditions": 1},
    "TextAnchors": {"beam": 1, "max_words": 1},
    "Shap": {"algorithm": "permutation", "evaluations": 10},
}
EXPLAINERS = {
    "TreePath": lambda: EX.TreePath(tree()),
    "SufficientReason": lambda: EX.SufficientReason(tree()),
    "NearestNeighbors": partial(EX.NearestNeighbors, TRAIN),
    "Lime": partial(EX.Lime, proba, TRAIN, **FAST["Lime"]),
    "Anchors": partial(EX.Anchors, predict, TRAIN, **FAST["Anchors"]),
    "Counterfactual": partial(EX.Counterfactual, predict, TRAIN),
    "Shap": partial(EX.Shap, proba, TRAIN, **FAST["Shap"]),
    "Dice": _dice,
    "Gradient": _gradient,
    "TopCoefficient": lambda: EX.TopCoefficient(*linear()),
    "TextAnchors": partial(EX.TextAnchors, about, **FAST["TextAnchors"]),
    **{name: getattr(EX, name) for name in ("FirstWord", "AllWords", "Constant", "Random", "Unique")},
}

SYSTEMS = st.sampled_from(list(testing.SYSTEMS.values()))
SIMULATED = {
    "Conformance": st.just(testing.check_sufficiency(lambda e, X, y: 0.5)),
    "Verdict": st.sampled_from(testing.check_sufficiency(lambda e, X, y: 0.5).verdicts),
    "ScopedCase": st.sampled_from(testing.SCOPED_CASES),
    "System": SYSTEMS,
    "Scoped": st.sampled_from(list(testing.SCOPED.values())),
    "Hub": st.builds(testing.Hub, st.floats(0, 1), st.floats(0, 1)),
    "ReasonSystem": st.sampled_from(list(testing.REASON_SYSTEMS.values())),
    "ClusteredRows": st.builds(testing.ClusteredRows, SYSTEMS, st.integers(1, 60), st.floats(0, 1)),
    "ProvenSystem": st.builds(testing.ProvenSystem, st.integers(1, 3), st.integers(1, 3)),
    "WeightedRows": st.builds(testing.WeightedRows, SYSTEMS, st.floats(0.1, 9), st.floats(0, 2)),
    "FittedLeaves": st.builds(testing.FittedLeaves, st.integers(2, 60), st.integers(1, 5), st.booleans()),
    "HubUnderTopics": st.builds(testing.HubUnderTopics, st.integers(1, 40), st.floats(0, 1)),
    "HubUnderDirections": st.builds(testing.HubUnderDirections, st.integers(1, 40), st.floats(0, 1)),
    "HardSystem": st.sampled_from(list(testing.hard_systems(40).values())),
}

TRAINING = st.one_of(
    *(st.sampled_from([0, 1, 2, 3, 5, 8]).flatmap(rows) for rows in (matrices, tables, grid)),
    st.lists(st.sampled_from(TEXTS), max_size=3),
    SCALARS,
)
CONDITIONS = st.fixed_dictionaries(
    {
        "feature": st.one_of(st.sampled_from(["a", "b", 0]), SCALARS),
        "op": st.one_of(st.sampled_from(["<", "is"]), SCALARS),
    },
    optional={"value": SCALARS, "low": SCALARS, "high": SCALARS, "not": SCALARS},
)
RULES_IN_JSON = st.one_of(CONDITIONS, st.lists(CONDITIONS, max_size=3)).map(lambda held: json.dumps(held, default=str))
QUOTES = st.sampled_from([*TEXTS, '"a"', "“b a”", "'c"])


def _reasons(text):
    texts = st.lists(text, max_size=4)
    inputs = st.sampled_from([lambda texts: None, lambda texts: ["a b a"] * len(texts), lambda texts: texts])
    return st.tuples(texts, inputs).map(lambda pair: partial(fs.Reasons, pair[0], pair[1](pair[0])))


# What stands for an instance where making it may be refused: it is made within the call.
LATER = {
    "Reasons.to_rules": _reasons(st.one_of(RULES_IN_JSON, st.sampled_from(TEXTS))),
    "Reasons.to_highlights": _reasons(QUOTES),
    "Perturbed": st.builds(partial, st.just(fs.Perturbed), TRAINING, draws=st.just(2)),
    "Product": st.builds(partial, st.just(fs.Product), TRAINING, draws=st.just(2)),
    "Conditional": st.builds(partial, st.just(fs.Conditional), TRAINING, k=st.just(2)),
    **{f"explainers.{name}": st.just(partial(make)) for name, make in EXPLAINERS.items()},
}
INSTANCES = {
    **{name: SIZED.flatmap(kind) for name, kind in KINDS.items()},
    **RESULTS,
    **LATER,
    **{f"testing.{name}": systems for name, systems in SIMULATED.items()},
    "Log": st.just(fs.Log(LOG, prediction="yhat", explanation="phi_*", time="when")),
    "Monitor": st.one_of(st.builds(monitors), st.builds(scoped_monitors)),
    "GibbsDecoder": _decoder(fs.GibbsDecoder),
    "OptimalDecoder": _decoder(fs.OptimalDecoder),
    "Alike": st.just(fs.Alike()),
    "Ball": st.just(fs.Ball(1.0)),
    "Nearest": st.just(fs.Nearest()),
    "Judged": st.just(fs.Judged({"row": [0], "explanation": [0], "applies": [1]})),
    "CommonPhrases": st.just(fs.CommonPhrases(2)),
    "Codebook": st.just(fs.Codebook({"a": "b"})),
}
