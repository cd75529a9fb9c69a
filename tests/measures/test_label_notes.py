"""Numbers that pass as labels are told wherever the estimate is told; honest labels are left alone."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.report.summary import summarize

RNG = default_rng(0)
N = 1000
WHY = RNG.integers(0, 8, N)
TOLD = {
    "probabilities rounded to .01": (np.round(RNG.random(N), 2), "look like probabilities"),
    "votes of a forest of 50": (RNG.integers(0, 51, N) / 50, "look like probabilities"),
    "probabilities rounded to .1": (np.round(RNG.random(N), 1), "look like probabilities"),
    "temperatures": (np.round(RNG.normal(20, 5, N), 1), "look continuous"),
    "prices in thousands": (RNG.integers(100, 400, N), "different numbers in"),
    "free text": ([f"answer {number}" for number in RNG.integers(0, 300, N)], "merge rare labels"),
}
HONEST = {
    "two classes": RNG.integers(0, 2, N),
    "half stars": RNG.integers(1, 11, N) / 2,
    "none, half, whole": RNG.integers(0, 3, N) / 2,
    "50 classes": RNG.integers(0, 50, N),
    "20 texts": [f"group {number}" for number in RNG.integers(0, 20, N)],
    "yes and no": RNG.random(N) > 0.5,
    "18 classes of 200 rows": RNG.integers(0, 18, 200),
    "3 classes of 30 rows": np.arange(30) % 3,
    "20 classes of 20 rows": np.arange(20),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOLD)
def test_numbers_that_pass_as_labels_are_told(name):
    labels, said = TOLD[name]
    found = fs.consistency(WHY, labels)
    assert sum(said in note for note in found.notes) == 1
    assert said in " ".join(str(found).split())
    assert said in fs.within(WHY[:, None], labels, 0.5).notes[0]
    log = pd.DataFrame({"yhat": labels, "why": WHY, "half": WHY % 2})
    audited = fs.audit(log, prediction="yhat", explanation="why", by="half")
    assert audited.consistency.notes == found.notes
    assert all(said in str(one.notes) for one in audited.populations.estimates.values())
    assert said in str(summarize(audited).explainers[0].measures[0].notes)


@pytest.mark.parametrize("name", HONEST)
def test_honest_labels_are_left_alone(name):
    labels = HONEST[name]
    assert fs.consistency(WHY[: len(labels)], labels).notes == ()


def test_decimals_of_a_database_are_numbers_too():
    shares = [Decimal(number % 30) / 100 for number in range(3000)]
    (note,) = fs.consistency(["a"] * 3000, shares).notes
    assert "look like probabilities (30 different values, such as 0.01)" in note


@pytest.mark.parametrize(
    ("different", "told"), [(100, "no two rows have the same"), (90, "100 rows have 90 "), (40, None)]
)
def test_real_numbers_that_hardly_repeat_say_which_discretizer_to_try(different, told):
    values = default_rng(0).normal(size=(different, 3))[np.arange(100) % different]
    doors = [fs.consistency(values, ["a", "b"] * 50), fs.evaluate(["a", "b"] * 50, values, values).consistency]
    for estimate in doors:
        notes = [note for note in estimate.notes if "real numbers are hardly ever equal" in note]
        assert len(notes) == (told is not None)
        assert all(note.startswith(told) and "discretizer=fs.SignOfTop" in note for note in notes)
