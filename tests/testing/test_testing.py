"""The conformance suite: ours passes, and each case catches the mistake it names."""

import numpy as np
import pytest

import faithscope as fs
from faithscope.testing import CASES, SCOPED_CASES, check_consistency, check_sufficiency


def measured(explanations, labels):
    return fs.consistency(explanations, labels).value


def ours(rules, X, predictions):
    return fs.sufficiency(fs.Rules.from_conditions(rules, features=["x"]), predictions, X).value


def test_ours_passes_every_case():
    vectors = check_consistency(measured, as_vectors=True)
    for conformance in (check_consistency(measured), vectors, check_sufficiency(ours)):
        assert conformance.conforms, str(conformance)


@pytest.mark.parametrize("case", SCOPED_CASES, ids=lambda case: case.name)
def test_local_measures_are_those_worked_out_by_hand(case):
    X = np.array(case.rows)[:, None]
    ev = fs.evaluate(case.predictions, fs.Rules.from_conditions(case.rules, features=["x"]), X)
    local = ev.local()
    for measure in ("consistency", "sufficiency"):
        expected = [np.nan if value is None else value for value in getattr(case, measure)]
        assert local[measure].tolist() == pytest.approx(expected, nan_ok=True), measure
    assert ev.consistency.value == pytest.approx(case.global_consistency)
    assert ev.sufficiency.value == pytest.approx(case.global_sufficiency)


def with_self(vectors, labels):
    _, which, size = np.unique(vectors, axis=0, return_inverse=True, return_counts=True)
    _, place, given = np.unique(
        np.column_stack([which.ravel(), labels]), axis=0, return_inverse=True, return_counts=True
    )
    return float(np.mean(given[place.ravel()] / size[which.ravel()]))


def in_batches(vectors, labels, size=64):
    starts = range(0, len(labels), size)
    parts = [(measured(vectors[s : s + size], labels[s : s + size]), len(labels[s : s + size])) for s in starts]
    return sum(value * rows for value, rows in parts) / len(labels)


def checked_only(vectors, labels):
    return fs.consistency(vectors, labels).verified or 0.0


MISTAKES = {
    "signs": lambda e, y: measured(np.abs(e), y),
    "scales": lambda e, y: measured(e / np.maximum(np.abs(e).max(axis=1, keepdims=True), 1e-300), y),
    "sums that differ in the last digit": lambda e, y: measured(np.round(e, 6), y),
    "large and small together": lambda e, y: measured(e.sum(axis=1, keepdims=True), y),
    "order within an explanation": lambda e, y: measured(np.sort(e, axis=1), y),
    "small features count too": lambda e, y: fs.consistency(e, y, discretizer=fs.SignOfTop(5)).value,
    "a row is not its own witness": with_self,
    "partners 65 rows apart": in_batches,
    "partners 5,000 rows apart": lambda e, y: in_batches(e, y, 1000),
    "a hub and many that are alone": checked_only,
    "negative zero": lambda e, y: measured(np.frombuffer(e.tobytes(), np.uint8).reshape(len(e), -1), y),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_each_case_catches_its_mistake(name):
    cases = [case for case in CASES if case.name == name]
    conformance = check_consistency(MISTAKES[name], cases, as_vectors=True)
    assert not conformance.conforms
    assert "FAIL" in str(conformance)
    assert cases[0].catches in str(conformance)


def test_an_implementation_that_raises_has_failed():
    def raises(explanations, predictions):
        raise RuntimeError("no such thing")

    conformance = check_consistency(raises, CASES[:2])
    assert conformance.passed == 0
    assert "raised RuntimeError: no such thing" in str(conformance)


def test_a_measure_of_given_rows_only_is_not_sufficiency():
    def consistency(rules, X, predictions):
        return fs.consistency(fs.Rules.from_conditions(rules, features=["x"]), predictions).value

    failed = [verdict.case for verdict in check_sufficiency(consistency).verdicts if not verdict.passed]
    assert "local consistency above local sufficiency" in failed
    assert "local consistency below local sufficiency" in failed
