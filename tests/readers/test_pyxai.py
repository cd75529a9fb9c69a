"""PyXAI's reasons become rules with thresholds in full, which are sufficient where PyXAI says so."""

import subprocess
import sys
from enum import StrEnum

import pytest

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused


class Operator(StrEnum):
    """PyXAI's ``OperatorCondition``."""

    LE = "LE"
    GT = "GT"
    GE = "GE"
    LT = "LT"
    EQ = "EQ"
    NEQ = "NEQ"


def literal(name, operator, threshold):
    known = {"id": 1, "weight": None, "string": "as printed"}
    return known | {"name": name, "operator_sign_considered": operator, "threshold": threshold}


RECORDED = [
    {
        "a": [literal("a", Operator.GT, 16.109999656677246), literal("a", Operator.LE, 19.25)],
        "b c": [literal("b c", Operator.GE, 0.5)],
    },
    {},
    {"b c": [literal("b c", Operator.LT, 0.5)], "d": [literal("d", Operator.NEQ, 2)]},
]


def test_a_list_of_reasons_with_their_details_is_rules():
    rules = fs.read(RECORDED)
    assert rules.to_conditions() == [
        [("a", ">", 16.109999656677246), ("a", "<=", 19.25), ("b c", ">=", 0.5)],
        [],
        [("b c", "<", 0.5), ("d", "!=", 2.0)],
    ]
    assert fs.read(RECORDED, features=["d", "b c", "a"]).features == ("d", "b c", "a")
    assert fs.read(RECORDED[1:] + RECORDED[:1]).describe(0) == "everything"
    assert len(fs.read(RECORDED[0])) == 1


def test_a_row_that_is_no_reason_is_refused():
    refused(
        BadInput, r"Row 1 is a dict, and not of the kind of other rows \(pyxai\)", fs.read, [RECORDED[0], {"a": 0.5}]
    )
    refused(BadInput, "top=2 does not apply", fs.read, RECORDED, top=2)


# In a process of its own: PyXAI writes to the terminal at exit.
REAL = """
import numpy as np
from sklearn.datasets import load_breast_cancer
from pyxai import Explaining, Learning, Tools
import faithscope as fs

Tools.set_verbose(0)
frame = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 2, 3, -1]]
learner = Learning.Scikitlearn(frame, problem_type="classification", instances_type="tabular", labels_type="classes")
model = learner.evaluate(splitting_method=Learning.HOLD_OUT, model_type=Learning.DT)
explainer = Explaining.initialize(model)
details, predictions = [], []
X = frame.iloc[:20, :-1]
for place in range(len(X)):
    explainer.set_instance(X.iloc[place])
    reason = explainer.sufficient_reason()
    details.append(explainer.to_features(reason, details=True))
    predictions.append(int(explainer.target_prediction))
rules = fs.read(details)
est = fs.sufficiency(details, predictions, X)
assert est.verified == 1.0, est
assert "not covered" not in str(est), est
print("read", len(rules))
"""


@pytest.mark.thorough
def test_sufficient_reasons_of_a_real_tree_are_sufficient():
    pytest.importorskip("pyxai")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", REAL], capture_output=True, text=True, check=False)
    assert "read 20" in done.stdout, done.stderr[-2000:]
