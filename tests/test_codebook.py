"""Codebooks: names of patterns in place of reasons; patterns that may take forever are refused."""

import json
import pickle
import re
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import faithscope as fs
from faithscope.discretizers import from_word
from faithscope.discretizers.reasons import backtracking, deadline
from faithscope.errors import BadInput, WrongType

FOREVER = [
    r"(a+)+$",
    r"(\w+\s*)+$",
    r"(a|aa)+b",
    r"(a|a)*c",
    r"(.*a){20}",
    r"(x+x+)+y",
    r"(([a-z])+.)+[A-Z]([a-z])+$",
    r"(?:a|.)*b",
    r"(?=(a+)+b)x",
    r"(a{1,9}){9}b",
    r"((a{0,4}){0,4}){0,4}b",
    r"^(?:a?){30}a{30}$",
    "a?" * 30 + "a" * 30,
    r".*.*.*.*.*x",
    r"(?:[б-я]+|[а-ё]x)*щ",
    r"(\w+)(?:\1)+x",
    r"(?:(?<!b))+x",
    r"(?:a?){3}x",
    r"(?:\b)*x",
]
FINE = [
    r"\bnot\b|\bnever\b",
    r"no (?:\w+ )*evidence",
    r"(?:\w+\s+)*x",
    r"no\s+\w+\s+evidence",
    r"if.*then.*because",
    r"(?:very )+old",
    r"(?:\w++\s*)+",
    r"(?:(?:so )?old )*man",
    r"\d{4}",
    r"(?P<word>\w)(?P=word)",
    r"(?<!not )because(?! of)",
    r"not (?:\w+ ){0,3}happy",
    r"\b\w+(?:\s+\w+){0,5}\s+because",
    r"[^a-z]{2,}",
]


@pytest.mark.parametrize("pattern", FOREVER, ids=lambda pattern: pattern[:24])
def test_patterns_that_may_take_forever_are_refused(pattern):
    with pytest.raises(BadInput, match="forever"):
        fs.Codebook({"name": pattern})


@pytest.mark.parametrize("pattern", FINE)
def test_patterns_that_people_write_are_taken(pattern):
    assert len(fs.Codebook({"name": pattern})(fs.Reasons(["not because of 2020", "no more evidence"]))) == 2


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("(", "no regular expression"),
        ("a{99999999999}", "no regular expression"),
        ("(" * 500 + ")" * 500, "nested too deeply|no regular expression"),
        ("x" * 3000, "more than 2,000"),
        (3, "must be a text"),
        ("n't", "folded texts do not have"),
        ("not|can't", "folded texts do not have"),
    ],
)
def test_patterns_that_cannot_be_meant_are_refused(pattern, message):
    with pytest.raises(BadInput, match=message):
        fs.Codebook({"name": pattern})


def test_names_are_texts_and_other_is_kept():
    for names in ({}, [], None, {3: "a"}, {"": "a"}):
        with pytest.raises(WrongType):
            fs.Codebook(names)
    with pytest.raises(BadInput, match="is kept for reasons that match no pattern"):
        fs.Codebook({"other": "a"})


def test_texts_can_be_searched_as_written():
    reasons = fs.Reasons(["Isn't it?", "is not it"])
    assert fs.Codebook({"short": "n't", "question": r"\?$"}, folded=False)(reasons).values.tolist() == [
        {"short", "question"},
        {"other"},
    ]
    assert fs.Codebook({"not": "NOT"}, folded=False)(fs.Reasons(["Not so", "ſo"])).values.tolist() == [
        {"not"},
        {"other"},
    ]


@pytest.mark.parametrize("pattern", [r"(?a)a\Sb", r"(?a:a\Sb)"])
def test_spaces_of_other_scripts_are_no_spaces_to_patterns_of_ascii(pattern):
    codes = fs.Codebook({"name": pattern}, folded=False)(fs.Reasons(["a\u00a0b", "a b"]))
    assert codes.values.tolist() == [{"name"}, {"other"}]


def test_operations_of_later_pythons_are_refused(monkeypatch):
    monkeypatch.setattr(backtracking, "_KNOWN", backtracking._KNOWN - {"MIN_REPEAT"})
    with pytest.raises(BadInput, match="uses MIN_REPEAT, which a codebook does not know"):
        fs.Codebook({"name": "(?:so (?:a+?)b)"})


def test_long_codebooks_are_told_apart_and_pickled():
    books = [
        fs.Codebook({f"name {j}": end * (j + 1) for j in range(9)}, flag) for end in "ab" for flag in (True, False)
    ]
    assert len({*map(repr, books)}) == 4
    assert "folded=False" in repr(books[1])
    assert pickle.loads(pickle.dumps(books)) == books


def test_patterns_that_tell_nothing_are_noted():
    codes = fs.Codebook({"any": ".", "none": "zzz", "old": "old"})(fs.Reasons(["old", "young"]))
    assert any("'any' matches every reason" in note for note in codes.notes)
    assert any("'none' matches no reason" in note for note in codes.notes)
    assert fs.consistency(codes, ["a", "b"]).notes[:2] == codes.notes


# Safe parts of patterns, many of which match within words, and many of which do not.
PIECES = ["a", "b", "ab", r"\b", r"\w", r"\w+", "a*", "a?", r"\s", r"\s+", ".", ".*", "[ab]", "[^a]", r"\d", "^", "$"]
PIECES += [r"\B", "(?:a|b)", "(?:ab|ba)?", r"(?=a)", r"(?<!b)", "1", "-", r"\S", r"\W", "é", "K", "s", r"(?:\w+ )*"]


@settings(max_examples=400)
@given(
    st.lists(st.sampled_from([*PIECES, "|"]), min_size=1, max_size=5).map("".join),
    st.lists(st.text("abAB 1-é\u017f\u212a\n.K\u00a0"), min_size=1, max_size=5),
    st.booleans(),
)
def test_names_are_given_exactly_where_python_finds_a_match(pattern, texts, folded):
    try:
        codebook = fs.Codebook({"name": pattern}, folded=folded)
    except BadInput:
        assume(False)
    reasons = fs.Reasons(texts)
    searched = reasons.folded if folded else reasons.texts
    expected = [bool(re.search(pattern, text, re.IGNORECASE)) for text in searched]
    assert [names == {"name"} for names in codebook(reasons).values] == expected


LONG = ["a" * 900, "ab" * 450, "a " * 450, "x" * 500 + "!", "not " * 200, " " * 900, "1" * 900, "aaa" * 300 + "é"]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from([*PIECES, r"(?:\w+\s)*", r"[ab]+", "(?:a|b)+", "x", r"\1", "(a|b)"]), max_size=9).map(
        "".join
    )
)
def test_what_is_taken_never_takes_long(pattern):
    try:
        codebook = fs.Codebook({"name": pattern}, folded=False)
    except BadInput:
        assume(False)
    began = time.process_time()
    with suppress(BadInput):  # too long for this pattern
        codebook(fs.Reasons(LONG))
    assert time.process_time() - began < 60


def test_a_text_too_long_for_a_pattern_is_refused_and_others_survive():
    reasons = fs.Reasons(["not " * 250_000, "x"])
    with pytest.raises(BadInput, match=r"a reason of 1,000,000 characters \(it is safe up to 100,000\)"):
        fs.Codebook({"far": "not.*because"})(fs.Reasons(["not because " * 83_000 + "x" * 4000]).join(reasons))
    assert fs.Codebook({"not": r"\bnot\b", "far": "not.{0,50}because"})(reasons).values.tolist() == [{"not"}, {"other"}]


def test_a_codebook_that_takes_too_long_says_so(monkeypatch):
    monkeypatch.setattr(deadline, "_SECONDS", -1.0)
    for pattern in ("old", "old man"):
        with pytest.raises(BadInput, match=r"took .* seconds"):
            fs.Codebook({"name": pattern})(fs.Reasons(["old man"]))


def test_the_deadline_is_checked_after_each_long_text(monkeypatch):
    monkeypatch.setattr(deadline, "_SECONDS", 0.05)
    began = time.process_time()
    with pytest.raises(BadInput, match="seconds for a few reasons"):
        fs.Codebook({"slow": ".*.+?[!?]"}, folded=False)(fs.Reasons([f"{'a' * 500} {j}" for j in range(100)]))
    assert time.process_time() - began < 5


def test_words_name_the_discretizers_of_reasons(tmp_path):
    file = tmp_path / "Codes.json"
    file.write_text('{"age": "old"}')
    assert from_word(f" Codebook:{file} ") == fs.Codebook({"age": "old"})
    assert from_word("common-phrases-12") == fs.CommonPhrases(12)
    assert from_word("Template") == fs.Template()
    assert fs.consistency(["old", "Old!", "x"], [0, 0, 1], discretizer=f"codebook:{file}").distinct == 2
    with pytest.raises(BadInput, match="cannot be read"):
        from_word("codebook:")


def test_a_codebook_is_loaded_from_a_file(tmp_path):
    file = tmp_path / "codes.json"
    file.write_text(json.dumps({"age": "old|young", "größe": "tall"}), encoding="utf-8-sig")
    assert fs.Codebook.load(file) == fs.Codebook({"age": "old|young", "größe": "tall"})
    assert fs.Codebook.load(str(file), folded=False).folded is False


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1]", "one object"),
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b'{"a": "x", "a": "y"}', "two patterns called 'a'"),
        (b'{"a": {"b": "x"}}', "must be a text"),
        (b'{"a": "(a+)+"}', "forever"),
        (b"{}", "takes a pattern per name"),
        (b"[" * 100_000, "no JSON"),
        (b" " * 2**21, "larger than 1 MB"),
    ],
)
def test_damaged_files_are_refused(tmp_path, content, message):
    file = tmp_path / "codes.json"
    file.write_bytes(content)
    with pytest.raises(BadInput, match=message):
        fs.Codebook.load(file)
    with pytest.raises(BadInput, match="cannot be read"):
        fs.Codebook.load(tmp_path / "none.json")


def test_hostile_texts_survive_a_codebook():
    texts = ["", "\x00", "a\x00b", "\ud800", "<script>", "x" * 10**6, "\u202eabc", "😀", "שלום", "x" * 10**6 + "é"]
    codes = fs.Codebook({"a": r"a\b", "x": "x", "any": r"\w"})(fs.Reasons(texts))
    assert len(codes) == len(texts)
    assert np.flatnonzero([{"x"} <= names for names in codes.values]).tolist() == [5, 9]


def test_a_search_that_takes_long_is_stopped(monkeypatch):
    monkeypatch.setattr(deadline, "_SECONDS", 2.0)
    began = time.monotonic()
    with pytest.raises(BadInput, match="took 2 seconds"):
        fs.Codebook({"slow": r"(?:\w+\s+)*[!?]"}, folded=False)(fs.Reasons(["if then " * 12_000]))
    assert time.monotonic() - began < 30


def test_a_codebook_without_the_parser_of_python_is_bounded_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "re._parser", None)
    monkeypatch.setattr(deadline, "_SECONDS", 2.0)
    with pytest.raises(BadInput, match="took 2 seconds"):
        fs.Codebook({"forever": "(a+)+b"})(fs.Reasons(["a" * 60]))
