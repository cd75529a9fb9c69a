"""Templates, common phrases and clusters: reasons made coarser."""

import time

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.discretizers.reasons.words import label_phrases
from faithscope.errors import BadInput, NotProven, WrongType

TEXTS = ["A man sleeps, so it is a contradiction.", "A DOG runs so it is a contradiction", "Nobody knows."]
INPUTS = ["The man sleeps.", "a dog runs", "Somebody knows"]
LABELS = ["contradiction", "contradiction", "neutral"]


def test_a_template_blanks_words_of_the_input_and_labels():
    templates = fs.Template(LABELS)(fs.Reasons(TEXTS, INPUTS))
    assert templates.texts.tolist() == [
        "a <input> so it is a <label>",
        "a <input> so it is a <label>",
        "nobody <input>",
    ]
    assert fs.Template()(fs.Reasons(TEXTS, INPUTS)).texts[0] == "a <input> so it is a contradiction"


def test_a_measure_tells_a_template_which_labels_there_are():
    ev = fs.evaluate(LABELS * 4, fs.Reasons(TEXTS * 4, INPUTS * 4), np.arange(12.0)[:, None], discretizer=fs.Template())
    assert ev.explanations.describe(0) == "a <input> so it is a <label>"
    assert ev.consistency.value == pytest.approx(fs.consistency(fs.Reasons(TEXTS * 4, INPUTS * 4), LABELS * 4).value)
    decoder = fs.OptimalDecoder(discretizer=fs.Template()).fit(fs.Reasons(TEXTS, INPUTS), LABELS)
    assert decoder.predict(fs.Reasons(["A cat is a CONTRADICTION"], ["cat"])).tolist() == [None]
    assert decoder.predict(fs.Reasons(["A cat so it is a contradiction"], ["cat"])).tolist() == ["contradiction"]


def test_a_template_depends_on_no_single_label():
    reasons = fs.Reasons(["it is neutral"] * 2, ["x"] * 2)
    assert len(fs.consistency(reasons, LABELS[1:], discretizer=fs.Template()).counts.explanations) == 1


def test_templates_need_inputs():
    with pytest.raises(BadInput, match="3 of 3 reasons come without their inputs"):
        fs.Template()(fs.Reasons(TEXTS))


def test_certify_keeps_templates_apart():
    reasons = fs.Reasons(TEXTS, INPUTS)
    with pytest.raises(NotProven, match=r"read x besides its explanation \(Template"):
        fs.certify(reasons, LABELS, [None, fs.Template()])
    assert "templates" in fs.certify(reasons, LABELS, fs.Template() | fs.Codebook({"man": "man"})).subject


def test_labels_have_words_and_numbers_have_none():
    assert label_phrases(["Very Positive", "not good", 1, 0.5, True, None, "3", "<", "not good 2"]) == (
        *("good", "not good", "not good 2", "positive", "true", "very positive"),
    )


@pytest.mark.parametrize("discretizer", [fs.Template(), fs.Codebook({"a": "a"}), fs.CommonPhrases(2)])
def test_discretizers_of_reasons_take_texts_and_refuse_the_rest(discretizer):
    for given in (fs.Importances([[1.0]]), fs.Highlights([{"a"}]), fs.readers.as_explanations([1, 2])):
        with pytest.raises(WrongType, match=r"discretizes reasons in words.*fs.Reasons\(texts\)"):
            discretizer(given)
    if isinstance(discretizer, fs.Codebook):
        assert fs.consistency(["a b", "b", "a"], [0, 1, 0], discretizer=discretizer).value == pytest.approx(2 / 3)


def test_common_phrases_are_learned_on_one_half_and_measured_on_the_other():
    rng = np.random.default_rng(0)
    outside = rng.random(400) < 0.5
    words = ["He is outside" if place else "She stays at home" for place in outside]
    texts = [f"{said} {number}" for said, number in zip(words, rng.permutation(400), strict=True)]
    reasons = fs.Reasons(texts)
    estimate = fs.consistency(reasons, outside, discretizer=fs.CommonPhrases(2))
    assert (estimate.n, estimate.distinct, estimate.value) == (200, 2, 1.0)
    assert any("learned from 200 other rows" in note for note in estimate.notes)
    ev = fs.evaluate(outside, reasons, np.arange(400.0)[:, None], discretizer=fs.CommonPhrases(2), progress=False)
    looked = np.setdiff1d(np.arange(400), ev.rows)
    assert ev.discretizer == repr(fs.CommonPhrases(2).learned_from(reasons.take(looked)))
    assert ev.consistency.n == 200
    assert any("learned from 200 other rows" in note for note in ev.consistency.notes)
    cmp = fs.compare(outside, {"words": reasons}, np.arange(400.0)[:, None], discretizer=fs.CommonPhrases(2))
    assert cmp["words"].consistency.value == 1.0
    best = fs.evaluate(outside, reasons, np.arange(400.0)[:, None], discretizer=fs.Best([None, fs.CommonPhrases(2)]))
    assert best.discretizer.startswith("Phrases(")
    with pytest.raises(BadInput, match="must first learn phrases"):
        fs.CommonPhrases(2)(reasons)


def test_phrases_of_templates_keep_their_marks():
    reasons = fs.Reasons(["a dog barks", "a cat purrs", "no dog", "no cat"] * 5, ["dog barks", "cat purrs"] * 10)
    learned = fs.CommonPhrases(9).learned_from(fs.Template()(reasons))
    assert "no <input>" in learned.phrases
    assert fs.Phrases(list(learned.phrases)) == learned
    values = learned(fs.Template()(reasons)).values
    assert all("<input>" in names for names in values)
    assert len({*values}) == 2


def test_a_chain_learns_on_the_halves_of_its_own_seed():
    texts = [f"word{j % 7} thing{j % 11}" for j in range(60)]
    labels = [j % 3 for j in range(60)]
    phrases = fs.CommonPhrases(4, seed=5)
    alone, chained = (
        fs.consistency(fs.Reasons(texts), labels, discretizer=chosen)
        for chosen in (phrases, fs.discretizers.Original() | phrases)
    )
    assert (alone.value, alone.interval) == (chained.value, chained.interval)


def test_common_phrases_leave_explanations_of_other_kinds_as_they_are():
    reasons = fs.Reasons(["a dog", "a cat"] * 10)
    explainers = {"words": reasons, "phi": fs.Importances([[1.0], [2.0]] * 10)}
    cmp = fs.compare([0, 1] * 10, explainers, np.arange(20.0)[:, None], discretizer=fs.CommonPhrases(2))
    assert (cmp["words"].consistency.value, cmp["phi"].consistency.value) == (1.0, 1.0)
    assert [any("learned" in note for note in ev.consistency.notes) for ev in cmp.values()] == [True, False]


def test_the_order_of_rows_does_not_change_what_is_learned():
    texts = ["he is outside", "she is not outside", "nobody is not here", "it is not outside"] * 3
    order = np.random.default_rng(1).permutation(len(texts))
    learned = [fs.CommonPhrases(5).learned_from(fs.Reasons(np.array(texts)[rows])) for rows in (slice(None), order)]
    assert learned[0] == learned[1]
    assert learned[0].phrases[:2] == ("is not", "outside")


def test_phrases_of_stop_words_alone_are_not_common():
    assert (
        fs.CommonPhrases(9).learned_from(fs.Reasons(["it is the dog", "it is the cat"] * 2)).phrases[0]
        == "it is the cat"
    )
    with pytest.raises(BadInput, match="no phrase but stop words"):
        fs.CommonPhrases(3).learned_from(fs.Reasons(["it is the", "and so"]))
    for k in (0, -1, 1.5, None, 10**9):
        with pytest.raises(BadInput, match="number of phrases"):
            fs.CommonPhrases(k)


def test_clusters_are_a_function_of_the_text_in_any_order():
    rng = np.random.default_rng(0)
    texts = np.array([f"reason {j % 40}" for j in range(200)])
    embeddings = rng.normal(size=(40, 5))[np.arange(200) % 40] + 0.01 * rng.normal(size=(200, 5))
    codes = fs.Clusters(embeddings, 7)(fs.Reasons(texts)).group()[0]
    assert all(len(set(codes[texts == text])) == 1 for text in set(texts))
    order = rng.permutation(200)
    shuffled = fs.Clusters(embeddings[order], 7)(fs.Reasons(texts[order])).group()[0]
    pairs = {(codes[row], shuffled[place]) for place, row in enumerate(order)}
    assert len(pairs) == len(set(codes)) == 7


def test_clusters_need_the_embeddings_of_these_reasons():
    with pytest.raises(BadInput, match="embeddings of 2 reasons, but there are 3 here"):
        fs.Clusters([[0.0], [1.0]], 2)(fs.Reasons(TEXTS))
    with pytest.raises(BadInput, match=r"Embeddings.*row 1"):
        fs.Clusters([[0.0], [np.nan]], 2)
    for k in (0, 1.5, None):
        with pytest.raises(BadInput, match="number of clusters"):
            fs.Clusters([[0.0], [1.0]], k)
    assert len(fs.Clusters([[1.0]] * 3, 2)(fs.Reasons(TEXTS)).group()[1]) == 1


def test_embeddings_in_another_order_than_the_reasons_are_refused():
    reasons = fs.Reasons(pd.Series(TEXTS, index=[1, 2, 3]))
    embeddings = pd.DataFrame({"x": [0.0, 1.0, 9.0]}, index=[1, 2, 3])
    assert len(fs.Clusters(embeddings, 2)(reasons).group()[1]) == 2
    with pytest.raises(BadInput, match="row labels of embeddings in another order"):
        fs.Clusters(embeddings[::-1], 2)(reasons)


def test_embeddings_can_be_compared_by_distance():
    within = fs.within(fs.Importances([[0.0, 1.0], [0.1, 1.0], [5.0, 5.0]]), ["a", "a", "b"], 0.5)
    assert within.value == pytest.approx(2 / 3)


def test_discretizers_that_differ_read_differently():
    phrases = [fs.Phrases([f"{letter} {j}" for j in range(20)] + ["end"]) for letter in ("a", "a", "b")]
    long = [fs.Phrases([*"abcdefghijklmn", last]) for last in "xy"]
    clusters = [fs.Clusters(np.full((3, 2), value), 2) for value in (0.0, -0.0, 1.0)]
    assert repr(phrases[0]) == repr(phrases[1])
    assert repr(phrases[0]) != repr(phrases[2])
    assert repr(long[0]) != repr(long[1])
    assert repr(clusters[0]) == repr(clusters[1])
    assert repr(clusters[0]) != repr(clusters[2])


def test_many_phrases_take_no_longer_than_few():
    words = [f"w{j}" for j in range(400)]
    rng = np.random.default_rng(0)
    reasons = fs.Reasons([" ".join(rng.choice(words, 12)) for _ in range(3_000)])
    began = time.process_time()
    phrases = fs.CommonPhrases(10_000).learned_from(reasons)
    assert len(phrases.phrases) == 10_000
    padded = [f" {text} " for text in reasons.folded[:20]]
    for names, text in zip(phrases(reasons).values[:20], padded, strict=True):
        assert names == {phrase for phrase in phrases.phrases if f" {phrase} " in text}
    assert time.process_time() - began < 20
