"""Reasons in words: texts that are equal once folded are one explanation."""

import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, NotScoped, WrongType
from faithscope.inputs.documents import fold
from held import columns, tables
from refused import refused

TEXTS = ["He is old.", "he is  OLD", "She is young!", "He is old"]
HOSTILE = ["", " \t\n", "\x00", "a\x00b", "\ud800", "<script>alert(1)</script>", "x" * 10**6, "\u202eabc"]
HOSTILE += ["\U0001f600\U0001f468\u200d\U0001f469", "\u05e9\u05dc\u05d5\u05dd", "…"]


def test_texts_of_any_library_are_reasons():
    for given_ in (*columns(TEXTS), *tables(pd.DataFrame({"why": TEXTS}))):
        reasons = fs.Reasons(given_)
        assert reasons.texts.tolist() == TEXTS
        assert reasons.group()[0].tolist() == [0, 0, 1, 0]
        assert {type(text) for text in reasons.texts} == {str}


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Don't   STOP!", "dont stop"),
        ("ＦＵＬＬ width", "full width"),
        ("Straße", "strasse"),
        ("e\u0301", "é"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("3.5 is not 35, nor -3.5 or 3,5", "3.5 is not 35 nor -3.5 or 3,5"),
        ("5% at 12:30 (10,000)", "5% at 12:30 10,000"),
        ("well-known, covid-19", "well known covid 19"),
        ("\u22125", "-5"),
        ("-.5 and -$5", "-.5 and - $ 5"),
        ("10² and 1½", "10 2 and 1 1 ⁄ 2"),
        ("age != 30", "age ≠ 30"),
        ("age<30 <b>no</b>", "age < 30 < b > no < b >"),
        ("?!", "?!"),
        ("", ""),
    ],
)
def test_folding_drops_case_punctuation_and_spaces_but_no_number(text, folded):
    assert fold(text) == folded


@given(st.one_of(st.text(), st.text("a1.,'-%: /()’–é\u200d<Iİ\ufe0f")))
def test_a_folded_text_stays_as_it_is(text):
    folded = fold(text)
    assert fold(folded) == folded
    assert fold(f"  {text}\n") == folded
    assert fold(unicodedata.normalize("NFD", text)) == folded


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=8))
def test_two_reasons_are_equal_exactly_if_their_folded_texts_are(texts):
    folded = list(map(fold, texts))
    assert fs.Reasons(texts).group()[0].tolist() == list(map(list(dict.fromkeys(folded)).index, folded))


def test_what_is_no_text_is_refused():
    for missing in (None, np.nan, pd.NA):
        told = r"missing at row 1 \(.*\) and 1 more: drop or fill"
        refused(BadInput, told, fs.Reasons, ["a", missing, "b", missing])
        refused(BadInput, "Inputs are missing at row 0", fs.Reasons, ["a", "b"], inputs=[missing, "x"])
    refused(WrongType, r"row 1 is number \(3\)", fs.Reasons, ["a", 3])
    refused(WrongType, "row 0 is int64", fs.Reasons, [3, 4])
    refused(BadInput, "2 columns", fs.Reasons, pd.DataFrame({"a": ["x"], "b": ["y"]}))
    refused(BadInput, "inputs have 1", fs.Reasons, ["a", "b"], inputs=["x"])


def test_inputs_of_several_columns_are_joined_and_kept_by_take_and_join():
    inputs = pd.DataFrame({"premise": ["a dog", "a cat"], "hypothesis": ["an animal", "a plant"]}, index=[7, 9])
    reasons = fs.Reasons(["x", "y"], inputs)
    assert reasons.inputs.tolist() == ["a dog\nan animal", "a cat\na plant"]
    assert list(reasons.index) == [7, 9]
    assert reasons.take([1]).inputs.tolist() == ["a cat\na plant"]
    assert reasons.take([]).join(reasons).inputs.tolist() == reasons.inputs.tolist()
    assert fs.Reasons(["x"]).inputs is None


def test_hostile_texts_are_shown_shortened_with_control_characters_visible():
    reasons = fs.Reasons(HOSTILE)
    told = [reasons.describe(row) for row in range(len(HOSTILE))]
    assert all(text.isprintable() or "\u200d" in text for text in told)
    assert max(map(len, told)) <= 200
    assert told[0] == "''"
    assert told[3] == "a\\x00b"
    estimate = fs.consistency(reasons, ["a", "b"] * 5 + ["a"])
    assert any("reasons are empty" in note for note in estimate.notes)
    assert "<script" not in estimate._repr_html_()


def test_reasons_do_not_say_where_they_apply():
    system = [1, 1, 0, 1], fs.Reasons(TEXTS), [[1.0], [2.0], [3.0], [4.0]]
    refused(NotScoped, "Codebook", fs.sufficiency, system[1], system[0], system[2])
    ev = fs.evaluate(*system, progress=False)
    assert ev.sufficiency is None
    assert ev.table()["explanation"].tolist()[0] == "He is old."
