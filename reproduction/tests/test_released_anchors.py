"""The stand-in for anchor-exp 0.0.2.0: its start, its search, its anchors beside the package's."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from faithscope.errors import BadInput
from faithscope_reproduction.authors.released_anchors import (
    MaskedWords,
    ReleasedAnchors,
    ReleasedTextAnchors,
    anchors_of,
)
from refused import refused

THRESHOLDS = (0.95, 0.7, 0.5)
WORTHS = {
    "great": 3.0,
    "good": 1.0,
    "dull": -2.0,
    "bad": -1.0,
    "slow": -0.6,
    "UNK": 0.07,
}  # no sum is 0, whatever is masked
TEXTS = [
    "a good film with a great plot",
    "good actor bad scene dull plot slow film good good",
    "the film",
    "slow slow good the a great bad dull dull plot",
    "bad",
]


class Judge:
    """Adds up what words are worth."""

    intercept = -0.31

    @staticmethod
    def worth(word):
        return WORTHS.get(word, 0.0)

    @staticmethod
    def label(sums):
        return (np.asarray(sums) > 0).astype(int)

    def predict(self, texts):
        return self.label([self.intercept + sum(map(self.worth, text.split())) for text in texts])


class Corner:
    """Two columns and a half decide."""

    @staticmethod
    def predict(X):
        return ((X[:, 0] > 0) & (X[:, 1] + 0.4 * X[:, 2] > -0.3)).astype(int)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    return np.column_stack([rng.normal(size=(400, 3)), rng.integers(0, 2, 400)]).round(2)


def of_text(text, times=1, seed=0):
    return MaskedWords(Judge(), [text.split()] * times, np.random.default_rng(seed))


def searched_by_the_package(draws, threshold):
    """The anchor that the package's own search chooses, with draws of a line."""
    beam, width = pytest.importorskip("anchor.anchor_base").AnchorBaseBeam.anchor_beam, int(draws.many[0])

    def sample(present, count, compute_labels=True):
        if not compute_labels:  # coverage, which plays no part with a beam of 1
            return None, np.ones((1, width), int), None
        held = np.isin(np.arange(width), list(present))
        met, agree = draws.draw(np.zeros(1, int), held[None], count)
        return np.zeros((count, 1)), met[0].astype(int), agree[0].astype(int)

    anchor = beam(sample, delta=0.1, epsilon=0.15, batch_size=draws.batch, desired_confidence=threshold)
    return frozenset(map(int, anchor["feature"]))


def alike(ours, package):
    """Whether two samples may well have one distribution: a test at the level 0.0001; rare outcomes are joined."""
    common = {outcome for outcome, count in Counter(package).items() if count >= 4}
    counts = [Counter(outcome if outcome in common else "rare" for outcome in given) for given in (ours, package)]
    outcomes = sorted(set().union(*counts), key=str)
    if len(outcomes) == 1:
        return True
    return chi2_contingency([[count[outcome] for outcome in outcomes] for count in counts]).pvalue > 1e-4


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_texts_get_anchors_as_often_as_the_packages_search_gives_them(threshold):
    for text in TEXTS[:2]:
        package = [searched_by_the_package(of_text(text, seed=seed), threshold) for seed in range(60)]
        found = anchors_of(of_text(text, 400), threshold)
        ours = [frozenset(np.flatnonzero(anchor).tolist()) for anchor in found]
        for seen in (bool, len, frozenset):
            assert alike(list(map(seen, ours)), list(map(seen, package)))


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_rows_get_anchors_as_often_as_the_package_gives_them(threshold, table):
    np.random.seed(0)  # noqa: NPY002, the package draws from NumPy's global state
    tables = pytest.importorskip("anchor.anchor_tabular")
    explainer = tables.AnchorTabularExplainer(["0", "1"], list("abcd"), table.copy())
    for row in table[:3]:
        explained = [explainer.explain_instance(row, Corner.predict, threshold=threshold) for _ in range(25)]
        given = ReleasedAnchors(Corner(), table, list("abcd"), threshold).explain(np.tile(row, (400, 1)))
        ours = [frozenset("abcd".index(name) for name, *_ in rule) for rule in given.to_conditions()]
        package = [frozenset(each.features()) for each in explained]
        for seen in (bool, len, frozenset):
            assert alike(list(map(seen, ours)), list(map(seen, package)))


def test_rows_alike_are_drawn_for_anew_a_call_can_be_repeated_and_anchors_hold(table):
    anchors = ReleasedAnchors(Corner(), table, list("abcd"), 0.7)
    repeated = anchors.explain(np.tile(table[1], (200, 1))).to_conditions()
    assert len({frozenset(rule) for rule in repeated}) > 1
    whole = anchors.explain(table[:30]).to_conditions()
    assert anchors.explain(table[:30]).to_conditions() == whole
    for row, conditions in zip(table, whole, strict=False):
        for name, way, value in conditions:
            assert (row["abcd".index(name)] > value) == (way == ">")


def test_a_row_beyond_all_known_ones_is_refused(table):
    constant = np.column_stack([table, np.zeros(len(table))])
    words, beyond = "explain rows that are among the known ones", [[0.0, 0.0, 0.0, 0.0, 1.0]]
    refused(BadInput, words, ReleasedAnchors(Corner(), constant, list("abcde"), 0.7).explain, beyond)


def test_no_rows_and_texts_without_words_are_explained():
    given = ReleasedTextAnchors(Judge(), 0.95).explain(["", "great film"])
    assert given.item(0) == frozenset()
    assert len(ReleasedTextAnchors(Judge(), 0.95).explain([])) == 0


def test_masked_words_are_judged_as_the_masked_text_is_and_half_of_them_are_masked():
    every = []
    for text in TEXTS:
        words = text.split()
        (met,), (agree,) = of_text(text).draw(np.zeros(1, int), np.zeros((1, len(words)), bool), 50)
        masked = [" ".join(w if kept else "UNK" for w, kept in zip(words, draw, strict=True)) for draw in met]
        assert ((Judge().predict(masked) == Judge().predict([text])) == agree).all()
        every.extend(met.ravel())
    assert np.mean(every) == pytest.approx(0.5, abs=0.08)
