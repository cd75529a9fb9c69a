"""Leakage: reasons that name the answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.measures.named_labels import LabelWords

TEXTS = ["No: he sleeps", "He sleeps", "YES, he runs", "he runs", "No, he runs"]
LABELS = ["no", "no", "yes", "yes", "yes"]


def test_the_share_of_reasons_that_name_a_label_is_counted_by_whole_words():
    leak = fs.leakage(TEXTS, LABELS)
    assert (leak.share, leak.own, leak.n) == (0.6, 0.4, 5)
    assert leak.words == (("no", 2), ("yes", 1))
    assert 0 < leak.low < leak.share < leak.high < 1
    assert fs.leakage(["nothing is known", "yesterday"], ["no", "yes"]).share == 0
    assert "60.0%" in str(leak)


def test_masked_reasons_forget_which_label_they_named():
    leak = fs.leakage(TEXTS, LABELS)
    # Without labels, "he sleeps" and "<label> he sleeps" are left, and runs likewise.
    expected = fs.consistency(["ls", "s", "lr", "r", "lr"], LABELS)
    assert leak.masked.value == expected.value
    assert leak.difference.value == pytest.approx(leak.consistency.value - leak.masked.value)


def test_reasons_that_copy_the_answer_are_found_out():
    rng = np.random.default_rng(0)
    answers = rng.choice(["approved", "denied"], 400)
    reasons = fs.Reasons([f"It was {answer}." for answer in answers])
    estimate = fs.consistency(reasons, answers)
    assert estimate.value == 1
    (note,) = [note for note in estimate.notes if "name a label" in note]
    assert note.startswith("100% of reasons name a label, such as ")
    leak = fs.leakage(reasons, answers)
    assert abs(leak.masked.value - 0.5) < 0.01
    assert leak.masked.above_chance is False
    assert f"consistency is {leak.masked.value:.3f}" in note
    assert leak.difference.low > 0.3
    ev = fs.evaluate(answers, reasons, np.arange(400.0)[:, None], progress=False)
    assert note in ev.consistency.notes
    assert note in fs.certify(reasons, answers, [None], interval="tight").notes


def test_a_discretizer_is_applied_after_masking():
    codebook = fs.Codebook({"yes": r"\byes\b", "sleep": "sleep"})
    leak = fs.leakage(TEXTS, LABELS, discretizer=codebook)
    assert leak.consistency.value == fs.consistency(["s", "s", "y", "o", "o"], LABELS).value
    assert leak.masked.value == fs.consistency(["s", "s", "o", "o", "o"], LABELS).value
    raw = fs.Codebook({"colon": ":", "yes": "yes"}, folded=False)
    assert fs.leakage(TEXTS, LABELS, discretizer=raw).masked.value == fs.consistency(list("coooo"), LABELS).value


@pytest.mark.parametrize(
    "discretizer", [None, fs.Codebook({"yes": "yes", "runs": "runs"}), fs.Template(), fs.CommonPhrases(2), lambda e: e]
)
def test_the_note_beside_a_number_tells_what_leakage_measures(discretizer):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 5, 200)
    reasons, labels = fs.Reasons(np.array(TEXTS)[rows], np.array(TEXTS)[rows]), np.array(LABELS)[rows]
    masked = fs.leakage(reasons, labels, discretizer=discretizer).masked
    told = f"consistency is {masked.value:.3f} [{masked.low:.2f}, {masked.high:.2f}]"
    assert any(told in note for note in fs.consistency(reasons, labels, discretizer=discretizer).notes)


def test_labels_of_several_words_are_masked_whole():
    leak = fs.leakage(["it is NOT   spam", "spam", "fine"], ["not spam", "spam", "not spam"])
    assert leak.words == (("not spam", 1), ("spam", 1))
    assert leak.masked.distinct == 3


@pytest.mark.parametrize("label", ["C++", "non-spam", "don't", "ＦＵＬＬ", "Straße"])
def test_labels_are_masked_in_texts_as_written_however_they_are_written(label):
    texts, labels = [f"It is {label}.", "It is python."] * 5, [label, "python"] * 5
    book = fs.Codebook({"label": label.replace("+", r"\+"), "python": "python"}, folded=False)
    leak = fs.leakage(texts, labels, discretizer=book)
    assert (leak.consistency.value, leak.masked.distinct) == (1.0, 1)


def test_numbers_have_no_words_but_words_may_be_told():
    with pytest.raises(BadInput, match="numbers or signs, which have no words"):
        fs.leakage(TEXTS, [0, 0, 1, 1, 1])
    assert fs.leakage(TEXTS, [0, 0, 1, 1, 1], words=["no", "yes"]).words == (("no", 2), ("yes", 1))
    with pytest.raises(WrongType, match="words must be texts"):
        fs.leakage(TEXTS, LABELS, words=[3])
    assert not any("label" in note for note in fs.consistency(fs.Reasons(TEXTS), [0, 0, 1, 1, 1]).notes)


def test_embeddings_may_know_what_was_masked():
    clusters = fs.Clusters(np.arange(5.0)[:, None], 2)
    notes = fs.consistency(fs.Reasons(TEXTS), LABELS, discretizer=clusters).notes
    assert any(note.endswith("which their embeddings may know") for note in notes)
    with pytest.raises(BadInput, match="no word can be masked"):
        fs.leakage(TEXTS, LABELS, discretizer=clusters)


def test_a_leakage_is_told_everywhere(tmp_path):
    leak = fs.leakage(["<script>no</script>", "yes", "no"], ["no", "yes", "no"])
    assert "<script>" not in leak._repr_html_()
    leak.to_html(tmp_path / "leak.html")
    assert "masked" in leak.to_markdown()
    assert leak.to_dict()["words"][0] == {"word": "no", "n": 2}
    assert leak.table()["reasons"].tolist() == ["as given", "masked"]
    assert leak.plot().to_dict()


def test_if_no_reason_names_a_label_the_difference_allows_for_those_that_were_not_seen():
    found = fs.leakage([f"he {i % 5}" for i in range(60)], ["yes", "no"] * 30)
    assert found.share == found.difference.value == 0
    assert found.difference.high == pytest.approx(2 * found.high)
    assert found.difference.low == pytest.approx(-2 * found.high)


def test_a_word_that_all_labels_share_names_none():
    found = fs.leakage(["a risk", "a good one"] * 5, ["good risk", "bad risk"] * 5)
    assert found.words == (("good", 5),)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=40))
def test_moving_rows_to_other_explanations_changes_consistency_by_at_most_twice_their_share(rows):
    before, labels, after = (np.array(column) for column in zip(*rows, strict=True))

    def consistency(codes):
        counts = np.zeros((4, 3))
        np.add.at(counts, (codes, labels), 1 / len(labels))
        totals = counts.sum(axis=1)
        return (np.square(counts).sum(axis=1)[totals > 0] / totals[totals > 0]).sum()

    moved = np.mean(before != after)
    assert abs(consistency(before) - consistency(after)) <= 2 * moved + 1e-12


def test_labels_are_found_in_scripts_without_spaces():
    texts = ["因为收入高而批准", "收入高", "审査で拒绝された"]
    found = fs.leakage(texts, ["批准", "批准", "拒绝"])
    assert found.words == (("批准", 1), ("拒绝", 1))
    assert found.share == pytest.approx(2 / 3)
    words = LabelWords.of(["批准", "拒绝"])
    reasons = fs.Reasons(texts)
    hidden = words.masked(reasons, words.within(reasons))
    assert not any("批准" in text or "拒绝" in text for text in (*hidden.texts, *hidden.folded))


def test_rows_of_one_cluster_count_as_one_in_the_interval_of_the_share():
    named = [cluster < 4 for cluster in range(10)]
    texts = [f"spam {row % 3}" if named[row // 50] else f"it sells {row % 3}" for row in range(500)]
    labels, clusters = ["spam", "ham"] * 250, np.repeat(np.arange(10), 50)
    leak, alone = fs.leakage(texts, labels, clusters=clusters), fs.leakage(texts[::50], labels[:10])
    assert (leak.share, leak.low, leak.high) == pytest.approx((alone.share, alone.low, alone.high))
    assert leak.low < fs.leakage(texts, labels).low
