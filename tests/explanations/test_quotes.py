"""Quoted spans of the input become highlights; what the input does not hold is told."""

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.explanations.quotes import quoted_spans
from faithscope.explanations.tokenizers import folded_words
from refused import refused

MARKS = ['"{}"', "“{}”", "'{}'", "‘{}’", "«{}»", "`{}`", "„{}“", "「{}」"]
WORDS = st.sampled_from(["dull", "plot", "Great", "isn't", "3.5", "über", "film", "the"])
DOCUMENTS = st.lists(st.lists(WORDS, min_size=1, max_size=8), min_size=1, max_size=8)


def contains(document, words):
    return any(document[start : start + len(words)] == words for start in range(len(document)))


@given(DOCUMENTS, st.data())
def test_words_of_a_quote_are_highlighted_whatever_marks_it_stands_in(documents, data):
    texts, expected = [], []
    for words in documents:
        start = data.draw(st.integers(0, len(words) - 1))
        span = words[start : start + data.draw(st.integers(1, 4))]
        texts.append("I see " + data.draw(st.sampled_from(MARKS)).format(" ".join(span)) + ", so it isn't good.")
        expected.append({folded_words(word)[0] for word in span})
    highlights = fs.Reasons(texts, [", ".join(words) + "!" for words in documents]).to_highlights()
    assert [set(highlights.item(row)) for row in range(len(texts))] == expected
    assert highlights.notes == ()


@given(DOCUMENTS, st.lists(WORDS, min_size=1, max_size=3))
def test_a_quote_counts_only_if_the_input_holds_its_words_in_a_row(documents, span):
    inputs = [" ".join(words) for words in documents]
    reasons = fs.Reasons([f'"{" ".join(span)}"'] * len(inputs), inputs)
    lacking = [not contains(words, span) for words in documents].count(True)
    if lacking == len(inputs):
        refused(BadInput, "does not hold what it quotes", reasons.to_highlights, unreadable="uncovered")
        return
    highlights = reasons.to_highlights(unreadable="uncovered")
    assert any(f"{lacking} quote" in note for note in highlights.notes) == bool(highlights.notes) == bool(lacking)
    covered = fs.sufficiency(highlights, list(range(len(inputs))), inputs)
    assert covered.unverifiable >= lacking / len(inputs) - 1e-12


def test_apostrophes_and_inches_are_no_quotes():
    assert quoted_spans("It isn't Jess' dog, it's 6' 2\" tall and the '90s weren't 5\" away.") == []
    assert quoted_spans("the dogs' owner said 'don't go' and left") == ["don't go"]
    assert quoted_spans('"a ... b" and "  " and ""') == ["a", "b"]


def test_rows_without_a_quote_are_an_error_and_can_be_uncovered():
    reasons = fs.Reasons(['"dull plot"', "It is dull.", '"no such words"'], ["A dull plot.", "Dull!", "Dull film."])
    told = "2 rationales of 3 cannot be read; the first is row 1: it quotes nothing"
    refused(BadInput, told, reasons.to_highlights)
    estimate = fs.sufficiency(reasons.to_highlights(unreadable="uncovered"), ["bad"] * 3, reasons.inputs)
    assert estimate.unverifiable == 1.0
    told = "1 quote does not stand in the input, of 2; the first is 'no such words', at row 2"
    assert any(told in note for note in estimate.notes)
    refused(BadInput, r"pass fs\.Reasons\(texts, inputs\)", fs.Reasons(['"dull"']).to_highlights)


def test_a_quote_that_the_input_does_not_hold_is_told_even_if_another_is_held():
    reasons = fs.Reasons(pd.Series(['"dull" and "witty"'], index=[7]), pd.Series(["A dull plot."], index=[7]))
    highlights = reasons.to_highlights()
    assert highlights.describe(0) == "dull"
    assert highlights.notes == ("1 quote does not stand in the input, of 2; the first is 'witty', at row 0",)
    assert highlights.index.tolist() == [7]
