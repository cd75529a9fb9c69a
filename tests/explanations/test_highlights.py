"""Highlights: word sets over documents of any shape."""

import numpy as np
import polars as pl
import pyarrow as pa
from sklearn.feature_extraction.text import CountVectorizer

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from refused import refused

DOCUMENTS = ["a great film", "a dull plot", "dull", "great plot", "great dull film"]
WORDS = [{"great"}, {"plot", "dull"}, ["dull"], ("great",), "film"]
LABELS = [1, 0, 0, 1, 1]


def test_documents_may_be_texts_lists_or_a_bag_of_words():
    expected = fs.sufficiency(fs.Highlights(WORDS), LABELS, DOCUMENTS)
    vectorizer = CountVectorizer(token_pattern=r"\S+").fit(DOCUMENTS)
    bag = vectorizer.transform(DOCUMENTS)
    for vocabulary in (vectorizer.vocabulary_, vectorizer.get_feature_names_out()):
        highlights = fs.Highlights(WORDS, vocabulary=vocabulary)
        for matrix in (bag, bag.toarray(), bag.tocsc()):
            assert fs.sufficiency(highlights, LABELS, matrix) == expected
    for documents in ([d.split() for d in DOCUMENTS], np.array(DOCUMENTS), pl.Series(DOCUMENTS), pa.array(DOCUMENTS)):
        assert fs.sufficiency(fs.Highlights(WORDS), LABELS, documents) == expected
    lower = fs.Highlights(WORDS, tokenizer=lambda document: document.lower().split())
    assert fs.sufficiency(lower, LABELS, [document.upper() for document in DOCUMENTS]) == expected


def test_equal_sets_are_equal_however_they_are_written():
    highlights = fs.Highlights([["b", "a"], ("a", "b", "b"), {"a", "b"}, frozenset("ab"), "a"])
    assert highlights.group()[0].tolist() == [0, 0, 0, 0, 1]
    assert highlights.describe(0) == "a, b"
    assert fs.Highlights([set()]).describe(0) == "nothing highlighted (applies everywhere)"
    assert fs.Highlights(pl.Series([["a", "b"], ["b", "a"]])).group()[0].tolist() == [0, 0]


def test_a_word_that_no_document_has_covers_nothing_and_is_reported():
    found = fs.sufficiency(fs.Highlights([{"unheard"}, {"great"}, {"great"}]), [1, 1, 0], ["great", "great", "great"])
    assert "1 explanation covers no row at all" in found.notes
    assert "1 condition holds on no row, such as 'unheard'" in found.notes
    assert found.counts.missed.sum() == 1


def test_all_words_reads_zero_to_one():
    documents = ["one two", "three four", "five six"] * 10
    unique = [f"{document} {i}" for i, document in enumerate(documents)]
    found = fs.sufficiency(fs.Highlights([d.split() for d in unique]), [0, 1] * 15, unique)
    assert (found.value, found.unverifiable, found.low, found.high) == (0, 1, 0, 1)


def test_bad_highlights():
    refused(WrongType, "row 0 is 5", fs.Highlights, [5])
    refused(WrongType, "row 1 is", fs.Highlights, [{"a"}, {1}])
    refused(WrongType, "got a str", fs.Highlights, "great")
    refused(WrongType, "got a set", fs.Highlights, {"great"})
    refused(WrongType, "tokenizer must be a function", fs.Highlights, [{"a"}], tokenizer=3)
    refused(BadInput, "names 'a' twice", fs.Highlights, [{"a"}], vocabulary=["a", "a"])
    refused(BadInput, "vocabulary=", fs.sufficiency, fs.Highlights([{"a"}]), [0], np.ones((1, 1)))
    far = fs.Highlights([{"a"}], vocabulary={"a": 7})
    refused(BadInput, "puts 'a' in column 7", fs.sufficiency, far, [0], np.ones((1, 1)))
    refused(BadInput, "row 1 is None", fs.sufficiency, fs.Highlights([{"a"}, {"a"}]), [0, 1], ["a", None])
