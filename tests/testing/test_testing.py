"""The conformance suite: ours passes, and each case catches the mistake it names."""

import numpy as np
import pytest

import faithscope as fs
from brute_numbers import agreement_of
from faithscope.testing import (
    CASES,
    NUMBER_CASES,
    SCOPED_CASES,
    SCOPED_NUMBER_CASES,
    check_consistency,
    check_sufficiency,
)


def measured(explanations, labels, word=None):
    return fs.consistency(explanations, labels, agreement=word).value


def with_numbers(measure):
    """The same measure of keys and labels as numbers: vectors, and codes in order of appearance."""

    def numbered(values):
        place = {}
        return np.array([place.setdefault(value, len(place)) for value in np.asarray(values, object).tolist()])

    def by_numbers(explanations, predictions):
        vectors = explanations if isinstance(explanations, np.ndarray) else numbered(explanations)[:, None]
        return measure(vectors.astype(float), numbered(predictions))

    return by_numbers


def ours(rules, X, predictions, word=None):
    return fs.sufficiency(fs.Rules.from_conditions(rules, features=["x"]), predictions, X, agreement=word).value


def test_ours_passes_every_case():
    vectors = check_consistency(with_numbers(measured))
    numbers = check_consistency(measured, NUMBER_CASES), check_sufficiency(ours, SCOPED_NUMBER_CASES)
    for conformance in (check_consistency(measured), vectors, check_sufficiency(ours), *numbers):
        assert conformance.conforms, str(conformance)


def test_local_measures_are_those_worked_out_by_hand():
    for case in SCOPED_CASES:
        rules, X, predictions = case.make()
        local = fs.evaluate(predictions, fs.Rules.from_conditions(rules, features=["x"]), X).local()
        for measure, values in case.local.items():
            expected = [np.nan if value is None else value for value in values]
            assert local[measure].tolist() == pytest.approx(expected, nan_ok=True), measure


def with_self(explanations, predictions, word="tolerance:0"):
    keys, (name, _, eps) = np.asarray(explanations).reshape(len(explanations), -1), word.partition(":")
    table = agreement_of(name, float(eps))(np.asarray(predictions)[:, None], np.asarray(predictions))
    return np.mean([table[i, (keys == keys[i]).all(axis=1)].mean() for i in range(len(keys))])


def in_batches(explanations, predictions, word=None, size=64):
    parts = [slice(start, start + size) for start in range(0, len(predictions), size)]
    sizes = [len(predictions[part]) for part in parts]
    return np.average([measured(explanations[part], predictions[part], word) for part in parts], weights=sizes)


def checked_only(vectors, labels):
    return fs.consistency(vectors, labels).verified or 0.0


def in_bins(explanations, predictions, word):
    return fs.consistency(explanations, np.floor(np.asarray(predictions) / float(word.split(":")[1])).astype(int)).value


def by_explanation(explanations, predictions, word):
    keys, y = np.asarray(explanations), np.asarray(predictions)
    return np.mean([measured(keys[keys == key], y[keys == key], word) for key in np.unique(keys)])


def biased(explanations, predictions, word):
    n = len(predictions)
    return 1 - (1 - measured(explanations, predictions, word)) * n / (n - 1)


def uncentered(explanations, predictions, word):
    keys, y = np.asarray(explanations), np.asarray(predictions, np.float64)

    def variance(part):
        return (np.sum(part**2) - np.sum(part) ** 2 / len(part)) / (len(part) - 1)

    with np.errstate(invalid="ignore"):
        return 1 - np.mean([variance(y[keys == key]) for key in keys]) / variance(y)


def standardized(explanations, predictions, word):
    return measured(explanations, predictions / predictions.std(axis=0), word)


MISTAKES = {
    "signs": lambda e, y: measured(np.abs(e), y),
    "scales": lambda e, y: measured(e / np.maximum(np.abs(e).max(axis=1, keepdims=True), 1e-300), y),
    "sums that differ in the last digit": lambda e, y: measured(np.round(e, 6), y),
    "large and small together": lambda e, y: measured(e.sum(axis=1, keepdims=True), y),
    "order within an explanation": lambda e, y: measured(np.sort(e, axis=1), y),
    "small features count too": lambda e, y: fs.consistency(e, y, discretizer=fs.SignOfTop(5)).value,
    "a row is not its own witness": with_self,
    "partners 65 rows apart": in_batches,
    "partners 5,000 rows apart": lambda e, y: in_batches(e, y, size=1000),
    "a hub and many that are alone": checked_only,
    "negative zero": lambda e, y: measured(np.frombuffer(e.tobytes(), np.uint8).reshape(len(e), -1), y),
}


NUMBER_MISTAKES = {
    "two rows, a quarter of eps apart": in_bins,
    "groups of three and two, close": by_explanation,
    "far apart": lambda e, y, word: np.mean([1 - abs(a - b) for a in y for b in y if a is not b]),
    "whole numbers": lambda e, y, word: measured(e, np.asarray(y) // 4 * 4.0, word),
    "a row is not its own witness": with_self,
    "far from 0, close": lambda e, y, word: measured(e, np.asarray(y, np.float32), word),
    "rows in no order": in_batches,
    "exactly eps apart": lambda e, y, word: measured(e, y, "tolerance:0.4999999"),
    "not transitive": lambda e, y, word: 1.0,
    "across a bin": in_bins,
    "signs": lambda e, y, word: measured(e, np.abs(y), word),
    "two pairs, spread": biased,
    "a silent row": lambda e, y, word: fs.consistency(e, y, agreement=word).verified,
    "worse than chance": lambda e, y, word: max(0.0, measured(e, y, word)),
    "far from 0, spread": uncentered,
    "outputs in different units": standardized,
}


def test_each_case_catches_its_mistake():
    for name, mistake, vectors in [
        *((*each, True) for each in MISTAKES.items()),
        *((*each, False) for each in NUMBER_MISTAKES.items()),
    ]:
        cases = [case for case in (CASES if vectors else NUMBER_CASES) if case.name == name]
        conformance = check_consistency(with_numbers(mistake) if vectors else mistake, cases)
        assert not conformance.conforms
        assert conformance.verdicts[0].answered is not None, "the mistake gives an answer"
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
