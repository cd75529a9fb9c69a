"""Discretizers that learn, where several explain the same rows: from one half of the rows, compared on the other."""

import numpy as np
import pytest

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.sample import Sample

WORDS = ["not the same", "a kind of", "could be", "at once", "outside", "asleep"]


def drawn(n, seed):
    rng = np.random.default_rng(seed)
    return fs.Reasons([f"row {j} is {WORDS[place]}" for j, place in enumerate(rng.integers(0, len(WORDS), n))])


def by_hand(people, k, clusters=None):
    """The phrases of all people on one half of the rows, and their sets of phrases on the other."""
    looked, measured = Sample.of(people[0], np.zeros(len(people[0])), clusters=clusters).half_places(0)
    texts = [text for person in people for text in person.texts[looked]]
    phrases = fs.CommonPhrases(k).learned_from(fs.Reasons(texts))
    return measured, [[tuple(sorted(item)) for item in phrases(person.take(measured)).values] for person in people]


@pytest.mark.parametrize("clustered", [False, True])
def test_repeatability_by_common_phrases_is_that_of_phrases_learned_on_the_other_half(clustered):
    people, clusters = [drawn(40, seed) for seed in range(3)], np.arange(40) // 4 if clustered else None
    measured, sets = by_hand(people, 5, clusters)
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = np.mean([[sets[a][row] == sets[b][row] for row in range(len(measured))] for a, b in pairs])
    repeated = fs.repeatability(people, discretizer=fs.CommonPhrases(5), clusters=clusters)
    assert repeated.value == pytest.approx(expected)
    assert repeated.n == len(measured) == 20
    assert any("learned from 20 other rows" in note for note in repeated.notes)
    assert set(repeated.table(40)["row"]) <= set(measured.tolist())


def test_agreement_by_common_phrases_is_that_of_phrases_learned_on_the_other_half():
    people = [drawn(40, seed) for seed in range(2)]
    _, (first, second) = by_hand(people, 5)
    named = dict(zip("ab", people, strict=True))
    expected = np.mean([a == b for a, b in zip(first, second, strict=True)])
    for chosen in (fs.CommonPhrases(5), dict.fromkeys("ab", fs.CommonPhrases(5))):
        agreement = fs.explainer_agreement(named, discretizer=chosen)
        assert agreement.table()["same"].tolist() == pytest.approx([expected])
        assert agreement.n == 20
        assert any("learned from 20 other rows" in note for note in agreement.notes)


def test_the_order_of_people_does_not_matter():
    people = [drawn(60, seed) for seed in range(3)]
    forth, back = (fs.repeatability(runs, discretizer=fs.CommonPhrases(4)) for runs in (people, people[::-1]))
    assert (forth.value, forth.distinct) == (back.value, back.distinct)


def test_people_who_write_the_same_agree_on_every_row_whatever_is_learned():
    reasons = drawn(40, 0)
    assert fs.repeatability([reasons, reasons], discretizer=fs.CommonPhrases(3)).value == 1
    about = fs.Reasons(reasons.texts, inputs=reasons.texts)
    chained = fs.Template() | fs.CommonPhrases(3)
    agreement = fs.explainer_agreement({"a": about, "b": about}, discretizer=chained)
    assert agreement.table()["same"].tolist() == [1.0]


def test_a_comparison_agrees_by_common_phrases_as_its_explanations_do():
    people = {"a": drawn(40, 0), "b": drawn(40, 1)}
    comparison = fs.compare(np.arange(40) % 2, people, np.arange(40.0)[:, None], progress=False)
    agreement = comparison.agreement(fs.CommonPhrases(5))
    apart = fs.explainer_agreement(people, discretizer=fs.CommonPhrases(5))
    assert agreement.table()["same"].tolist() == apart.table()["same"].tolist()
    assert agreement.n == 20
    assert comparison.agreement().n == 40


def test_rows_of_weight_zero_neither_teach_nor_count():
    people = [drawn(50, seed) for seed in range(2)]
    weights = np.repeat([1.0, 0.0], [40, 10])
    kept = [fs.Reasons(person.texts[:40]) for person in people]
    weighted = fs.repeatability(people, discretizer=fs.CommonPhrases(5), weights=weights)
    assert weighted.value == pytest.approx(fs.repeatability(kept, discretizer=fs.CommonPhrases(5)).value)


def test_other_kinds_are_refused_and_left_as_they_are_beside_reasons():
    importances = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(WrongType, match="discretizes reasons"):
        fs.explainer_agreement({"a": importances, "b": importances}, discretizer=fs.CommonPhrases(5))
    named = {"a": drawn(40, 0), "b": drawn(40, 1), "c": importances}
    agreement = fs.explainer_agreement(named, discretizer=fs.CommonPhrases(5))
    assert any("c is compared as it is" in note for note in agreement.notes)
    with pytest.raises(WrongType, match="discretizes reasons"):
        fs.repeatability([importances, importances], discretizer=fs.CommonPhrases(5))


def test_too_few_rows_to_learn_from_are_refused():
    with pytest.raises(BadInput, match="at least 4 of them; got 3"):
        fs.repeatability([["a", "b", "c"], ["a", "b", "d"]], discretizer=fs.CommonPhrases(2))
