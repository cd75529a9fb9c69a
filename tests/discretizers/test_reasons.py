"""Templates, common phrases and clusters: reasons made coarser."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.discretizers.reasons.clusters import _means
from faithscope.discretizers.reasons.words import label_phrases
from faithscope.errors import BadInput, NotProven, WrongType
from faithscope.readers import as_explanations
from refused import refused

TEXTS = ["A man sleeps, so it is a contradiction.", "A DOG runs so it is a contradiction", "Nobody knows."]
INPUTS = ["The man sleeps.", "a dog runs", "Somebody knows"]
LABELS = ["contradiction", "contradiction", "neutral"]


def test_a_template_blanks_words_of_the_input_and_labels():
    reasons = fs.Reasons(TEXTS, INPUTS)
    blanked = "a <input> so it is a <label>"
    assert fs.Template(LABELS)(reasons).texts.tolist() == [blanked, blanked, "nobody <input>"]
    assert fs.Template()(reasons).texts[0] == "a <input> so it is a contradiction"
    refused(BadInput, "3 of 3 reasons come without their inputs", fs.Template(), fs.Reasons(TEXTS))


def test_a_measure_tells_a_template_which_labels_there_are():
    reasons = fs.Reasons(TEXTS * 4, INPUTS * 4)
    ev = fs.evaluate(LABELS * 4, reasons, np.arange(12.0)[:, None], discretizer=fs.Template())
    assert ev.explanations.describe(0) == "a <input> so it is a <label>"
    decoder = fs.OptimalDecoder(discretizer=fs.Template()).fit(fs.Reasons(TEXTS, INPUTS), LABELS)
    asked = fs.Reasons(["A cat is a CONTRADICTION", "A cat so it is a contradiction"], ["cat", "cat"])
    assert decoder.predict(asked).tolist() == [None, "contradiction"]
    equal = fs.Reasons(["it is neutral"] * 2, ["x"] * 2)
    assert fs.consistency(equal, LABELS[1:], discretizer=fs.Template()).distinct == 1, "no single label counts"


def test_certify_keeps_templates_apart():
    reasons = fs.Reasons(TEXTS, INPUTS)
    told = r"read x besides its explanation \(Template"
    refused(NotProven, told, fs.certify, reasons, LABELS, [None, fs.Template()])
    assert "templates" in fs.certify(reasons, LABELS, fs.Template() | fs.Codebook({"man": "man"})).subject


def test_labels_have_words_and_numbers_have_none():
    assert label_phrases(["Very Positive", "not good", 1, 0.5, True, None, "3", "<", "not good 2"]) == (
        *("good", "not good", "not good 2", "positive", "true", "very positive"),
    )


def test_discretizers_of_reasons_take_texts_and_refuse_the_rest():
    for discretizer in (fs.Template(), fs.Codebook({"a": "a"}), fs.CommonPhrases(2)):
        for given in (fs.Importances([[1.0]]), fs.Highlights([{"a"}]), as_explanations([1, 2])):
            refused(WrongType, r"discretizes reasons in words.*fs.Reasons\(texts\)", discretizer, given)
    texts = fs.consistency(["a b", "b", "a"], [0, 1, 0], discretizer=fs.Codebook({"a": "a"}))
    assert texts.value == pytest.approx(2 / 3)


def test_common_phrases_are_learned_on_one_half_and_measured_on_the_other():
    rng = default_rng(0)
    outside, X, phrases = rng.random(400) < 0.5, np.arange(400.0)[:, None], fs.CommonPhrases(2, seed=5)
    words = np.where(outside, "He is outside", "She stays at home")
    reasons = fs.Reasons([f"{said} {number}" for said, number in zip(words, rng.permutation(400), strict=True)])
    ev = fs.evaluate(outside, reasons, X, discretizer=phrases)
    looked = np.setdiff1d(np.arange(400), ev.rows)
    assert ev.discretizer == repr(phrases.learned_from(reasons.take(looked)))
    cmp = fs.compare(outside, {"words": reasons, "phi": fs.Importances(X)}, X, discretizer=phrases)
    alone = fs.consistency(reasons, outside, discretizer=phrases)
    chained = fs.consistency(reasons, outside, discretizer=fs.discretizers.Original() | phrases)
    for estimate in (alone, chained, ev.consistency, cmp["words"].consistency):
        assert (estimate.n, estimate.distinct, estimate.value) == (200, 2, 1.0)
        assert estimate.interval == alone.interval
        assert any("learned from 200 other rows" in note for note in estimate.notes)
    other = cmp["phi"].consistency
    assert (other.distinct, any("learned" in note for note in other.notes)) == (other.n, False), "stays as it is"
    best = fs.evaluate(outside, reasons, X, discretizer=fs.Best([None, fs.CommonPhrases(2)]))
    assert best.discretizer.startswith("Phrases(")
    refused(BadInput, "must first learn phrases", phrases, reasons)


def test_phrases_of_templates_keep_their_marks():
    reasons = fs.Reasons(["a dog barks", "a cat purrs", "no dog", "no cat"] * 5, ["dog barks", "cat purrs"] * 10)
    learned = fs.CommonPhrases(9).learned_from(fs.Template()(reasons))
    assert "no <input>" in learned.phrases
    assert fs.Phrases(list(learned.phrases)) == learned
    values = learned(fs.Template()(reasons)).values
    assert all("<input>" in names for names in values)
    assert len({*values}) == 2


def test_phrases_of_stop_words_alone_are_not_common():
    learned = fs.CommonPhrases(9).learned_from(fs.Reasons(["it is the dog", "it is the cat"] * 2))
    assert learned.phrases[0] == "it is the cat"
    stop_words = fs.Reasons(["it is the", "and so"])
    refused(BadInput, "no phrase but stop words", fs.CommonPhrases(3).learned_from, stop_words)
    refused(BadInput, "number of phrases", fs.CommonPhrases, 0)


def test_clusters_are_a_function_of_the_text_in_any_order():
    rng = default_rng(0)
    texts = np.array([f"reason {j % 40}" for j in range(200)])
    embeddings = rng.normal(size=(40, 5))[np.arange(200) % 40] + 0.01 * rng.normal(size=(200, 5))
    codes, shuffled = np.empty((2, 200), int)
    for found, order in ((codes, np.arange(200)), (shuffled, rng.permutation(200))):
        found[order] = fs.Clusters(embeddings[order], 7)(fs.Reasons(texts[order])).group()[0]
    for told, many in ((texts, 40), (shuffled, 7)):
        assert len(set(zip(codes, told, strict=True))) == len(set(told)) == many


def test_the_mean_of_equal_texts_is_the_same_to_the_last_bit_in_any_order():
    rng = default_rng(0)
    embeddings, text = np.zeros((300, 5)), np.arange(300) % 3
    embeddings[:, 3:] = rng.normal(size=(300, 2))  # alike in the first coordinates
    rows = np.bincount(text).astype(float)
    means = [_means(embeddings[order], text[order], rows) for order in (np.arange(300), rng.permutation(300))]
    assert means[0].tobytes() == means[1].tobytes()


def test_clusters_need_the_embeddings_of_these_reasons():
    reasons = fs.Reasons(pd.Series(TEXTS, index=[1, 2, 3]))
    embeddings = pd.DataFrame({"x": [0.0, 1.0, 9.0]}, index=[1, 2, 3])
    assert len(fs.Clusters(embeddings, 2)(reasons).group()[1]) == 2
    assert len(fs.Clusters([[1.0]] * 3, 2)(reasons).group()[1]) == 1
    refused(BadInput, "row labels of embeddings in another order", fs.Clusters(embeddings[::-1], 2), reasons)
    refused(BadInput, "embeddings of 2 reasons, but there are 3 here", fs.Clusters([[0.0], [1.0]], 2), reasons)
    refused(BadInput, "Embeddings.*row 1", fs.Clusters, [[0.0], [np.nan]], 2)
    refused(BadInput, "number of clusters", fs.Clusters, [[0.0], [1.0]], 0)
