"""Numeric cases of the conformance suite: ours passes, and each case catches its mistake."""

import numpy as np
import pytest

import faithscope as fs
from brute_numbers import agreement_of
from faithscope.testing import (
    NUMBER_CASES,
    SCOPED_NUMBER_CASES,
    check_consistency_of_numbers,
    check_sufficiency_of_numbers,
)

BY_NAME = {case.name: case for case in NUMBER_CASES + SCOPED_NUMBER_CASES}


def consistent(explanations, predictions, word):
    return fs.consistency(explanations, predictions, agreement=word).value


def sufficient(rules, X, predictions, word):
    rules = fs.Rules.from_conditions(rules, features=["x"])
    return fs.sufficiency(rules, predictions, X, agreement=word).value


def test_ours_passes_every_case():
    for conformance in (check_consistency_of_numbers(consistent), check_sufficiency_of_numbers(sufficient)):
        assert conformance.conforms, str(conformance)


def with_self(explanations, predictions, word):
    keys, (name, _, eps) = np.asarray(explanations), word.partition(":")
    table = agreement_of(name, float(eps))(np.asarray(predictions)[:, None], np.asarray(predictions))
    return np.mean([table[i, keys == keys[i]].mean() for i in range(len(keys))])


def in_bins(explanations, predictions, word):
    return fs.consistency(explanations, np.floor(np.asarray(predictions) / float(word.split(":")[1])).astype(int)).value


def in_batches(explanations, predictions, word):
    parts = [slice(start, start + 64) for start in range(0, len(predictions), 64)]
    sizes = [len(predictions[part]) for part in parts]
    return np.average([consistent(explanations[part], predictions[part], word) for part in parts], weights=sizes)


def by_explanation(explanations, predictions, word):
    keys, y = np.asarray(explanations), np.asarray(predictions)
    return np.mean([consistent(keys[keys == key], y[keys == key], word) for key in np.unique(keys)])


def biased(explanations, predictions, word):
    n = len(predictions)
    return 1 - (1 - consistent(explanations, predictions, word)) * n / (n - 1)


def uncentered(explanations, predictions, word):
    keys, y = np.asarray(explanations), np.asarray(predictions, np.float64)

    def variance(part):
        return (np.sum(part**2) - np.sum(part) ** 2 / len(part)) / (len(part) - 1)

    with np.errstate(invalid="ignore"):
        return 1 - np.mean([variance(y[keys == key]) for key in keys]) / variance(y)


def standardized(explanations, predictions, word):
    return consistent(explanations, predictions / predictions.std(axis=0), word)


MISTAKES = {
    "two rows, a quarter of eps apart": in_bins,
    "groups of three and two, close": by_explanation,
    "far apart": lambda e, y, word: np.mean([1 - abs(a - b) for a in y for b in y if a is not b]),
    "whole numbers": lambda e, y, word: consistent(e, np.asarray(y) // 4 * 4.0, word),
    "a row is not its own witness": with_self,
    "far from 0, close": lambda e, y, word: consistent(e, np.asarray(y, np.float32), word),
    "rows in no order": in_batches,
    "exactly eps apart": lambda e, y, word: consistent(e, y, "tolerance:0.4999999"),
    "not transitive": lambda e, y, word: 1.0,
    "across a bin": in_bins,
    "signs": lambda e, y, word: consistent(e, np.abs(y), word),
    "two pairs, spread": biased,
    "a silent row": lambda e, y, word: fs.consistency(e, y, agreement=word).verified,
    "worse than chance": lambda e, y, word: max(0.0, consistent(e, y, word)),
    "far from 0, spread": uncentered,
    "outputs in different units": standardized,
}


@pytest.mark.parametrize("name", MISTAKES)
def test_each_case_catches_its_mistake(name):
    conformance = check_consistency_of_numbers(MISTAKES[name], [BY_NAME[name]])
    assert not conformance.conforms
    assert conformance.verdicts[0].answered is not None, "the mistake gives an answer"
    assert BY_NAME[name].catches in str(conformance)
