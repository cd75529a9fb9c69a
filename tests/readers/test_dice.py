"""What dice-ml hands over, objects and JSON, becomes counterfactuals of the rows as they were in the data."""

import contextlib
import io
import json
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused

dice_ml = pytest.importorskip("dice_ml")
NAMES = ["age", "hours", "job"]
ROWS = slice(5, 9)


@pytest.fixture(scope="module")
def system():
    rng = default_rng(0)
    jobs = rng.choice(["clerk", "cook", "3"], 200)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 200), "hours": rng.normal(40, 9, 200).round(3), "job": jobs})
    outcome = ((frame.age > 40) & (frame.hours > 38) | (frame.job == "cook")).astype(int)
    encoder = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(encoder, DecisionTreeClassifier(random_state=0)).fit(frame, outcome)
    data = dice_ml.Data(
        dataframe=frame.assign(income=outcome), continuous_features=["age", "hours"], outcome_name="income"
    )
    explainer = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method="random")
    return frame, model, explainer


@pytest.fixture(scope="module")
def result(system):
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        how = {"total_CFs": 2, "desired_class": "opposite", "random_seed": 1}
        return system[2].generate_counterfactuals(system[0][ROWS], **how)


def test_the_first_counterfactual_and_the_row_itself_are_read_as_they_were(system, result):
    frame, model, _ = system
    read = fs.read(result)
    assert read.names == tuple(NAMES)
    assert read.originals.tolist() == frame[ROWS].to_numpy(object).tolist()
    first = [example.final_cfs_df_sparse.iloc[0][NAMES].tolist() for example in result.cf_examples_list]
    assert read.points.tolist() == first
    before = model.predict(frame[ROWS])
    flipped = model.predict(pd.DataFrame(read.points, columns=NAMES).astype({"age": int, "hours": float}))
    assert (flipped != before).all()
    measured = fs.sufficiency(result, before, frame[ROWS])
    assert measured.value == fs.sufficiency(read, before, frame[ROWS]).value
    told = "several counterfactuals for 4 of 4 rows, and the first counts"
    assert any(told in note for note in measured.notes)
    assert not any("not covered by" in note for note in measured.notes)


def test_their_json_says_the_same(result):
    wanted, saved = fs.read(result), result.to_json()
    for read in (fs.read(saved), fs.read(json.loads(saved))):
        assert read.points.tolist() == wanted.points.tolist()
        assert read.originals.tolist() == wanted.originals.tolist()


def test_features_may_come_in_another_order_but_all_must_come(result):
    turned = fs.read(result, features=NAMES[::-1])
    assert turned.names == tuple(NAMES[::-1])
    assert turned.points[:, ::-1].tolist() == fs.read(result).points.tolist()
    for features in (NAMES[:2], ["age", "hours", "wage"]):
        refused(
            BadInput, "must name the 3 features of dice-ml's rows: age, hours, job", fs.read, result, features=features
        )
    refused(BadInput, "class_index=1 does not apply", fs.read, result, class_index=1)


def test_rows_without_a_counterfactual_are_counted_and_the_advice_runs(result):
    examples = list(result.cf_examples_list)
    lost = SimpleNamespace(**{**vars(examples[2]), "final_cfs_df": None, "final_cfs_df_sparse": None})
    result = type(result)([*examples[:2], lost, *examples[3:]])
    with pytest.raises(BadInput, match=r"no counterfactual for 1 of 4 rows \(2\): leave them out") as caught:
        fs.read(result)
    advice = str(caught.value).split("leave them out, ")[1].split(", and leave")[0]
    assert len(eval(advice, {"fs": fs, "result": result})) == 3


def example(original, other):
    """An object with the fields of dice-ml's ``CounterfactualExamples``."""
    given, found = (pd.DataFrame([each | {"y": y}]) for y, each in enumerate((original, other)))
    interface = SimpleNamespace(outcome_name="y")
    return SimpleNamespace(
        test_instance_df=given, final_cfs_df=found, final_cfs_df_sparse=None, data_interface=interface
    )


def test_numbers_that_are_texts_or_of_single_precision_are_numbers_again():
    rows = [example({"a": np.float32(32.249), "b": "3"}, {"b": "4", "a": "30.5"})]
    read = fs.read(rows)
    assert read.originals.tolist() == [[32.249, "3"]]
    assert read.points.tolist() == [[30.5, "4"]]
    double = fs.read([example({"a": 0.1234567890123}, {"a": 0.5})])
    assert double.originals.tolist() == [[0.1234567890123]]


def test_truth_values_that_dice_ml_loses_are_told():
    told = [fs.read([example({"a": 1.0, "b": kept}, {"a": 2.0, "b": False})]).remarks for kept in (True, False)]
    assert any("every truth value of the rows explained as True, here of b" in remark for remark in told[0])
    assert not told[1]
