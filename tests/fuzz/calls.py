"""A good call of everything that is public, into which anything is put by mistake."""

import inspect
from dataclasses import fields, is_dataclass
from functools import cache, partial
from operator import attrgetter

import numpy as np
import pandas as pd

import faithscope as fs
from faithscope.inputs.rows import rows_of
from faithscope.integrations import sklearn
from faithscope.tables.logs import LogColumns
from listed import names
from result_examples import result

EX = fs.explainers
PHI = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.5, 0.5]])
LABELS, KEYS = [0, 0, 1, 0], ["a", "a", "b", "b"]
RULES = fs.Rules.parse(["x0 <= 1", "x1 > 0", "x0 <= 1", "x1 > 0"], features=["x0", "x1"])
CODES = fs.Codes([["a"], ["a"]])
REASONS = fs.Reasons(["yes, so", "no", "no", "yes"], ["yes, so it is", "no", "no way", "yes"])


LOG = pd.DataFrame(
    {"phi_a": [0.0, 1.0, 0.0, 1.0], "phi_b": [1.0, 1.0, 1.0, 0.0], "yhat": list("abab"), "g": [1, 1, 2, 2]}
)
LOG["when"] = pd.date_range("2026-01-01", periods=4)


@cache
def audited():
    return fs.audit(LOG, prediction="yhat", explanation="phi_*", by="g", time="when")


def monitors():
    monitor = fs.Monitor(by="g", at_least=0.9)
    monitor.add_log(LOG, prediction="yhat", explanation="phi_*", when="when")
    return monitor


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


def logistic():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression().fit(NAMED, [0, 1, 1, 0, 1, 0])


def module():
    try:
        from torch.nn import Linear
    except ImportError:
        return object()  # refused: torch is not installed, or this is no module
    return Linear(2, 2)


# What explainers are made of, with settings that keep a call short, unless it draws others.
EXPLAINERS = {
    "TreePath": {"tree": tree()},
    "SufficientReason": {"model": tree()},
    "NearestNeighbors": {"X_train": TRAIN},
    "Lime": {"predict_proba": proba, "X_train": TRAIN, "samples": 20},
    "Anchors": {"predict": predict, "X_train": TRAIN, "beam": 1, "max_conditions": 1},
    "Counterfactual": {"predict": predict, "X_train": TRAIN},
    "Shap": {"model": proba, "X_background": TRAIN, "algorithm": "permutation", "evaluations": 10},
    "Dice": {"model": logistic(), "X_train": NAMED},
    "Gradient": {"module": module()},
    "TopCoefficient": dict(zip(("model", "vectorizer"), linear(), strict=True)),
    "TextAnchors": {"predict": about, "beam": 1, "max_words": 1},
    **{name: {} for name in ("FirstWord", "AllWords", "Constant", "Random", "Unique")},
}

monitor = cache(monitors)  # one for all calls, which may add to it


def evaluation(**more):
    return fs.evaluate(LABELS, PHI, TRAIN[:4], progress=False, **more)


BARE = ["Nearest", "Best", "Template", "GibbsDecoder", "OptimalDecoder", "Monitor", "Delta"]
BARE += ["DeltaSign", "Modified", "Rank", "RealRows", "Same", "Sign", "Spread"]
PAIR = {"explanations": PHI, "predictions": LABELS}
LOGGED = {"table": LOG, "prediction": "yhat", "explanation": "phi_*"}
RULED = {"explanations": RULES, "predictions": LABELS, "X": TRAIN[:4]}
# Good arguments of what is public, by its name.
GOOD = {
    "consistency": PAIR,
    "sufficiency": RULED,
    "necessity": RULED,
    "encoding": RULED,
    "within": PAIR | {"tau": 1.0},
    "within_curve": PAIR | {"taus": [0.5, 1.0]},
    "tolerance_curve": {"explanations": KEYS, "predictions": [0.5, 1.5, 2.0, 3.0]},
    "certify": PAIR,
    "count": PAIR,
    "evaluate": {"model": LABELS, "explainer": PHI, "X": TRAIN[:4], "progress": False},
    "compare": {"model": LABELS, "explainers": {"a": PHI}, "X": TRAIN[:4], "progress": False},
    "local": {"x": TRAIN[0], "model": predict, "explainer": lambda X: [0] * rows_of(X), "X": TRAIN},
    "repeatability": {"explain": [PHI, PHI]},
    "explainer_agreement": {"explanations": {"a": PHI, "b": -PHI}},
    "direction": {"importances": PHI, "model": lambda X: np.asarray(X)[:, 0], "X": TRAIN[:4]},
    "leakage": {"reasons": REASONS, "predictions": ["yes", "no", "no", "yes"]},
    "plan": {"estimate": evaluation()},
    "assert_faithful": {"result": evaluation(), "at_least": 0.1},
    "audit": LOGGED,
    "read": {"thing": PHI},
    "read_rationales": {"thing": [{"answer": "a", "explanation": "x", "input": "y"}] * 3},
    "drawn": {"explanations": RULES, "rows": TRAIN[:4], "predictions": LABELS, "of": [0, 1, 2, 3]},
    "pairs_to_ask": {"explanations": REASONS},
    "sample_size": {"range_size": 4, "epsilon": 0.1},
    "local_sample_size": {"epsilon": 0.1},
    "mse_bound": {"estimate": evaluation().consistency},
    "sample_until": {
        "source": [(fs.Codes([["a"]] * 2), [0, 0])] * 3,
        "explanation": fs.Codes([["a"]]),
        "epsilon": 0.5,
        "budget": 3,
    },
    "Importances": {"values": PHI},
    "Highlights": {"words": [{"a"}, {"b"}]},
    "Concepts": {"matrix": [[0, 1], [1, 0]], "names": ["a", "b"]},
    "Codes": {"codes": [["a"], ["b"]]},
    "Reasons": {"texts": ["a", "b"]},
    "Prototypes": {"indices": [[0], [1]], "points": TRAIN[:2]},
    "Counterfactuals": {"points": TRAIN[:2], "originals": TRAIN[2:4]},
    "Rules.parse": {"texts": ["a <= 1"]},
    "Rules.from_conditions": {"conditions": [[("a", "<=", 1.0)]]},
    "Perturbed": {"X_train": TRAIN},
    "Product": {"X_train": TRAIN},
    "Conditional": {"X_train": TRAIN},
    "Judged": {"answers": pd.DataFrame({"row": [0, 1], "explanation": [0, 0], "applies": [True, False]})},
    "Alike": {"k": 2},
    "Ball": {"tau": 1.0},
    "Close": {"eps": 1.0},
    "Tolerance": {"eps": 1.0},
    "Floor": {"decimals": 1},
    "Truncate": {"decimals": 1},
    "SignOfTop": {"k": 1},
    "TopFeatures": {"k": 1},
    "TopRegions": {"k": 1},
    "ReasonCodes": {"k": 1},
    "Pool": {"grid": 2},
    "Grouped": {"groups": {"a": ["x0"]}},
    "Clusters": {"embeddings": [[0.0], [1.0]], "k": 2},
    "Codebook": {"patterns": {"a": "b"}},
    "Phrases": {"phrases": ["not so"]},
    "CommonPhrases": {"k": 2},
    "Sample.of": PAIR,
    "explainers.TreePath.surrogate": {"predict": predict, "X_train": TRAIN},
    **{name: {} for name in BARE},
    **{f"explainers.{name}": given for name, given in EXPLAINERS.items()},
}


def explaining(name, **given):
    """What an explainer answers; torch is imported first when its explainer is asked."""
    settings = {"module": module()} if name == "Gradient" else EXPLAINERS[name]
    return getattr(EX, name)(**settings).explain(**given)


def thing(name):
    """What is public under a name."""
    return attrgetter(name.removeprefix("sklearn."))(sklearn if name.startswith("sklearn.") else fs)


COMPARED = fs.compare(LABELS, {"a": PHI, "b": -PHI}, TRAIN[:4], progress=False)
AGREED = fs.explainer_agreement({"a": PHI, "b": -PHI})
# Calls that give an answer: what is called, and what it is given.
CALLS = {
    **{name: (thing(name), given) for name, given in GOOD.items()},
    "Log": (
        lambda **given: fs.consistency(fs.Log(**given)),
        {"table": LOG, "prediction": "yhat", "explanation": "phi_*"},
    ),
    "Reasons.to_rules": (fs.Reasons(['{"feature": "a", "op": "<", "value": 3}'] * 2).to_rules, {}),
    "GibbsDecoder.fit": (fs.GibbsDecoder().fit, {"explanations": KEYS, "predictions": LABELS}),
    "OptimalDecoder.fit": (fs.OptimalDecoder().fit, {"explanations": KEYS, "predictions": LABELS}),
    "Monitor.add": (lambda **given: monitor().add(**given), PAIR | {"by": KEYS}),
    "Monitor.add_log": (
        lambda **given: monitor().add_log(**given),
        LOGGED | {"when": "when"},
    ),
    "Monitor.alarms": (lambda **given: monitor().alarms(**given), {}),
    "Monitor.limits": (lambda **given: monitor().limits(**given), {}),
    "Evaluation.by": (evaluation().by, {"groups": [0, 0, 1, 1]}),
    "Evaluation.leakage": (fs.evaluate(["yes", "no", "no", "yes"], REASONS, PHI, progress=False).leakage, {}),
    "Evaluation.counterexamples": (evaluation().counterexamples, {}),
    "Audit.by": (lambda **given: audited().by(**given), {"columns": "g"}),
    "Populations.differences": (evaluation().by([0, 0, 1, 1]).differences, {}),
    "Comparison.explainer_agreement": (COMPARED.explainer_agreement, {}),
    "ExplainerAgreement.matrix": (AGREED.matrix, {"measure": "same"}),
    "ExplainerAgreement.pair": (AGREED.pair, {"a": "a", "b": "b"}),
    "ExplainerAgreement.plot": (AGREED.plot, {}),
    "Sample.settled": (evaluation().sample.settled, {"discretizer": None}),
    "Sample.discretized": (evaluation().sample.discretized, {"discretizer": None}),
    "sklearn.scorer": (sklearn.scorer, {"explainer": EX.TreePath}),
}
for each in EXPLAINERS:
    rows = ["good plot", "dull plot"] if each in ("AllWords", "FirstWord", "TextAnchors", "TopCoefficient") else TRAIN
    CALLS[f"explainers.{each}.explain"] = partial(explaining, each), {"X": rows}

# What methods and properties are asked of; what kinds of explanations have in common is asked by the measures.
RESULTS = ("estimate", "evaluation of rules", "comparison", "populations", "audit", "plan", "encoding", "certificate")
RESULTS += ("leakage", "within curve", "tolerance curve", "simulatability", "local", "explainer agreement", "direction")
RESULTS += ("repeatability", "monitor", "windows")
NEEDED = {
    "path": "told",
    "groups": [0, 1] * 30,
    "group": None,
    "rows": 9,
    "a": "lime | 2",
    "b": "rules",
    "columns": "job",
    "key": "rules",
}
NEEDED |= {
    "column": "when",
    "every": "1d",
    "explanations": KEYS,
    "predictions": LABELS,
    "where": "g = 1",
    "measure": "same",
    "table": LOG,
}
HARD = {"add", "add_log", "split", "asking"}  # which have a good call of their own, or take what was checked
# Classes without a good call: results, and what is not for callers to make.
UNMADE = {"Audit", "Certificate", "Comparison", "Direction", "Encoding", "Estimate", "Evaluation", "ExplainerAgreement"}
UNMADE |= {"Leakage", "Local", "Plan", "Populations", "Rationales", "Repeatability", "Simulatability", "ToleranceCurve"}
UNMADE |= {"WithinCurve", "sklearn.FaithfulnessScorer", "Explanations", "Cache", "Counts", "Rules", "Sample"}


def public():
    """Every public function and class, by name."""
    rooms = ((fs, ""), (EX, "explainers."), (sklearn, "sklearn."))
    things = {prefix + name: getattr(module, name) for module, prefix in rooms for name in names(module)}
    return {name: thing for name, thing in things.items() if callable(thing) and name not in UNMADE}


def methods(thing):
    """Methods and properties of an object that are neither private nor fields."""
    kind = type(thing)
    held = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    for name, value in inspect.getmembers(kind):
        taken = callable(value) or hasattr(value, "__get__")
        if not name.startswith("_") and name not in held | HARD and taken:
            yield name, value


# What methods are asked of, made when it is first needed.
THINGS = {name: partial(result, name) for name in RESULTS}
THINGS |= {kind.__name__: lambda kind=kind: kind().fit(KEYS, LABELS) for kind in (fs.GibbsDecoder, fs.OptimalDecoder)}
THINGS["log"] = lambda: fs.Log(LOG, prediction="yhat", explanation="phi_*", time="when")


def parameters(thing):
    """What a function takes, by name, with its default."""
    taken = dict(inspect.signature(thing).parameters)
    if "LogColumns" in str(getattr(taken.get("columns"), "annotation", "")):  # what a log takes, each by its name
        taken = taken | LogColumns.__annotations__
        del taken["columns"]
    return [name for name in taken if name != "self"]
