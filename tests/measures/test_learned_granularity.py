"""Discretizers that learn, where several explain the same rows: from one half of the rows, compared on the other."""

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.sample import Sample

WORDS = ["not the same", "a kind of", "could be", "at once", "outside", "asleep"]


def drawn(n, seed):
    rng = default_rng(seed)
    return fs.Reasons([f"row {j} is {WORDS[place]}" for j, place in enumerate(rng.integers(0, len(WORDS), n))])


PEOPLE = [drawn(40, seed) for seed in range(3)]
NAMED = dict(zip("ab", PEOPLE, strict=False))


def by_hand(people, clusters=None):
    """The rows of one half, and whether people give them the same phrases, which were learned from the other."""
    looked, measured = Sample.of(people[0], np.zeros(40), clusters=clusters).half_places(0)
    texts = [text for person in people for text in person.texts[looked]]
    phrases = fs.CommonPhrases(5).learned_from(fs.Reasons(texts))
    sets = [phrases(person.take(measured)).values for person in people]
    pairs = [(a, b) for number, a in enumerate(sets) for b in sets[number + 1 :]]
    return measured.tolist(), np.mean([[x == y for x, y in zip(a, b, strict=True)] for a, b in pairs])


@pytest.mark.parametrize("clusters", [None, np.arange(40) // 4], ids=["rows", "clusters"])
def test_repeatability_by_common_phrases_is_that_of_phrases_learned_on_the_other_half(clusters):
    measured, expected = by_hand(PEOPLE, clusters)
    repeated = fs.repeatability(PEOPLE, discretizer=fs.CommonPhrases(5), clusters=clusters)
    assert (repeated.value, repeated.n) == (pytest.approx(expected), 20)
    assert any("learned from 20 other rows" in note for note in repeated.notes)
    assert set(repeated.table(40)["row"]) <= set(measured)


def test_people_who_write_the_same_agree_on_every_row_whatever_is_learned():
    same = dict.fromkeys("ab", fs.Reasons(PEOPLE[0].texts, inputs=PEOPLE[0].texts))
    agreement = fs.explainer_agreement(same, discretizer=fs.Template() | fs.CommonPhrases(3))
    assert agreement.table()["same"].tolist() == [1.0]


def test_rows_of_weight_zero_neither_teach_nor_count():
    more = [fs.Reasons([*person.texts, *drawn(10, 7).texts]) for person in PEOPLE]
    weighted = fs.repeatability(more, discretizer=fs.CommonPhrases(5), weights=np.arange(50) < 40)
    assert weighted.value == pytest.approx(fs.repeatability(PEOPLE, discretizer=fs.CommonPhrases(5)).value)


def test_other_kinds_are_left_as_they_are_beside_reasons():
    agreement = fs.explainer_agreement({**NAMED, "c": np.eye(40)}, discretizer=fs.CommonPhrases(5))
    assert any("c is compared as it is" in note for note in agreement.notes)
