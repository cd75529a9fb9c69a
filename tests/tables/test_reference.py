"""A log against another one: the difference of two independent estimates, in the text, in JSON and on the page."""

import json

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.measures.comparing.beside import Beside
from faithscope.measures.comparing.populations import difference
from faithscope.sample import Sample
from refused import refused


def week(faithful, seed, rows=400):
    random = np.random.default_rng(seed)
    leaf = random.integers(0, 4, rows)
    guessed = random.random(rows) > faithful
    day = pd.Timestamp("2026-03-01") + pd.to_timedelta(random.integers(0, 7, rows), "D")
    region = random.choice(["EU", "US"], rows)
    return pd.DataFrame({"leaf": leaf, "y": np.where(guessed, random.integers(0, 2, rows), leaf % 2)}).assign(
        day=day, region=region
    )


THIS, LAST = week(0.6, 1), week(0.95, 2)
HOW = {"prediction": "y", "explanation": "leaf", "kind": "keys"}


def compared(log=THIS, reference=LAST, **how):
    return fs.audit(log, **HOW, against=reference, **how)


def test_the_difference_is_that_of_two_populations():
    audit, other = compared(), fs.audit(LAST, **HOW)
    expected = difference(audit.consistency, other.consistency)
    measured = audit.reference.among["consistency"]
    assert (measured.value, measured.low, measured.high) == (expected.value, expected.low, expected.high)
    assert audit.reference.worse == ("consistency",)
    assert compared(LAST, THIS).reference.worse == ()
    assert compared(reference=other).reference.among["consistency"] == measured
    assert "not shown to differ" in " ".join(str(compared(week(0.8, 3), week(0.8, 4))).split())


@pytest.mark.parametrize("clusters", [None, "who"])
@pytest.mark.parametrize("agreement", [None, fs.Close(2.0)])
def test_beside_the_reference_rows_of_the_log_ask_and_those_of_the_reference_answer(agreement, clusters):
    this, last = (log.assign(who=np.arange(400) // 2 + first) for log, first in ((THIS, 0), (LAST, 150)))
    reference = compared(this, last, agreement=agreement, clusters=clusters).reference
    both = pd.concat([this, last], ignore_index=True)
    how = {"agreement": agreement, "clusters": None if clusters is None else both.who}
    late = np.arange(800) < 400
    asked = Beside.of(Sample.of(both.leaf.tolist(), both.y, **how).asking(late.astype(int))).answered_by([0])
    for name in ("value", "low", "high", "unverifiable", "chance"):
        assert getattr(reference.beside, name) == pytest.approx(getattr(asked.estimate(1), name), abs=1e-12)
    expected, change = asked.difference([1], [0], checked=True), reference.differences["consistency"]
    assert (change.value, change.low, change.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert reference.beside.n == 400
    told = json.loads(json.dumps(compared(this, last, agreement=agreement).to_dict()))["reference"]
    assert {"beside", "among", "differences"} <= set(told)


def test_codes_that_mean_the_opposite_are_seen_beside_the_reference_alone():
    reference = compared(week(0.95, 3).assign(y=lambda log: 1 - log.y), LAST).reference
    assert abs(reference.among["consistency"].value) < 0.05
    assert reference.differences["consistency"].high < -0.5
    assert reference.worse == ("consistency",)


def test_labels_of_other_types_are_not_held_against_each_other():
    reference = compared(THIS.assign(y=THIS.y.map({0: "no", 1: "yes"})), LAST).reference
    assert reference.beside is None
    assert reference.differences == reference.among


def test_a_number_is_one_of_windows():
    refused(BadInput, "against=3 is a number of windows of time", compared, reference=3)
    assert compared(reference=3, time="day").windows.against.startswith("the first 3 windows")


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"clusters": "region"}, "clusters"),
        ({"agreement": "close:0.5"}, "agreement"),
        ({"kind": "importances"}, "kind"),
    ],
)
def test_logs_that_were_measured_in_other_ways_are_not_compared(other, what):
    reference = fs.audit(LAST, **{**HOW, **other})
    refused(BadInput, f"differ in .*{what}", fs.audit, THIS, **HOW, against=reference)


def test_a_log_is_not_compared_with_itself(tmp_path):
    THIS.to_parquet(tmp_path / "this.parquet")
    refused(
        BadInput,
        r"share .*this\.parquet",
        fs.audit,
        tmp_path / "this.parquet",
        **HOW,
        against=tmp_path / "this.parquet",
    )


def weights(seed, names=("a", "b", "c"), rows=200):
    random = np.random.default_rng(seed)
    values = random.integers(-1, 2, (rows, len(names)))
    return [dict(zip(names, row, strict=True)) for row in values.tolist()], random.integers(0, 2, rows)


@pytest.mark.parametrize(
    ("held", "discretizer"), [("columns", fs.SignOfTop(1)), ("JSON", fs.Rank()), ("counterfactuals", fs.SignOfTop(1))]
)
def test_the_order_of_features_does_not_matter_to_a_difference(held, discretizer):
    def log(names):
        rows, labels = weights(3)
        if held == "JSON":
            return pd.DataFrame({"phi": [json.dumps({name: row[name] for name in names}) for row in rows], "y": labels})
        frame = pd.DataFrame({f"phi_{name}": [row[name] for row in rows] for name in names})
        if held == "counterfactuals":
            frame = frame.rename(columns=lambda name: name.replace("phi", "cf"))
            frame = frame.assign(**dict.fromkeys(names, 0))
        return frame.assign(y=labels)

    how = {"prediction": "y", "explanation": {"columns": "phi_*", "JSON": "phi", "counterfactuals": "cf_*"}[held]}
    how["discretizer"] = fs.Delta() | discretizer if held == "counterfactuals" else discretizer
    ours, theirs = log("abc"), log("cba")
    assert fs.audit(ours, **how, against=theirs).reference.among["consistency"].value == 0
    refused(BadInput, "pass the other log itself", fs.audit, ours, **how, against=fs.audit(theirs, **how))
    moments = ours.assign(day=pd.Timestamp("2026-03-01"))
    windows = fs.audit(moments, **how, against=theirs, time="day").windows.among
    assert [change.value for change in windows.compared.values()] == pytest.approx([0], abs=1e-12)


def test_a_feature_that_a_log_never_names_counts_0_there():
    def log(seed, left_out, zeros=False):
        rows, labels = weights(seed)
        rows = [{name: value * (name != left_out) for name, value in row.items()} for row in rows]
        texts = [json.dumps({name: value for name, value in row.items() if value or zeros}) for row in rows]
        return pd.DataFrame({"phi": texts, "y": labels})

    how = {"prediction": "y", "explanation": "phi", "discretizer": "sign-of-top-2"}
    for ours, theirs in (((1, "c"), (2, "")), ((1, ""), (2, "a"))):
        audit = fs.audit(log(*ours), **how, against=log(*theirs)).reference
        full = fs.audit(log(*ours, zeros=True), **how, against=log(*theirs, zeros=True)).reference
        assert audit.among["consistency"] == full.among["consistency"]
    refused(
        BadInput,
        r"differ in features .*none only in the log, c only in the reference",
        fs.audit,
        log(1, "c"),
        **{**how, "discretizer": "rank"},
        against=log(2, ""),
    )


def test_other_features_are_not_compared():
    def log(names):
        rows, labels = weights(1, names)
        return pd.DataFrame(rows).add_prefix("phi_").assign(y=labels)

    many = [f"f{j:02}" for j in range(12)]
    refused(
        BadInput,
        "f11 only in the log, z only in the reference",
        fs.audit,
        log(many),
        prediction="y",
        explanation="phi_*",
        against=log([*many[:-1], "z"]),
    )


def test_faults_of_the_reference_are_said_to_be_its_own():
    refused(BadInput, "Of the reference: The log has no column 'leaf'", compared, reference=LAST.drop(columns="leaf"))


def test_rows_without_a_group_or_a_moment_are_told_and_fractions_are_no_groups():
    known, share = THIS.leaf > 0, np.arange(400) / 7
    log = THIS.assign(region=THIS.region.where(known), day=THIS.day.where(known), share=share)
    notes = fs.audit(log, **HOW, nulls="drop", by="region").notes
    assert f"{(~known).sum()} rows are in no population by region: values missing" in notes
    assert f"{(~known).sum()} rows without a value of day left out" in fs.audit(log, **HOW, since="2026-03-01").notes
    refused(
        BadInput,
        "gives 400 populations, more than 100: bin the values",
        fs.audit,
        log,
        **HOW,
        by="share",
        nulls="drop",
    )


def test_rows_of_the_reference_that_were_left_out_are_told():
    last = LAST.assign(leaf=LAST.leaf.where(LAST.leaf > 0).astype("Int64"))
    notes = compared(reference=last, nulls="drop", where="region = 'EU'").notes
    eu = LAST.region == "EU"
    assert f"of the reference: {eu.sum()} of 400 rows, where region = 'EU'" in notes
    assert f"of the reference: {(eu & (LAST.leaf == 0)).sum()} rows were dropped: values missing" in notes
    assert compared(where="region = 'EU'").reference.estimates["consistency"].n == eu.sum()
