"""What measures refuse: the kind of error, and words of the sentence that says what to do instead."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, NotProven, NotScoped, UnknownName, WrongType
from faithscope.measures.intervals.margins import Margins
from refused import refused

RNG = default_rng(0)
PHI = RNG.normal(size=(40, 4))
BOTH = {"a": PHI, "b": PHI + 1}
FRAME = pd.DataFrame(PHI, index=[f"row {i}" for i in range(40)])
LABELS = ["yes", "no"] * 20
NUMBERS = RNG.normal(size=40)
RULES = fs.Rules.parse(["a > 0"] * 40, features=list("abcd"))
REASONS = ["No: he sleeps", "YES, he runs"]
BATCHES = [(["a", "b"], [1.0, 7.0])]
PHRASES = fs.CommonPhrases(5)


def agree(given, **how):
    return fs.explainer_agreement(given, **how)


def by(groups, weights=None, **how):
    n = len(groups)
    return fs.evaluate(np.arange(n) % 2, RULES.take(np.arange(n) % 40), np.ones((n, 4)), weights=weights).by(
        groups, **how
    )


def curve(predictions, *eps, **how):
    return fs.tolerance_curve(["a", "b"], predictions, *eps, **how)


def plan(explanations, **how):
    return fs.plan(fs.consistency(explanations, np.zeros(len(explanations))), **how)


REFUSED = {
    BadInput: [
        (lambda: agree({"a": PHI, "b": PHI[:9]}), "have 40 rows but explanations of 'b' have 9"),
        (lambda: agree({1: PHI, "1": PHI}), "Two explainers are called alike"),
        (lambda: agree(BOTH, k=0), r"k, the number of features"),
        (lambda: agree(BOTH, clusters=[1] * 40), "of one cluster"),
        (
            lambda: agree({"a": LABELS, "b": PHI}),
            "No two of these explainers can be compared; 'a' and 'b': .* are plain keys, the others",
        ),
        (lambda: agree({"a": PHI[:, :3], "b": PHI}), "No two of these explainers"),
        (lambda: agree({"a": FRAME, "b": FRAME[::-1]}), "in another order"),
        (
            lambda: agree({"a": [[1.0], [2.0]], "b": [[1.0], [np.nan]]}),
            "of 'b' cannot be read: Importances are missing at row 1",
        ),
        (lambda: fs.compare(LABELS, {"a": PHI}, PHI).explainer_agreement(), "at least two explainers; got 1"),
        (
            lambda: fs.consistency(range(1000), range(1000)),
            "Predictions look continuous: 1,000 different whole numbers",
        ),
        (lambda: fs.consistency(range(300), np.sqrt(np.arange(300))), r"^[^…]*predicted class[^…]*bins[^…]*$"),  # uncut
        (
            lambda: fs.audit(pd.DataFrame({"y": range(1000), "why": 0}), prediction="y", explanation="why"),
            "Predictions are numbers, 1,000 different ones",
        ),
        (lambda: fs.leakage(REASONS, [0, 1]), "numbers or signs, which have no words"),
        (
            lambda: fs.leakage(REASONS, ["no", "yes"], discretizer=fs.Clusters(np.eye(2), 2)),
            "no word can be masked",
        ),
        (lambda: fs.repeatability([["a", "b", "c"]] * 2, discretizer=PHRASES), "at least 4 of them; got 3"),
        (lambda: fs.evaluate(LABELS, RULES, PHI).counterexamples(k=0), "whole number of at least 1; got 0"),
        (lambda: fs.local(np.zeros((2, 1)), len, len, np.zeros((2, 1))), "one row; got 2"),
        (lambda: fs.GibbsDecoder().error, "no rows"),
        (lambda: agree(BOTH).matrix("sme"), "must be one of 'same'"),
        (lambda: plan(["a"] * 200).interval(2_001), r"10 times its size. Measure more rows first"),
        (lambda: plan(["a"] * 200).interval(2.5), "whole number"),
        (lambda: plan(["a"]).interval(2), "every explanation occurred once.*Measure more rows first"),
        (lambda: by(np.arange(2000)), "2,000 different values"),
        (lambda: by(["x", "x", "y"], [1, 1, 0]), "All rows of group 'y' have weight 0"),
        (lambda: by(["x", "y"], measure="accuracy"), "measure must be"),
        (lambda: by(["x", "y"]).differences("yes"), "simultaneous must be True or False; got 'yes'"),
        (lambda: curve([1.0, 1.0]), "all equal"),
        (lambda: curve([1.0, 2.0], []), "empty"),
        (lambda: curve([1.0, 2.0], [1.0, 0.0]), "positive"),
        (lambda: curve(np.eye(2)), "one number per row"),
        (lambda: curve([1.0, 2.0], relation=fs.Nearest()), "pass X="),
    ],
    WrongType: [
        (lambda: agree(PHI), "takes explanations by name"),
        (lambda: agree(BOTH, discretizer=PHRASES), "discretizes reasons"),
        (lambda: fs.leakage(REASONS, ["no", "yes"], words=[3]), "words must be texts"),
        (lambda: fs.local([1.0], [0, 1], len, np.zeros((2, 1))), "can be called on x"),
        (lambda: by(["x", 1]), "Groups mix types"),
        (lambda: curve([1.0, 2.0], agreement=fs.Close(1.0)), "without parentheses"),
        (lambda: curve([1.0, 2.0], agreement=fs.Spread), "fs.Close or"),
        (lambda: curve([1.0, 2.0], agreement="spread"), "fs.Close or"),
    ],
    UnknownName: [
        (lambda: agree(BOTH, discretizer={"c": "sign"}), "which is no explainer here"),
        (lambda: agree(BOTH).pair("a", "z"), "'a' and 'z' are no two of these explainers"),
    ],
    NotScoped: [
        (lambda: fs.encoding(fs.Importances(PHI), LABELS, PHI), "encoding are undefined.*pass relation="),
        (lambda: fs.encoding(LABELS, LABELS, PHI), "plain keys"),
        (lambda: fs.encoding(fs.Prototypes(np.zeros(40, int)), LABELS, PHI), r"Prototypes\(indices, points\)"),
        (
            lambda: fs.audit(pd.DataFrame({"why": [1, 1], "y": [0, 1]}), prediction="y", explanation="why").encoding(),
            "log rules or words",
        ),
        (lambda: fs.evaluate(LABELS, LABELS, PHI).scopes(), "do not say where they apply"),
    ],
    NotProven: [
        (lambda: fs.encoding(RULES, NUMBERS, PHI, agreement=fs.Spread()), r"agreement=fs.Close\(eps\)"),
        (lambda: Margins(0.1, 0.1).at(0.99), "measure again"),
    ],
    FaithscopeError: [
        (lambda: curve([1.0, 2.0], [np.nan]), "eps"),
        (lambda: curve([1.0, 2.0], "wide"), "eps"),
        (lambda: curve([1.0, np.inf]), "Predictions"),
    ],
}


@pytest.mark.parametrize(
    ("error", "call", "words"), [(error, *each) for error, several in REFUSED.items() for each in several]
)
def test_what_cannot_be_measured_is_refused_in_one_sentence(error, call, words):
    refused(error, words, call)
