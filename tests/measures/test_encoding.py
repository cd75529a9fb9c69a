"""Encoding in words, tables and pictures; what encodes is found, and what cannot is said in plain sentences."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs

N = 400
RNG = default_rng(0)
X = pd.DataFrame({"age": RNG.uniform(20, 80, N), "hours": RNG.uniform(0, 60, N)})
LABELS = np.where(RNG.random(N) < 0.4, "yes", "no")
ALWAYS = ["age <= 200", "hours <= 200"]  # which hold for every row
ITSELF = np.where(LABELS == "yes", *ALWAYS)
RANDOM = default_rng(1).choice(ALWAYS, N)
TWO_TURNS = [f"age <= {200 + 2 * (row // 2 % 100) + (label == 'yes')}" for row, label in enumerate(LABELS)]


def rules(texts):
    return fs.Rules.parse(list(texts), features=["age", "hours"])


def encoded(texts, labels=LABELS, rows=X, **how):
    return fs.encoding(rules(texts), labels, rows, **how)


@pytest.mark.parametrize(
    ("texts", "labels", "told", "verdict"),
    [
        (ITSELF, LABELS, {"value": 1.0, "encodes": True, "flagged": 2, "tested": 2, "unverifiable": 0.0}, "The choice"),
        (RANDOM, LABELS, {"encodes": False}, "No encoding found: the predictions of the rows given an explanation"),
        (RANDOM, ["yes"] * N, {"value": 0.0, "flagged": 0, "encodes": False}, "No encoding found"),
        (ALWAYS * 2, ["yes", "no"] * 2, {"value": 1.0, "encodes": False}, "no more than chance gives (a gap of 1.000"),
        (
            np.where(LABELS == "yes", "age > 1000", "age > 2000"),
            LABELS,
            {"encodes": None},
            "Cannot tell: no explanation was given to several rows",
        ),
        (
            np.where(X["age"] <= 50, "age <= 50", "age > 50"),
            LABELS,
            {"value": None, "encodes": None, "exclusive": 1.0, "alone": 0.0},
            "Nothing is encoded in the choice of an explanation",
        ),
        (
            [f"age <= {100 + row}" for row in range(N)],
            LABELS,
            {"value": None, "encodes": None, "alone": 1.0},
            "Cannot tell: no explanation was given to several rows",
        ),
        (TWO_TURNS, LABELS, {"flagged": 0, "encodes": True}, "although no single one shows it"),
        (ALWAYS[:1], ["yes"], {"value": None, "interval": (-1.0, 1.0), "encodes": None}, "Cannot tell"),
        (ALWAYS[:1] * N, LABELS, {"value": None, "exclusive": 1.0, "encodes": None}, "Nothing is encoded"),
    ],
    ids=[
        *("the prediction itself", "a random choice", "one label", "few rows", "rules that nobody obeys"),
        *("a partition", "all alone", "only the sum tells", "one row", "one explanation"),
    ],
)
def test_what_encodes_is_found_and_what_cannot_be_told_is_not(texts, labels, told, verdict):
    encoding = encoded(texts, labels, X[: len(labels)])
    assert {name: getattr(encoding, name) for name in told} == told
    assert verdict in encoding._verdict
    assert (len(encoding.table()) == 0) == (encoding.value is None)
    encoding.plot()


def test_a_line_tells_that_nothing_could_be_tested():
    nothing = encoded(ALWAYS[:1] * N)
    assert str(nothing) == "encoding unknown: no explanation could be tested; n=400, 100% unverifiable"


def test_copies_of_rows_in_clusters_add_no_evidence():
    copies = np.repeat(np.arange(20), 20)
    few, alone = (encoded(RANDOM[copies], LABELS[copies], X.iloc[copies], clusters=each) for each in (copies, None))
    assert (few.encodes, alone.encodes) == (False, True)  # 400 rows that are 20
    assert any("repeat" in note for note in alone.notes)


def test_an_evaluation_a_comparison_and_the_function_say_the_same():
    explained = {"itself": rules(ITSELF), "random": rules(RANDOM), "numbers": fs.Importances(X.to_numpy())}
    how = {"confidence": 0.9, "weights": RNG.uniform(1, 2, N), "clusters": np.arange(N) // 2}
    compared = fs.compare(LABELS, explained, X, progress=False, **how)
    assert [compared[name].encoding().encodes for name in ("itself", "random")] == [True, False]
    for name in ("itself", "random"):
        one, other = compared[name].encoding(), fs.encoding(explained[name], LABELS, X, **how)
        assert one.to_dict() == other.to_dict()
        pd.testing.assert_frame_equal(one.table(), other.table())


def test_importances_can_be_tested_by_a_relation_as_the_refusal_advises():
    def applies(rows, explanation):
        return np.asarray(rows)[:, 0] * explanation[0] > 0

    assert fs.encoding(fs.Importances(X.to_numpy().round(-1)), LABELS, X, relation=applies).n == N
