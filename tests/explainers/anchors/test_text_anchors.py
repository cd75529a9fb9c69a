"""Anchors of texts."""

import pickle
import re

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.explainers.anchors.text import TextAnchors, _MaskedTexts

rng = np.random.default_rng(0)
WORDS = np.array([f"word{j}" for j in range(60)])
TEXTS = [" ".join(rng.choice(WORDS, rng.integers(3, 18))) for _ in range(600)]
WEIGHTS = dict(zip(WORDS, rng.normal(size=60) * (rng.random(60) < 0.4), strict=True))
VECTORIZER = CountVectorizer().fit(TEXTS)
OPINIONS = [sum(WEIGHTS[word] for word in text.split()) > 0 for text in TEXTS]
LINEAR = LogisticRegression(C=10).fit(VECTORIZER.transform(TEXTS), OPINIONS)


def opinion(texts):
    return LINEAR.predict(VECTORIZER.transform(texts))


def is_great(texts):
    assert texts
    assert all(isinstance(text, str) for text in texts)
    return np.array(["great" in text.split() for text in texts])


def items(highlights):
    return [highlights.item(row) for row in range(len(highlights))]


def fresh_precision(text, words, predict, draws=1000, seed=1):
    """The definition, drawn anew: words that are not in the set are masked with probability 1/2."""
    chance, different = np.random.default_rng(seed), list(dict.fromkeys(text.split()))
    masked = []
    for _ in range(draws):
        kept = {word for word in different if word in words or chance.random() < 0.5}
        masked.append(" ".join(word if word in kept else "UNK" for word in text.split()))
    return np.mean(predict(masked) == predict([text])[0])


def test_the_word_that_decides_is_found():
    highlights, precision, _ = TextAnchors(is_great).explain_with_precision(
        ["a great film", "great", "so great a plot"]
    )
    assert items(highlights) == [{"great"}] * 3
    assert (precision == 1).all()


def test_a_text_that_is_predicted_so_whatever_is_masked_needs_no_word():
    assert items(TextAnchors(is_great).explain(["a dull plot", "dull"])) == [set(), set()]


def test_two_words_that_decide_together_are_both_found():
    both = TextAnchors(lambda texts: [{"not", "bad"} <= set(text.split()) for text in texts])
    assert items(both.explain(["this was not at all bad to see"])) == [{"not", "bad"}]


@pytest.mark.slow
def test_precision_is_what_the_definition_gives_on_draws_of_ones_own():
    sample = TEXTS[:40]
    highlights, precision, _ = TextAnchors(opinion, threshold=0.9).explain_with_precision(sample)
    brute = np.array([fresh_precision(text, highlights.item(row), opinion) for row, text in enumerate(sample)])
    assert np.abs(precision - brute).max() < 0.07
    assert np.mean(brute >= 0.85) >= 0.9


@pytest.mark.slow
def test_words_are_those_that_weigh_in_favor():
    names = VECTORIZER.vocabulary_
    highlights = TextAnchors(opinion, beam=2).explain(TEXTS[:60])
    for row, liked in enumerate(opinion(TEXTS[:60])):
        weights = [LINEAR.coef_[0, names[word]] for word in highlights.item(row)]
        assert all(weight * (1 if liked else -1) > 0 for weight in weights)


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.slow
def test_words_are_the_same_alone_shuffled_and_together(beam):
    explainer, sample = TextAnchors(opinion, beam=beam), TEXTS[:16]
    together = items(explainer.explain(sample))
    order = np.random.default_rng(2).permutation(len(sample))
    assert items(explainer.explain([sample[row] for row in order])) == [together[row] for row in order]
    assert [items(explainer.explain([text]))[0] for text in sample[:5]] == together[:5]
    assert items(TextAnchors(opinion, beam=beam).explain(sample)) == together


@pytest.mark.slow
def test_other_seeds_draw_anew():
    precision = [TextAnchors(opinion, seed=seed).explain_with_precision(TEXTS[:10])[1].tolist() for seed in (0, 1, -7)]
    assert precision[0] != precision[1] != precision[2]


@pytest.mark.slow
def test_words_are_those_of_the_text_and_cover_it():
    highlights = TextAnchors(opinion).explain(TEXTS[:50])
    assert all(words <= set(text.split()) for words, text in zip(items(highlights), TEXTS, strict=False))
    assert fs.sufficiency(highlights, opinion(TEXTS[:50]), TEXTS[:50]).counts.missed.sum() == 0


@pytest.mark.slow
def test_a_higher_threshold_highlights_more_words_on_average():
    mean = [
        np.mean([*map(len, items(TextAnchors(opinion, threshold=threshold).explain(TEXTS[:40])))])
        for threshold in (0.6, 0.95)
    ]
    assert mean[0] < mean[1]


def test_masked_words_become_unknown_and_all_occurrences_of_a_word_go_together():
    seen = []

    def model(texts):
        seen.extend(texts)
        return [text.startswith("good") for text in texts]

    TextAnchors(model, unknown="[MASK]").explain(["good day to you and a good night"])
    assert len(seen) > 20
    for text in seen:
        words = text.split()
        assert len(words) == 8
        assert (words[0] == "good") == (words[6] == "good")
        assert set(words) <= {"good", "day", "to", "you", "and", "a", "night", "[MASK]"}
    assert len(set(seen)) == len(seen) - seen.count("good day to you and a good night") + 1  # none is asked twice


def test_texts_without_words_get_no_words_and_the_model_is_not_asked():
    def never(texts):
        raise AssertionError(texts)

    highlights, precision, _ = TextAnchors(never).explain_with_precision(["", "  "])
    assert items(highlights) == [set(), set()]
    assert (precision == 1).all()
    assert items(TextAnchors(is_great).explain(["", "a great film", " "])) == [set(), {"great"}, set()]


def test_no_texts_give_no_highlights():
    assert len(TextAnchors(is_great).explain([])) == 0


def test_a_text_of_one_word_works():
    assert items(TextAnchors(is_great, beam=1).explain(["great"])) == [{"great"}]


def test_a_long_text_among_short_ones_works():
    long = " ".join(f"filler{j}" for j in range(150)) + " great"
    assert items(TextAnchors(is_great, beam=1).explain(["a great film", long, "great great"])) == [{"great"}] * 3


def test_another_tokenizer_is_kept_for_the_highlights():
    words = re.compile(r"\w+").findall
    highlights = TextAnchors(lambda texts: ["great" in text for text in texts], tokenizer=words).explain(["Oh, great!"])
    assert items(highlights) == [{"great"}]
    assert highlights.tokenizer == words


@pytest.mark.slow
def test_no_more_words_than_allowed():
    highlights = TextAnchors(opinion, threshold=0.99, max_words=1).explain(TEXTS[:30])
    assert max(map(len, items(highlights))) <= 1


def test_explainers_pickle():
    explainer = TextAnchors(opinion)
    assert items(pickle.loads(pickle.dumps(explainer)).explain(TEXTS[:10])) == items(explainer.explain(TEXTS[:10]))


@pytest.mark.parametrize("texts", [["great", "", "great", "dull"], ["", " ", ""], [*TEXTS[:5], ""]])
def test_progress_reaches_the_end(texts, monkeypatch):
    monkeypatch.setattr("faithscope.explainers.anchors.text._GROUP", 2)
    seen = []
    TextAnchors(is_great).explain(texts, progress=lambda *done: seen.append(done))
    assert seen[-1] == (len(texts), len(texts))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def test_a_text_without_words_that_reach_the_threshold_is_seen_by_its_precision():
    odd = TextAnchors(lambda texts: [text.count("UNK") % 2 for text in texts], threshold=0.9, max_words=2)
    _, precision, _ = odd.explain_with_precision(["one two three four five six", "one"])
    assert precision[0] < 0.75
    assert precision[1] == 1


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(WrongType, match="row 1"):
        TextAnchors(is_great).explain(["great", 3])
    with pytest.raises(BadInput, match="continuous"):
        TextAnchors(lambda texts: np.linspace(0.1, 0.9, len(texts))).explain(TEXTS[:30])
    with pytest.raises(BadInput, match="pass one of each per row"):
        TextAnchors(lambda texts: [1]).explain(TEXTS[:2])
    with pytest.raises(WrongType, match="tokenizer"):
        TextAnchors(is_great, tokenizer=" ")
    with pytest.raises(BadInput):
        TextAnchors(is_great, threshold=2)
    with pytest.raises(BadInput, match="samples must be"):
        TextAnchors(is_great).explain_with_precision(["great"], samples=0)


class Token:
    """What anchor-exp asks of spacy."""

    def __init__(self, text):
        self.text, self.idx = text, 0


@pytest.mark.slow
def test_words_are_as_precise_as_those_of_anchor_exp_and_about_as_many():
    pytest.importorskip("anchor")
    from anchor.anchor_text import AnchorText

    reference = AnchorText(lambda text: [*map(Token, text.split())], ["no", "yes"], use_unk_distribution=True)
    sample = [text for text in TEXTS[:40] if len(set(text.split())) == len(text.split())][:10]
    np.random.seed(0)  # noqa: NPY002 - theirs
    explanations = [set(reference.explain_instance(text, opinion, threshold=0.95).names()) for text in sample]
    ours = items(TextAnchors(opinion, threshold=0.95, beam=1).explain(sample))
    precision = [
        np.mean([fresh_precision(text, words, opinion) for text, words in zip(sample, sets, strict=True)])
        for sets in (ours, explanations)
    ]
    assert precision[0] >= precision[1] - 0.02
    assert abs(np.mean([*map(len, ours)]) - np.mean([*map(len, explanations)])) <= 1


def test_masked_texts_are_the_words_with_unknown_in_place_of_those_that_are_not_kept():
    tokens = [["a", "b", "a"], ["c"], ["d", "a", "e", "d"]]
    masked = _MaskedTexts(tokens, np.zeros(3), np.arange(3, dtype=np.uint64), None, 50, "UNK")
    rng = np.random.default_rng(0)
    rows, kept = rng.integers(0, 3, 60), rng.random((60, masked.width)) < 0.5
    expected = []
    for row, marks in zip(rows, kept, strict=True):
        stays = dict(zip(dict.fromkeys(tokens[row]), marks, strict=False))
        expected.append(" ".join(word if stays[word] else "UNK" for word in tokens[row]))
    assert masked._texts(rows, kept) == expected
