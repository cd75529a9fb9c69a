"""Good calls of public names, into which anything is put by mistake: arrays, functions, tables, dictionaries."""

from functools import cache

import numpy as np

import faithscope as fs
from faithscope.inputs.rows import rows_of
from faithscope.integrations import sklearn
from fuzz.kinds import LOG, NAMED, TRAIN, about, audited, monitors, predict, proba, tree

EX = fs.explainers
PHI = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.5, 0.5]])
LABELS, KEYS = [0, 0, 1, 0], ["a", "a", "b", "b"]
RULES = fs.Rules.parse(["x0 <= 1", "x1 > 0", "x0 <= 1", "x1 > 0"], features=["x0", "x1"])
CODES = fs.Codes([["a"], ["a"]])
REASONS = fs.Reasons(["yes, so", "no", "no", "yes"], ["yes, so it is", "no", "no way", "yes"])


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
    "Direction.counterexamples": (fs.direction(PHI, lambda X: X[:, 0], TRAIN[:4]).counterexamples, {}),
    "Sample.of": (fs.Sample.of, {"explanations": PHI, "predictions": LABELS}),
    "Sample.settled": (evaluation().sample.settled, {"discretizer": None}),
    "Sample.discretized": (evaluation().sample.discretized, {"discretizer": None}),
    "sklearn.scorer": (sklearn.scorer, {"explainer": EX.TreePath}),
    "explainers.AllWords": (EX.AllWords, {}),
    "explainers.FirstWord": (EX.FirstWord, {}),
    "explainers.Lime": (EX.Lime, {"predict_proba": proba, "X_train": TRAIN}),
    "explainers.Shap": (EX.Shap, {"model": proba, "X_background": TRAIN}),
    "explainers.Anchors": (EX.Anchors, {"predict": predict, "X_train": TRAIN}),
    "explainers.TextAnchors": (EX.TextAnchors, {"predict": about}),
    "explainers.Counterfactual": (EX.Counterfactual, {"predict": predict, "X_train": TRAIN}),
    "explainers.NearestNeighbors": (EX.NearestNeighbors, {"X_train": TRAIN}),
    "explainers.SufficientReason": (EX.SufficientReason, {"model": tree()}),
    "explainers.TreePath": (EX.TreePath, {"tree": tree()}),
    "explainers.TreePath.surrogate": (EX.TreePath.surrogate, {"predict": predict, "X_train": TRAIN}),
    "explainers.Random": (EX.Random, {}),
    "explainers.Dice": (EX.Dice, {"model": tree(), "X_train": NAMED}),
    "explainers.Gradient": (EX.Gradient, {"module": object()}),  # refused: what else is given is looked at, too
}

# Parameters that take one of several words, or a function.
WORDS = {"algorithm", "bound", "channels", "device", "draws", "interval", "kind", "measure", "method", "metric", "mode"}
WORDS |= {"nulls", "output", "unreadable", "agreement", "discretizer", "relation", "tokenizer"}
