"""Quoted spans of the input become highlights; what the input does not hold is told."""

import time
from contextlib import suppress

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.explanations.arrow.tables import from_arrow, to_arrow
from faithscope.explanations.structured.quotes import quoted_spans

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
        expected.append({fs.explanations.tokenizers.folded_words(word)[0] for word in span})
    highlights = fs.Reasons(texts, [", ".join(words) + "!" for words in documents]).to_highlights()
    assert [set(highlights.item(row)) for row in range(len(texts))] == expected
    assert highlights.notes == ()


@given(DOCUMENTS, st.lists(WORDS, min_size=1, max_size=3))
def test_a_quote_counts_only_if_the_input_holds_its_words_in_a_row(documents, span):
    inputs = [" ".join(words) for words in documents]
    reasons = fs.Reasons([f'"{" ".join(span)}"'] * len(inputs), inputs)
    held = [contains(words, span) for words in documents]
    if all(held):
        assert reasons.to_highlights().notes == ()
    elif not any(held):
        with pytest.raises(BadInput, match="does not hold what it quotes"):
            reasons.to_highlights(unreadable="uncovered")
    else:
        highlights = reasons.to_highlights(unreadable="uncovered")
        assert any(f"{held.count(False)} quote" in note for note in highlights.notes)
        covered = fs.sufficiency(highlights, list(range(len(inputs))), inputs)
        assert covered.unverifiable >= held.count(False) / len(held) - 1e-12


@given(DOCUMENTS)
def test_highlights_cover_the_documents_that_hold_all_quoted_words(documents):
    inputs = [" ".join(words) for words in documents]
    highlights = fs.Reasons(
        [f"«{words[0]} {words[1]}»" if len(words) > 1 else f"«{words[0]}»" for words in documents], inputs
    )
    highlights = highlights.to_highlights()
    labels = [len(words) % 2 for words in documents]
    oracle = fs.Highlights([{word.lower().replace("'", "") for word in words[:2]} for words in documents])
    plain = [text.lower().replace("'", "") for text in inputs]
    assert fs.sufficiency(highlights, labels, inputs).value == fs.sufficiency(oracle, labels, plain).value


def test_apostrophes_and_inches_are_no_quotes():
    assert quoted_spans("It isn't Jess' dog, it's 6' 2\" tall and the '90s weren't 5\" away.") == []
    assert quoted_spans("the dogs' owner said 'don't go' and left") == ["don't go"]
    assert quoted_spans('"a ... b" and "  " and ""') == ["a", "b"]


def test_rows_without_a_quote_are_an_error_and_can_be_uncovered():
    reasons = fs.Reasons(['"dull plot"', "It is dull.", '"no such words"'], ["A dull plot.", "Dull!", "Dull film."])
    with pytest.raises(BadInput, match=r"2 rationales of 3 cannot be read; the first is row 1: it quotes nothing"):
        reasons.to_highlights()
    highlights = reasons.to_highlights(unreadable="uncovered")
    estimate = fs.sufficiency(highlights, ["bad", "bad", "bad"], reasons.inputs)
    assert estimate.unverifiable == 1.0
    assert any(
        "1 quote does not stand in the input, of 2; the first is 'no such words', at row 2" in n for n in estimate.notes
    )


def test_a_quote_that_the_input_does_not_hold_is_told_even_if_another_is_held():
    highlights = fs.Reasons(['"dull" and "witty"'], ["A dull plot."]).to_highlights()
    assert highlights.describe(0) == "dull"
    assert highlights.notes == ("1 quote does not stand in the input, of 2; the first is 'witty', at row 0",)


def test_quotes_need_inputs():
    with pytest.raises(BadInput, match=r"pass fs\.Reasons\(texts, inputs\)"):
        fs.Reasons(['"dull"']).to_highlights()


def test_highlights_keep_row_labels_and_can_be_stored():
    frame = pd.DataFrame({"why": ['"dull"', '"plot"'], "text": ["A dull plot.", "A plot!"]}, index=[7, 3])
    highlights = fs.Reasons(frame["why"], frame["text"]).to_highlights()
    assert highlights.index.tolist() == [7, 3]
    stored = from_arrow(to_arrow(highlights))
    assert (
        fs.sufficiency(stored, [0, 1], list(frame["text"])).value
        == fs.sufficiency(highlights, [0, 1], list(frame["text"])).value
    )


HOSTILE = [
    '"' * 1_000_000,
    " 'a" * 300_000,
    "'a" * 500_000,
    "“" * 1_000_000,
    "`" * 1_000_000,
    '" "' * 300_000,
    "\0\ud800'\udfff'",
]


@pytest.mark.parametrize("text", [*HOSTILE, "«a»" * 200_000, '"a b" ' * 100_000], ids=lambda text: repr(text[:9]))
def test_hostile_quotes_are_read_or_refused_soon(text):
    start = time.perf_counter()
    with suppress(BadInput):
        fs.Reasons([text], ["a b " * 100_000]).to_highlights()
    assert time.perf_counter() - start < 10
