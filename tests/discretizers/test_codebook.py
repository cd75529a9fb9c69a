"""Codebooks: names of patterns in place of reasons; a search that takes too long is stopped."""

import json
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import faithscope as fs
from faithscope.discretizers import from_word
from faithscope.discretizers.reasons import codebook as codebook_file
from faithscope.errors import BadInput, WrongType
from limited import cpu_seconds
from refused import refused

FOREVER = [
    r"(a+)+$",
    r"(a|aa)+b",
    r"(.*a){20}",
    r"(x+x+)+y",
    r"(?:a|.)*b",
    r"(?=(a+)+b)x",
    r"(a{1,9}){9}b",
    r"^(?:a?){30}a{30}$",
    r".*.*.*.*.*x",
    r"(?:[б-я]+|[а-ё]x)*щ",
    r"(\w+)(?:\1)+x",
    r"(?:(?<!b))+x",
    r"(?:\b)*x",
]
FINE = [
    r"\bnot\b|\bnever\b",
    r"no (?:\w+ )*evidence",
    r"(?:very )+old",
    r"(?:\w++\s*)+",
    r"(?:(?:so )?old )*man",
    r"(?P<word>\w)(?P=word)",
    r"(?<!not )because(?! of)",
    r"\b\w+(?:\s+\w+){0,5}\s+because",
    r"[^a-z]{2,}",
]


def test_patterns_that_cannot_be_meant_are_refused():
    for pattern, message in (
        ("", "is empty"),
        ("  ", "is empty"),
        ("(", "no regular expression"),
        ("a{99999999999}", "no regular expression"),
        ("(" * 500 + ")" * 500, "no regular expression"),
        ("(?:a{1000}){1000}", "repeats a part more than 100,000 times"),
        (r"\p{L}", "no regular expression of Python|bounds no repeat"),
        *((f"{sets}x", "is unclear") for sets in ("[[:alpha:]]", "[a||b]", "[[ab]--b]")),
        *((brace, "bounds no repeat") for brace in ("a{e}", r"(?:old){e<=1}", r"\\{s", "a{,b}")),
        (3, "must be a text"),
        ("n't", "folded texts do not have"),
        ("not|can't", "folded texts do not have"),
    ):
        refused(BadInput, message, fs.Codebook, {"name": pattern})


def test_patterns_that_people_write_are_taken():
    for pattern in FINE:
        assert len(fs.Codebook({"name": pattern})(fs.Reasons(["not because of 2020", "no more evidence"]))) == 2


def test_names_are_texts_and_other_is_kept():
    for names in ({}, [], None, {3: "a"}, {"": "a"}):
        refused(WrongType, "name", fs.Codebook, names)
    refused(BadInput, "is kept for reasons that match no pattern", fs.Codebook, {"other": "a"})


def test_texts_can_be_searched_as_written():
    for names, texts, found in (
        ({"short": "n't", "question": r"\?$"}, ["Isn't it?", "is not it"], [{"short", "question"}, {"other"}]),
        ({"not": "NOT"}, ["Not so", "ſo"], [{"not"}, {"other"}]),
        *(({"a": ascii_}, ["a\u00a0b", "a b"], [{"a"}, {"other"}]) for ascii_ in (r"(?a)a\Sb", r"(?a:a\Sb)")),
    ):
        assert fs.Codebook(names, folded=False)(fs.Reasons(texts)).values.tolist() == found


LETTERS = ["Straße", "STRASSE", "İzmir", "ſo", "ΟΔΟΣ", "οδος", "ﬁn", "Ǆ", "e\u0301tage"]


@pytest.mark.parametrize("text", LETTERS)
@pytest.mark.parametrize("case", [str, str.lower, str.upper])
def test_every_word_matches_itself_however_its_letters_fold(text, case):
    names = fs.Codebook({"found": rf"\b(?:weg|{case(text)})\b"})(fs.Reasons([f"The {text}!", "no"])).values.tolist()
    assert names == [{"found"}, {"other"}]


def test_a_letter_that_folds_to_two_repeats_as_one_and_stands_in_no_set():
    found = fs.Codebook({"found": r"^maß{2}e$"})(fs.Reasons(["Maßße", "Masse", "Massse"])).values.tolist()
    assert found == [{"found"}, {"other"}, {"other"}]
    refused(BadInput, r"'ß' beside \[\], which folded texts have as 'ss': write", fs.Codebook, {"a": "gro[ßs]e"})


def test_patterns_that_tell_nothing_are_noted():
    codes = fs.Codebook({"any": ".", "none": "zzz", "old": "old"})(fs.Reasons(["old", "young"]))
    assert any("'any' matches every reason" in note for note in codes.notes)
    assert any("'none' matches no reason" in note for note in codes.notes)
    assert fs.consistency(codes, ["a", "b"]).notes[:2] == codes.notes


# Safe parts of patterns, many of which match within words, and many of which do not.
PIECES = ["a", "b", "ab", r"\b", r"\w", r"\w+", "a*", "a?", r"\s", r"\s+", ".", ".*", "[ab]", "[^a]", r"\d", "^", "$"]
PIECES += [r"\B", "(?:a|b)", "(?:ab|ba)?", r"(?=a)", r"(?<!b)", "1", "-", r"\S", r"\W", "é", "K", "s", r"(?:\w+ )*"]


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from([*PIECES, "|"]), min_size=1, max_size=5).map("".join),
    st.lists(st.text("abAB 1-é\u017f\u212a\n.K\u00a0", min_size=1), min_size=1, max_size=5),
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


# The library regex, which searches, takes no Turkish i for an i, no fraction for a letter, and no separator of files
# for white space.
@pytest.mark.parametrize(("pattern", "text"), [("i", "ı"), (r"\w", "½"), (r"\s", "a\x1cb")])
def test_what_python_alone_finds(pattern, text):
    assert re.search(pattern, text, re.IGNORECASE)
    assert fs.Codebook({"name": pattern}, folded=False)(fs.Reasons([text])).values.tolist() == [{"other"}]


LONG = ["a" * 900, "ab" * 450, "a " * 450, "x" * 500 + "!", "not " * 200, " " * 900, "1" * 900, "aaa" * 300 + "é"]
TOOK = r"took \d+ seconds for a few reasons, up to the pattern of 'slow': bound its repeats"


@pytest.mark.parametrize("pattern", FOREVER)
def test_what_may_take_forever_is_found_or_stopped(monkeypatch, pattern):
    monkeypatch.setattr(codebook_file, "_SECONDS", 0.05)
    codebook = fs.Codebook({"slow": pattern}, folded=False)
    with cpu_seconds(5):
        try:
            assert len(codebook(fs.Reasons(LONG))) == len(LONG)
        except BadInput as problem:
            assert re.search(TOOK, str(problem))  # noqa: PT017


@pytest.mark.parametrize(
    ("seconds", "pattern", "texts"),
    [
        (0.0, "old", ["old man"]),
        (0.01, "(?:a|aa)+[!?]", [f"{'a' * 20} {j}" for j in range(1000)]),  # each of which takes no time
        (0.5, r"(?:\w+\s+)*[!?]", ["if then " * 12_000]),  # stopped amid its search, which takes hours
        (0.5, "(a|aa)+[!?]", ["a" * 60]),
    ],
)
def test_a_codebook_that_takes_too_long_is_stopped(monkeypatch, seconds, pattern, texts):
    monkeypatch.setattr(codebook_file, "_SECONDS", seconds)
    codebook = fs.Codebook({"slow": pattern}, folded=False)
    with cpu_seconds(5):
        refused(BadInput, TOOK, codebook, fs.Reasons(texts))


def test_words_and_files_name_the_discretizers_of_reasons(tmp_path):
    file = tmp_path / "Codes.json"
    file.write_text(json.dumps({"age": "old|young", "größe": "tall"}), encoding="utf-8-sig")
    expected = fs.Codebook({"age": "old|young", "größe": "tall"})
    assert from_word(f" Codebook:{file} ") == fs.Codebook.load(str(file)) == expected
    assert fs.Codebook.load(file, folded=False).folded is False
    assert from_word("common-phrases-12") == fs.CommonPhrases(12)
    assert from_word("Template") == fs.Template()
    assert fs.consistency(["old", "Old!", "x"], [0, 0, 1], discretizer=f"codebook:{file}").distinct == 2
    refused(BadInput, "cannot be read", from_word, "codebook:")
    refused(BadInput, "cannot be read", fs.Codebook.load, tmp_path / "none.json")


def test_damaged_files_are_refused(tmp_path):
    for content, message in (
        (b"[1]", "takes a pattern per name"),
        (b"{", "cannot be read as JSON"),
        (b"\xff\xfe", "cannot be read as JSON"),
        (b'{"a": "x", "a": "y"}', "'a' stands twice"),
        (b'{"a": {"b": "x"}}', "must be a text"),
        (b'{"a": "(a"}', "no regular expression"),
        (b"[" * 100_000, "cannot be read as JSON"),
    ):
        (tmp_path / "codes.json").write_bytes(content)
        refused(BadInput, message, fs.Codebook.load, tmp_path / "codes.json")
