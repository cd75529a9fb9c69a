"""Concepts: highlights over annotations."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy import sparse

import brute
import faithscope as fs
from faithscope.errors import BadInput, Incompatible
from held import tables
from refused import refused

NAMES = ["stripes", "hooves", "mane"]


@st.composite
def systems(draw):
    rows = draw(st.integers(2, 12))
    cells = st.lists(st.booleans(), min_size=3 * rows, max_size=3 * rows)
    annotated = np.array(draw(cells)).reshape(rows, 3)
    highlighted = annotated & np.array(draw(cells)).reshape(rows, 3)
    return highlighted, annotated, draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows))


@given(systems())
def test_they_cover_rows_annotated_with_all_of_them(system):
    highlighted, annotated, predictions = system
    masks = [(annotated >= row).all(axis=1) for row in highlighted]
    measured = fs.sufficiency(fs.Concepts(highlighted, NAMES), predictions, annotated)
    assert (measured.value, measured.unverifiable) == pytest.approx(brute.sufficiency(masks, predictions))
    words = [{name for name, here in zip(NAMES, row, strict=True) if here} for row in highlighted]
    same = fs.consistency(fs.Highlights(words), predictions)
    assert fs.consistency(fs.Concepts(highlighted, NAMES), predictions).value == same.value


def test_annotations_of_every_library_are_read_alike(tmp_path):
    rng = default_rng(0)
    annotated = rng.random((60, 3)) < 0.6
    highlighted, predictions = annotated & (rng.random((60, 3)) < 0.5), annotated[:, 0]
    frame = pd.DataFrame(annotated, columns=NAMES)
    evaluation = fs.evaluate(predictions, fs.Concepts(highlighted, NAMES), frame)
    wanted = evaluation.sufficiency.interval
    mixed = frame.assign(photo="p")[["photo", "mane", "stripes", "hooves"]]
    arrays = (annotated.astype(int), annotated.astype(np.float32), annotated.tolist())
    for X in (*arrays, sparse.csr_matrix(annotated), sparse.coo_array(arrays[0]), mixed, *tables(frame.astype(int))):
        assert fs.sufficiency(fs.Concepts(highlighted, NAMES), predictions, X).interval == wanted
    marks = pd.DataFrame(highlighted, columns=NAMES)
    for given_, names in ((highlighted.astype(float), NAMES), (sparse.csr_array(highlighted), NAMES), (marks, None)):
        assert fs.sufficiency(fs.Concepts(given_, names), predictions, mixed).interval == wanted
    evaluation.to_parquet(tmp_path / "log.parquet")
    audit = fs.audit(tmp_path / "log.parquet")
    for measure in ("consistency", "sufficiency"):
        assert getattr(audit, measure).value == pytest.approx(getattr(evaluation, measure).value)


def test_they_are_joined_if_they_are_of_the_same_concepts():
    concepts = fs.Concepts([[1, 0, 1], [0, 0, 0]], NAMES)
    assert concepts.describe(0) == "mane, stripes"
    assert len(concepts.join(concepts)) == 4
    refused(Incompatible, "concepts, of 1, so no two can be equal", concepts.join, fs.Concepts([[1]], ["stripes"]))
    refused(Incompatible, "different tokenizers or vocabularies", concepts.join, fs.Concepts([[1, 0, 0]], NAMES[::-1]))


@pytest.mark.parametrize(
    ("highlighted", "names", "message"),
    [
        ([[1, 0]], None, "need names"),
        ([[1, 0]], ["a"], "one column for each of the 1 concepts"),
        ([[1, 0]], ["a", "a"], "Two features are called 'a'"),
        ([[1, 0]], "ab", "must be a list; got 'ab'"),
        ([[1, 0]], 3, "must be a list; got 3"),
        ([[1, 0.4]], ["a", "b"], "must be 0 or 1; got 0.4"),
        ([[1, np.nan]], ["a", "b"], "nan"),
        (sparse.csr_array([[1, np.nan]]), ["a", "b"], "must be 0 or 1; got nan"),
        ([["x", "y"]], ["a", "b"], "row 0"),
        (pd.DataFrame({"a": [1]}), ["b"], "no column 'b', which concepts of concepts need. There are 'a'"),
        (pd.DataFrame([[1, 1]], columns=["a", "a"]), None, "Two features are called 'a'"),
    ],
)
def test_what_is_no_concept_is_answered_in_a_sentence(highlighted, names, message):
    refused(BadInput, message, fs.Concepts, highlighted, names)


def test_annotations_that_do_not_fit_are_refused():
    concepts = fs.Concepts([[1, 0], [0, 1]], ["a", "b"])
    for X, message in (
        ([[1, 0, 1], [1, 1, 1]], "Annotations must have one column for each of the 2 concepts"),
        (pd.DataFrame({"a": [1, 1], "c": [0, 1]}), "no column 'b', which annotations of concepts need"),
        (["a b", "a"], "Annotations"),
        ([[1, 2], [1, 1]], "must be 0 or 1; got 2"),
    ):
        refused(BadInput, message, fs.sufficiency, concepts, [0, 1], X)
