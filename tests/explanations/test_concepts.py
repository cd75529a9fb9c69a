"""Concepts: highlights over annotations."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.tables import from_arrow, to_arrow

NAMES = ["stripes", "hooves", "mane"]


@st.composite
def systems(draw):
    rows = draw(st.integers(2, 12))
    cells = st.lists(st.booleans(), min_size=3 * rows, max_size=3 * rows)
    annotated = np.array(draw(cells)).reshape(rows, 3)
    highlighted = annotated & np.array(draw(cells)).reshape(rows, 3)
    return highlighted, annotated, draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows))


def covering(highlighted, annotated):
    """For every two rows, whether the explanation of the first covers the second."""
    return np.array([[not (a & ~b).any() for b in annotated] for a in highlighted])


@given(systems())
def test_they_cover_rows_annotated_with_all_of_them(system):
    highlighted, annotated, predictions = system
    covers, labels = covering(highlighted, annotated), np.array(predictions)
    shares = []
    for row in range(len(labels)):
        others = covers[row] & (np.arange(len(labels)) != row)
        shares.append(np.mean(labels[others] == labels[row]) if others.any() else 0.0)
    measured = fs.sufficiency(fs.Concepts(highlighted, NAMES), predictions, annotated)
    assert measured.value == pytest.approx(np.mean(shares))
    words = [{name for name, here in zip(NAMES, row, strict=True) if here} for row in highlighted]
    same = fs.consistency(fs.Highlights(words), predictions)
    assert fs.consistency(fs.Concepts(highlighted, NAMES), predictions).value == same.value


def test_annotations_of_every_library_are_read_alike():
    rng = np.random.default_rng(0)
    annotated = rng.random((60, 3)) < 0.6
    highlighted, predictions = annotated & (rng.random((60, 3)) < 0.5), annotated[:, 0]
    frame = pd.DataFrame(annotated, columns=NAMES)
    wanted = fs.sufficiency(fs.Concepts(highlighted, NAMES), predictions, annotated).interval
    mixed = frame.assign(photo="p")[["photo", "mane", "stripes", "hooves"]]
    for X in (
        annotated.astype(int),
        annotated.astype(np.float32),
        annotated.tolist(),
        sparse.csr_matrix(annotated),
        sparse.coo_array(annotated.astype(int)),
        frame,
        mixed,
        pl.DataFrame(frame.astype(int)),
        pa.Table.from_pandas(frame.astype(int), preserve_index=False),
    ):
        assert fs.sufficiency(fs.Concepts(highlighted, NAMES), predictions, X).interval == wanted
    for given_ in (highlighted.astype(float), sparse.csr_array(highlighted), pd.DataFrame(highlighted, columns=NAMES)):
        concepts = fs.Concepts(given_, None if hasattr(given_, "columns") else NAMES)
        assert fs.sufficiency(concepts, predictions, mixed).interval == wanted
    evaluation = fs.evaluate(predictions, fs.Concepts(highlighted, NAMES), frame)
    assert evaluation.sufficiency.interval == wanted
    assert evaluation.wrongly_covered(2).shape[0] == 2


def test_rows_are_found_by_their_labels():
    highlighted = pd.DataFrame([[1, 0], [0, 1]], columns=["a", "b"], index=["x", "y"])
    assert list(fs.Concepts(highlighted).index) == ["x", "y"]
    chosen = fs.Concepts(highlighted, ["b"])
    assert [chosen.describe(row) for row in range(2)] == ["no concept highlighted (applies everywhere)", "b"]


def test_they_are_stored_and_joined(tmp_path):
    concepts = fs.Concepts([[1, 0, 1], [0, 0, 0]], NAMES)
    assert concepts.describe(0) == "stripes, mane"
    assert concepts.concepts == tuple(NAMES)
    back = from_arrow(to_arrow(concepts))
    assert isinstance(back, fs.Concepts)
    assert (back.concepts, back.describe(0), back.kind) == (concepts.concepts, concepts.describe(0), concepts.kind)
    assert len(concepts.join(back)) == 4
    with pytest.raises(fs.errors.Incompatible):
        concepts.join(fs.Concepts([[1]], ["stripes"]))
    with pytest.raises(fs.errors.Incompatible):
        concepts.join(fs.Concepts([[1, 0, 0]], NAMES[::-1]))


@pytest.mark.slow
def test_a_log_of_them_is_audited_to_the_same_numbers(tmp_path):
    rng = np.random.default_rng(0)
    annotated = rng.random((200, 3)) < 0.6
    highlighted = annotated & (rng.random((200, 3)) < 0.5)
    evaluation = fs.evaluate(annotated[:, 0], fs.Concepts(highlighted, NAMES), annotated)
    evaluation.to_parquet(tmp_path / "log.parquet")
    audited = fs.audit(tmp_path / "log.parquet")
    assert audited.consistency.value == pytest.approx(evaluation.consistency.value)
    assert audited.sufficiency.value == pytest.approx(evaluation.sufficiency.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fs.Concepts([[1, 0]]), "need names"),
        (lambda: fs.Concepts([[1, 0]], ["a"]), "one column for each of the 1 concepts"),
        (lambda: fs.Concepts([[1, 0]], ["a", "a"]), "Two concepts are named 'a'"),
        (lambda: fs.Concepts([[1, 0]], "ab"), "list with one name"),
        (lambda: fs.Concepts([[1, 0]], 3), "list with one name"),
        (lambda: fs.Concepts([[1, 0.4]], ["a", "b"]), "row 0, concept 'b' is 0.4"),
        (lambda: fs.Concepts([[1, np.nan]], ["a", "b"]), "nan"),
        (lambda: fs.Concepts(sparse.csr_array([[1, np.nan]]), ["a", "b"]), "concept 'b' is nan"),
        (lambda: fs.Concepts([["x", "y"]], ["a", "b"]), "row 0"),
        (lambda: fs.Concepts(pd.DataFrame({"a": [1]}), ["b"]), "'b' not at all. There are 'a'"),
        (lambda: fs.Concepts(pd.DataFrame([[1, 1]], columns=["a", "a"])), "Two concepts are named 'a'"),
        (lambda: used(X=[[1, 0, 1], [1, 1, 1]]), "Annotations must have one column for each of the 2 concepts"),
        (lambda: used(X=pd.DataFrame({"a": [1, 1], "c": [0, 1]})), "Annotations have the column 'b' not at all"),
        (lambda: used(X=["a b", "a"]), "Annotations"),
        (lambda: used(X=[[1, 2], [1, 1]]), "row 0, concept 'b' is 2"),
    ],
)
def test_what_is_no_concept_is_answered_in_a_sentence(make, message):
    with pytest.raises((BadInput, WrongType), match=message) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def used(X):
    return fs.sufficiency(fs.Concepts([[1, 0], [0, 1]], ["a", "b"]), [0, 1], X)
