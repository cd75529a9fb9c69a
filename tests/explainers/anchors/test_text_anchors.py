"""Anchors of texts."""

import numpy as np
import pytest
from numpy.random import default_rng

from explainers.systems import assert_refused, opinion, reviews
from faithscope.agreements import Tolerance
from faithscope.errors import BadInput, WrongType
from faithscope.explainers import TextAnchors


def is_great(texts):
    assert texts
    assert all(isinstance(text, str) for text in texts)
    return np.array(["great" in text.split() for text in texts])


def items(highlights):
    return [highlights.item(row) for row in range(len(highlights))]


def fresh_precision(text, words, draws=1000):
    """The definition, drawn anew: words that are not in the set are masked with probability 1/2."""
    chance, different = default_rng(1), list(dict.fromkeys(text.split()))
    masked = []
    for _ in range(draws):
        kept = {word for word in different if word in words or chance.random() < 0.5}
        masked.append(" ".join(word if word in kept else "UNK" for word in text.split()))
    return np.mean(opinion(masked) == opinion([text])[0])


LONG = " ".join(f"filler{j}" for j in range(70)) + " great"


def both(texts):
    return [{"not", "bad"} <= set(text.split()) for text in texts]


@pytest.mark.parametrize(
    ("predict", "words"),
    [
        (is_great, {"a great film": {"great"}, "great": {"great"}, LONG: {"great"}, "great great": {"great"}}),
        (is_great, {"a dull plot": set(), "dull": set()}),  # predicted so whatever is masked
        (is_great, {"": set(), "a great film": {"great"}, " ": set()}),
        (both, {"this was not at all bad to see": {"not", "bad"}}),
    ],
)
def test_the_words_that_decide_are_found(predict, words):
    for beam in (1, 4):
        highlights = TextAnchors(predict, beam=beam).explain(list(words))
        assert items(highlights) == list(words.values())
        assert (highlights.claimed["precision"] == 1).all()


def test_words_keep_what_is_predicted_by_draws_of_ones_own_and_weigh_in_its_favor():
    texts, linear, vectorizer = reviews()
    highlights = TextAnchors(opinion, threshold=0.9, beam=2).explain(texts[:30])
    brute = np.array([fresh_precision(text, highlights.item(row)) for row, text in enumerate(texts[:30])])
    assert np.abs(highlights.claimed["precision"] - brute).max() < 0.12
    assert np.mean(brute >= 0.85) >= 0.9
    for words, text, liked in zip(items(highlights), texts, opinion(texts[:30]), strict=False):
        assert words <= set(text.split())
        weights = [linear.coef_[0, vectorizer.vocabulary_[word]] for word in words]
        assert all(weight * (1 if liked else -1) > 0 for weight in weights)


def test_masked_words_become_unknown_and_all_occurrences_of_a_word_go_together():
    text, seen = "good day to you and a good night", []

    def model(texts):
        seen.extend(texts)
        return [text.startswith("good") for text in texts]

    TextAnchors(model, unknown="[MASK]").explain([text])
    assert len(seen) > 20
    for masked in seen:
        words = masked.split()
        assert all(word in (own, "[MASK]") for word, own in zip(words, text.split(), strict=True))
        assert (words[0] == "good") == (words[6] == "good")
    assert len(set(seen)) == len(seen) - seen.count(text) + 1  # none is asked twice


def test_of_texts_without_words_the_model_is_not_asked_though_progress_is_told():
    told = []
    assert items(TextAnchors(is_great).explain(["", "  "], progress=lambda *call: told.append(call))) == [set(), set()]
    assert told[-1] == (2, 2)


def test_texts_keep_their_number_within_eps():
    worth = {"great": 3.0, "good": 2.5, "dull": -3.0}

    def mood(texts):
        return np.array([sum(worth.get(word, 0.0) for word in text.split()) for text in texts])

    texts = ["a great film", "a great and good film", "dull", "a film"]
    near, middle, far = (items(TextAnchors(mood, agreement=Tolerance(eps)).explain(texts)) for eps in (1.0, 2.75, 9.0))
    assert near == [{"great"}, {"great", "good"}, {"dull"}, set()]
    assert middle[1] == {"great"}, "without good it lies within 2.75"
    assert far == [set()] * 4


def test_bad_input_is_refused_in_a_sentence():
    texts = reviews()[0][:30]
    assert_refused(
        {
            WrongType: [
                (lambda: TextAnchors(is_great).explain(["great", 3]), "row 1"),
                (lambda: TextAnchors(is_great, tokenizer=" "), "tokenizer"),
            ],
            BadInput: [
                (lambda: TextAnchors(lambda texts: np.linspace(0.1, 0.9, len(texts))).explain(texts), "continuous"),
                (lambda: TextAnchors(lambda texts: [1]).explain(["a b", "c"]), "pass one of each per row"),
                (lambda: TextAnchors(is_great, threshold=2), "threshold"),
            ],
        }
    )
