"""Reasons in words: texts that are equal once folded are one explanation."""

import unicodedata

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, Incompatible, NotScoped, WrongType
from faithscope.explanations.arrow.tables import from_arrow, to_arrow
from faithscope.inputs.folding import fold

TEXTS = ["He is old.", "he is  OLD", "She is young!", "He is old"]
HOSTILE = ["", " \t\n", "\x00", "a\x00b", "\ud800", "<script>alert(1)</script>", "x" * 10**6, "\u202eabc"]
HOSTILE += ["\U0001f600\U0001f468\u200d\U0001f469", "\u05e9\u05dc\u05d5\u05dd", "…"]


@pytest.mark.parametrize(
    "given",
    [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, object),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype="category"),
        pd.DataFrame({"why": TEXTS}),
        pl.Series(TEXTS),
        pa.array(TEXTS),
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        pa.table({"why": TEXTS}),
    ],
    ids=lambda given: f"{type(given).__module__.split('.')[0]}.{type(given).__name__}",
)
def test_texts_of_any_library_are_reasons(given):
    reasons = fs.Reasons(given)
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
    codes, _ = fs.Reasons(texts).group()
    folded = [fold(text) for text in texts]
    assert [[a == b for a in codes] for b in codes] == [[a == b for a in folded] for b in folded]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_reasons_are_counted_and_refused(missing):
    with pytest.raises(BadInput, match=r"missing at row 1 \(.*\) and 1 more: drop or fill"):
        fs.Reasons(["a", missing, "b", missing])
    with pytest.raises(BadInput, match="Inputs are missing at row 0"):
        fs.Reasons(["a", "b"], inputs=[missing, "x"])


def test_what_is_no_text_is_refused():
    with pytest.raises(WrongType, match=r"row 1 is int \(3\)"):
        fs.Reasons(["a", 3])
    with pytest.raises(WrongType, match="2 columns"):
        fs.Reasons(pd.DataFrame({"a": ["x"], "b": ["y"]}))
    with pytest.raises(BadInput, match="inputs have 1"):
        fs.Reasons(["a", "b"], inputs=["x"])


def test_inputs_of_several_columns_are_joined_and_kept_by_take_and_join():
    inputs = pd.DataFrame({"premise": ["a dog", "a cat"], "hypothesis": ["an animal", "a plant"]}, index=[7, 9])
    reasons = fs.Reasons(["x", "y"], inputs)
    assert reasons.inputs.tolist() == ["a dog\nan animal", "a cat\na plant"]
    assert list(reasons.index) == [7, 9]
    assert reasons.take([1]).inputs.tolist() == ["a cat\na plant"]
    assert reasons.take([]).join(reasons).inputs.tolist() == reasons.inputs.tolist()
    assert fs.Reasons(["x"]).inputs is None


def test_reasons_are_taken_joined_and_located():
    reasons = fs.Reasons(TEXTS)
    both = reasons.take([2]).join(reasons.take(np.array([True, False, False, False])))
    assert both.texts.tolist() == ["She is young!", "He is old."]
    assert both.locate(fs.Reasons(["HE IS OLD!", "other"])).tolist() == [1, -1]
    with pytest.raises(Incompatible, match="plain keys"):
        reasons.join(fs.readers.as_explanations(["a"]))


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


@pytest.mark.parametrize("texts", [TEXTS, HOSTILE, []], ids=["plain", "hostile", "none"])
@pytest.mark.parametrize("about", [False, True])
def test_reasons_survive_an_arrow_table(texts, about):
    reasons = fs.Reasons(texts, [f"input of {text}" for text in texts] if about and texts else None)
    back = from_arrow(to_arrow(reasons))
    assert back.texts.tolist() == reasons.texts.tolist()
    assert back.folded.tolist() == reasons.folded.tolist()
    assert back.about.tolist() == reasons.about.tolist()
    assert back.kind == reasons.kind


@pytest.mark.parametrize("discretizer", [None, fs.Codebook({"age": "old|young"}), fs.Template()])
def test_a_log_of_reasons_is_audited_to_the_same_numbers(tmp_path, discretizer):
    rng = np.random.default_rng(0)
    texts = rng.choice([*TEXTS, *HOSTILE[:5], *HOSTILE[7:]], 80)
    labels = rng.choice(["yes", "no"], 80)
    reasons = fs.Reasons(texts, [text[:3] + "x" for text in texts])
    ev = fs.evaluate(labels, reasons, rng.normal(size=(80, 2)), discretizer=discretizer, progress=False)
    ev.to_parquet(tmp_path / "log.parquet")
    audited = fs.audit(tmp_path / "log.parquet")
    assert audited.consistency.value == pytest.approx(ev.consistency.value, abs=1e-12)
    assert audited.consistency.interval == pytest.approx(ev.consistency.interval, abs=1e-12)
    assert audited.consistency.distinct == ev.consistency.distinct


def test_reasons_do_not_say_where_they_apply():
    with pytest.raises(NotScoped, match="Codebook"):
        fs.sufficiency(fs.Reasons(TEXTS), [1, 1, 0, 1], [[1.0], [2.0], [3.0], [4.0]])
    ev = fs.evaluate([1, 1, 0, 1], fs.Reasons(TEXTS), [[1.0], [2.0], [3.0], [4.0]], progress=False)
    assert ev.sufficiency is None
    assert ev.table()["explanation"].tolist()[0] == "He is old."
