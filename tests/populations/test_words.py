"""Masked documents, and DeYoung's comprehensiveness and sufficiency as special cases."""

import numpy as np
import pytest

import faithscope as fs

TEXTS = ["a great great film", "a dull plot and a dull cast", "great plot"]
WORDS = fs.Highlights([{"great"}, {"dull", "plot"}, {"great"}])
ALONE, REMOVED = ["great great", "dull plot dull", "great"], ["a film", "a and a cast", "plot"]


def test_highlighted_words_stay_and_all_occurrences_of_a_word_go_together():
    drawn = fs.Perturbed(draws=300).draw(WORDS, TEXTS)
    kept = []
    for text, row in zip(drawn.rows, drawn.of, strict=True):
        original, words = TEXTS[row].split(), text.split()
        becomes = dict(zip(original, words, strict=True))
        assert [becomes[word] for word in original] == words
        assert all(new in (old, "UNK") for old, new in becomes.items())
        assert all(becomes[word] == word for word in WORDS.item(row))
        kept.append(becomes.get("film", "") == "film")
    assert 0.4 < np.mean(np.array(kept)[drawn.of == 0]) < 0.6


def test_at_keep_0_highlighted_words_are_alone_and_at_1_the_document_is_whole():
    alone = fs.Perturbed(draws=1, keep=0, unknown=None).draw(WORDS, TEXTS)
    assert alone.rows == ALONE
    assert fs.Perturbed(draws=1, keep=1).draw(WORDS, TEXTS).rows == TEXTS


def test_a_document_without_its_highlighted_words_leaves_no_draw():
    words = fs.Highlights([{"great"}, {"absent"}])
    measured = fs.sufficiency(
        words, lambda texts: ["great" in text for text in texts], TEXTS[:2], population=fs.Perturbed()
    )
    assert (measured.unverifiable, measured.verified) == (0.5, 1)


def probability(texts):
    """Of each class: softmax of counted words."""
    votes = np.array([[text.split().count("great"), text.split().count("dull") + 0.3] for text in texts], float)
    return np.exp(votes) / np.exp(votes).sum(axis=1, keepdims=True)


def test_the_drops_are_comprehensiveness_and_sufficiency_of_deyoung():
    """ERASER (DeYoung et al. 2020): m(x)_j - m(x without r)_j, and m(x)_j - m(r)_j, j the predicted class.

    By their published definition, which is ferret's for one threshold: it removes, or keeps alone, the tokens of the
    rationale. Ferret itself is not among the libraries that tests install.
    """
    full = probability(TEXTS)
    label, every = full.argmax(axis=1), np.arange(3)
    for erased, covered in ((REMOVED, False), (ALONE, True)):
        expected = [full[i, label[i]] - probability([erased[i]])[0, label[i]] for i in range(3)]
        told = fs.drawn(WORDS, erased, probability(erased)[every, label], only_covered=covered)
        measured = fs.sufficiency(WORDS, full[every, label], population=told, agreement=fs.Close(1.0))
        assert measured.drop == pytest.approx(np.mean(expected))
        assert measured.drop_low < measured.drop < measured.drop_high
        # Close(1) is 1 less the size of the drop.
        assert measured.value == pytest.approx(1 - np.mean(np.abs(expected)))
        assert measured.to_dict()["drop"] == measured.drop


def test_what_is_shown_tells_apart_populations_that_mask_differently():
    shown = {repr(fs.Perturbed(keep=keep, unknown=unknown)) for keep in (0.5, 0.0) for unknown in ("UNK", None)}
    assert len(shown) == 4
    assert "Perturbed(draws=100, seed=0)" in shown
