"""A good call of everything that is public, into which anything is put by mistake."""

import inspect
from dataclasses import fields, is_dataclass
from functools import cache, partial

import numpy as np
import pandas as pd

import faithscope as fs
from faithscope.errors import Removed
from faithscope.inputs.rows import rows_of
from faithscope.integrations import sklearn
from faithscope.tables.logs import LogColumns
from listed import names
from sink_examples import result

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

monitor = cache(monitors)  # one for all calls, which may add to it


def evaluation(**more):
    return fs.evaluate(LABELS, PHI, TRAIN[:4], progress=False, **more)


# Calls that give an answer: what is called, and what it is given.
CALLS = {
    "consistency": (fs.consistency, {"explanations": PHI, "predictions": LABELS}),
    "sufficiency": (fs.sufficiency, {"explanations": RULES, "predictions": LABELS, "X": TRAIN[:4]}),
    "necessity": (fs.necessity, {"explanations": RULES, "predictions": LABELS, "X": TRAIN[:4]}),
    "encoding": (fs.encoding, {"explanations": RULES, "predictions": LABELS, "X": TRAIN[:4]}),
    "within": (fs.within, {"explanations": PHI, "predictions": LABELS, "tau": 1.0}),
    "within_curve": (fs.within_curve, {"explanations": PHI, "predictions": LABELS, "taus": [0.5, 1.0]}),
    "tolerance_curve": (fs.tolerance_curve, {"explanations": KEYS, "predictions": [0.5, 1.5, 2.0, 3.0]}),
    "certify": (fs.certify, {"explanations": PHI, "predictions": LABELS}),
    "count": (fs.count, {"explanations": PHI, "predictions": LABELS}),
    "evaluate": (fs.evaluate, {"model": LABELS, "explainer": PHI, "X": TRAIN[:4], "progress": False}),
    "compare": (fs.compare, {"model": LABELS, "explainers": {"a": PHI}, "X": TRAIN[:4], "progress": False}),
    "local": (fs.local, {"x": TRAIN[0], "model": predict, "explainer": lambda X: [0] * rows_of(X), "X": TRAIN}),
    "repeatability": (fs.repeatability, {"explain": [PHI, PHI]}),
    "explainer_agreement": (fs.explainer_agreement, {"explanations": {"a": PHI, "b": -PHI}}),
    "direction": (fs.direction, {"importances": PHI, "model": lambda X: np.asarray(X)[:, 0], "X": TRAIN[:4]}),
    "leakage": (fs.leakage, {"reasons": REASONS, "predictions": ["yes", "no", "no", "yes"]}),
    "plan": (fs.plan, {"estimate": evaluation()}),
    "assert_faithful": (fs.assert_faithful, {"result": evaluation(), "at_least": 0.1}),
    "Log": (
        lambda **given: fs.consistency(fs.Log(**given)),
        {"table": LOG, "prediction": "yhat", "explanation": "phi_*"},
    ),
    "audit": (fs.audit, {"table": LOG, "prediction": "yhat", "explanation": "phi_*"}),
    "read": (fs.read, {"thing": PHI}),
    "read_rationales": (fs.read_rationales, {"thing": [{"answer": "a", "explanation": "x", "input": "y"}] * 3}),
    "drawn": (fs.drawn, {"explanations": RULES, "rows": TRAIN[:4], "predictions": LABELS, "of": [0, 1, 2, 3]}),
    "pairs_to_ask": (fs.pairs_to_ask, {"explanations": REASONS}),
    "sample_size": (fs.sample_size, {"range_size": 4, "epsilon": 0.1}),
    "local_sample_size": (fs.local_sample_size, {"epsilon": 0.1}),
    "mse_bound": (fs.mse_bound, {"estimate": evaluation().consistency}),
    "sample_until": (
        fs.sample_until,
        {
            "source": [(fs.Codes([["a"]] * 2), [0, 0])] * 3,
            "explanation": fs.Codes([["a"]]),
            "epsilon": 0.5,
            "budget": 3,
        },
    ),
    "Importances": (fs.Importances, {"values": PHI}),
    "Highlights": (fs.Highlights, {"words": [{"a"}, {"b"}]}),
    "Concepts": (fs.Concepts, {"matrix": [[0, 1], [1, 0]], "names": ["a", "b"]}),
    "Codes": (fs.Codes, {"codes": [["a"], ["b"]]}),
    "Reasons": (fs.Reasons, {"texts": ["a", "b"]}),
    "Prototypes": (fs.Prototypes, {"indices": [[0], [1]], "points": TRAIN[:2]}),
    "Counterfactuals": (fs.Counterfactuals, {"points": TRAIN[:2], "originals": TRAIN[2:4]}),
    "Rules.parse": (fs.Rules.parse, {"texts": ["a <= 1"]}),
    "Rules.from_conditions": (fs.Rules.from_conditions, {"conditions": [[("a", "<=", 1.0)]]}),
    "Rules.from_tree": (fs.Rules.from_tree, {"tree": tree(), "X": TRAIN}),
    "Reasons.to_rules": (fs.Reasons(['{"feature": "a", "op": "<", "value": 3}'] * 2).to_rules, {}),
    "Reasons.to_highlights": (fs.Reasons(['I see "so"'] * 2, ["so it is"] * 2).to_highlights, {}),
    "Perturbed": (fs.Perturbed, {"X_train": TRAIN}),
    "Product": (fs.Product, {"X_train": TRAIN}),
    "Conditional": (fs.Conditional, {"X_train": TRAIN}),
    "Judged": (fs.Judged, {"answers": {"row": [0, 1], "explanation": [0, 0], "applies": [True, False]}}),
    "Alike": (fs.Alike, {"k": 2}),
    "Ball": (fs.Ball, {"tau": 1.0}),
    "Nearest": (fs.Nearest, {}),
    "Close": (fs.Close, {"eps": 1.0}),
    "Tolerance": (fs.Tolerance, {"eps": 1.0}),
    "Best": (fs.Best, {}),
    "Floor": (fs.Floor, {"decimals": 1}),
    "Truncate": (fs.Truncate, {"decimals": 1}),
    "SignOfTop": (fs.SignOfTop, {"k": 1}),
    "TopFeatures": (fs.TopFeatures, {"k": 1}),
    "TopRegions": (fs.TopRegions, {"k": 1}),
    "ReasonCodes": (fs.ReasonCodes, {"k": 1}),
    "Pool": (fs.Pool, {"grid": 2}),
    "Grouped": (fs.Grouped, {"groups": {"a": ["x0"]}}),
    "Clusters": (fs.Clusters, {"embeddings": [[0.0], [1.0]], "k": 2}),
    "Codebook": (fs.Codebook, {"patterns": {"a": "b"}}),
    "Phrases": (fs.Phrases, {"phrases": ["not so"]}),
    "CommonPhrases": (fs.CommonPhrases, {"k": 2}),
    "Template": (fs.Template, {}),
    "GibbsDecoder": (fs.GibbsDecoder, {}),
    "GibbsDecoder.fit": (fs.GibbsDecoder().fit, {"explanations": KEYS, "predictions": LABELS}),
    "OptimalDecoder": (fs.OptimalDecoder, {}),
    "OptimalDecoder.fit": (fs.OptimalDecoder().fit, {"explanations": KEYS, "predictions": LABELS}),
    "Monitor": (fs.Monitor, {}),
    "Monitor.add": (lambda **given: monitor().add(**given), {"explanations": PHI, "predictions": LABELS, "by": KEYS}),
    "Monitor.add_log": (
        lambda **given: monitor().add_log(**given),
        {"table": LOG, "prediction": "yhat", "explanation": "phi_*", "when": "when"},
    ),
    "Monitor.alarms": (lambda **given: monitor().alarms(**given), {}),
    "Monitor.limits": (lambda **given: monitor().limits(**given), {}),
    "Evaluation.by": (evaluation().by, {"groups": [0, 0, 1, 1]}),
    "Evaluation.leakage": (fs.evaluate(["yes", "no", "no", "yes"], REASONS, PHI, progress=False).leakage, {}),
    "Evaluation.counterexamples": (evaluation().counterexamples, {}),
    "Audit.by": (lambda **given: audited().by(**given), {"columns": "g"}),
    "Audit.over_time": (lambda **given: audited().over_time(**given), {"column": "when", "every": "1d"}),
    "Populations.differences": (evaluation().by([0, 0, 1, 1]).differences, {}),
    "Comparison.explainer_agreement": (
        fs.compare(LABELS, {"a": PHI, "b": -PHI}, TRAIN[:4], progress=False).explainer_agreement,
        {},
    ),
    "Comparison.agreement": (
        fs.compare(LABELS, {"a": PHI, "b": -PHI}, TRAIN[:4], progress=False).agreement,
        {},
    ),
    "ExplainerAgreement.matrix": (fs.explainer_agreement({"a": PHI, "b": -PHI}).matrix, {"measure": "same"}),
    "ExplainerAgreement.pair": (fs.explainer_agreement({"a": PHI, "b": -PHI}).pair, {"a": "a", "b": "b"}),
    "ExplainerAgreement.plot": (fs.explainer_agreement({"a": PHI, "b": -PHI}).plot, {}),
    "Sample.of": (fs.Sample.of, {"explanations": PHI, "predictions": LABELS}),
    "Sample.settled": (evaluation().sample.settled, {"discretizer": None}),
    "Sample.discretized": (evaluation().sample.discretized, {"discretizer": None}),
    "sklearn.scorer": (sklearn.scorer, {"explainer": EX.TreePath}),
    **{
        name: (getattr(fs, name), {}) for name in ("Delta", "DeltaSign", "Modified", "Rank", "RealRows", "Same", "Sign")
    },
    "Spread": (fs.Spread, {}),
    "explainers.Constant": (EX.Constant, {}),
    "explainers.Unique": (EX.Unique, {}),
    "explainers.TopCoefficient": (EX.TopCoefficient, dict(zip(("model", "vectorizer"), linear(), strict=True))),
    "explainers.AllWords": (EX.AllWords, {}),
    "explainers.FirstWord": (EX.FirstWord, {}),
    "explainers.Lime": (EX.Lime, {"predict_proba": proba, "X_train": TRAIN, **FAST["Lime"]}),
    "explainers.Shap": (EX.Shap, {"model": proba, "X_background": TRAIN, **FAST["Shap"]}),
    "explainers.Anchors": (EX.Anchors, {"predict": predict, "X_train": TRAIN, **FAST["Anchors"]}),
    "explainers.TextAnchors": (EX.TextAnchors, {"predict": about, **FAST["TextAnchors"]}),
    "explainers.Counterfactual": (EX.Counterfactual, {"predict": predict, "X_train": TRAIN}),
    "explainers.NearestNeighbors": (EX.NearestNeighbors, {"X_train": TRAIN}),
    "explainers.SufficientReason": (EX.SufficientReason, {"model": tree()}),
    "explainers.TreePath": (EX.TreePath, {"tree": tree()}),
    "explainers.TreePath.surrogate": (EX.TreePath.surrogate, {"predict": predict, "X_train": TRAIN}),
    "explainers.Random": (EX.Random, {}),
    "explainers.Dice": (EX.Dice, {"model": tree(), "X_train": NAMED}),
    "explainers.Gradient": (EX.Gradient, {"module": object()}),  # refused: what else is given is looked at, too
}

for each, make in EXPLAINERS.items():
    rows = ["good plot", "dull plot"] if each in ("AllWords", "FirstWord", "TextAnchors", "TopCoefficient") else TRAIN
    CALLS[f"explainers.{each}.explain"] = (lambda make=make, **given: make().explain(**given), {"X": rows})

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
        if not name.startswith("_") and name not in held | HARD and taken and not isinstance(value, Removed):
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
