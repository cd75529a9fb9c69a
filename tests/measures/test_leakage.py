"""Leakage: reasons that name the answer."""

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.measures.named_labels import masked
from refused import refused

TEXTS = ["No: he sleeps", "He sleeps", "YES, he runs", "he runs", "No, he runs"]
LABELS = ["no", "no", "yes", "yes", "yes"]


def test_what_is_left_of_consistency_without_labels_forgets_which_label_it_was():
    leak = fs.leakage(TEXTS, LABELS)
    assert leak.own == 0.4
    assert "60.0%" in str(leak)
    # Without labels, "he sleeps" and "<label> he sleeps" are left, and runs likewise.
    assert leak.masked.value == fs.consistency(["ls", "s", "lr", "r", "lr"], LABELS).value
    assert leak.difference.value == pytest.approx(leak.consistency.value - leak.masked.value)
    assert leak.table()["reasons"].tolist() == ["as given", "masked"]
    assert leak.plot().to_dict()


CHINESE = ["因为收入高而批准", "收入高", "审査で拒绝された"]


@pytest.mark.parametrize(
    ("texts", "labels", "words"),
    [
        (TEXTS, LABELS, {"no": 2, "yes": 1}),
        (["nothing is known", "yesterday"], ["no", "yes"], {}),
        (["it is NOT   spam", "spam", "fine"], ["not spam", "spam", "not spam"], {"not spam": 1, "spam": 1}),
        (["a risk", "a good one"] * 5, ["good risk", "bad risk"] * 5, {"good": 5}),
        (CHINESE, ["批准", "批准", "拒绝"], {"批准": 1, "拒绝": 1}),
    ],
    ids=["one word", "parts of words", "several words", "a word that all labels share", "no spaces between words"],
)
def test_the_words_that_name_labels_are_counted(texts, labels, words):
    leak = fs.leakage(texts, labels)
    assert dict(leak.words) == words
    assert leak.share == pytest.approx(sum(words.values()) / len(texts))


def test_labels_of_several_words_are_masked_whole():
    assert fs.leakage(["it is NOT   spam", "spam", "fine"], ["not spam", "spam", "not spam"]).masked.distinct == 3
    hidden = masked(fs.Reasons(CHINESE), ("批准", "拒绝"))
    assert not any(label in text for label in ("批准", "拒绝") for text in (*hidden.texts, *hidden.folded))


def test_reasons_that_copy_the_answer_are_found_out():
    answers = default_rng(0).choice(["approved", "denied"], 400)
    reasons = fs.Reasons([f"It was {answer}." for answer in answers])
    estimate, leak = fs.consistency(reasons, answers), fs.leakage(reasons, answers)
    assert (estimate.value, leak.masked.above_chance) == (1, False)
    assert leak.difference.low > 0.3
    (note,) = [note for note in estimate.notes if "name a label" in note]
    assert note.startswith("100% of reasons name a label, such as ")
    assert note in fs.evaluate(answers, reasons, np.arange(400.0)[:, None], progress=False).consistency.notes
    assert note in fs.certify(reasons, answers, [None], interval=None).notes


def test_a_discretizer_is_applied_after_masking():
    given, masked, codes = "ssyoo", "ssooo", {"yes": r"\byes\b", "sleep": "sleep"}
    leak = fs.leakage(TEXTS, LABELS, discretizer=fs.Codebook(codes))
    as_written = fs.Codebook(codes, folded=False)
    refused(fs.errors.BadInput, "reads texts as written", fs.leakage, TEXTS, LABELS, discretizer=as_written)
    assert leak.consistency.value == fs.consistency(list(given), LABELS).value
    assert leak.masked.value == fs.consistency(list(masked), LABELS).value


@pytest.mark.parametrize(
    "discretizer", [None, fs.Codebook({"yes": "yes", "runs": "runs"}), fs.Template(), fs.CommonPhrases(2), lambda e: e]
)
def test_the_note_beside_a_number_tells_what_leakage_measures(discretizer):
    rows = default_rng(1).integers(0, 5, 200)
    reasons, labels = fs.Reasons(np.array(TEXTS)[rows], np.array(TEXTS)[rows]), np.array(LABELS)[rows]
    share = fs.leakage(reasons, labels, discretizer=discretizer).share
    notes = fs.consistency(reasons, labels, discretizer=discretizer).notes
    assert any(note.startswith(f"{share:.0%} of reasons name a label") for note in notes)


@pytest.mark.parametrize("label", ["C++", "non-spam", "don't", "ＦＵＬＬ", "Straße"])
def test_labels_are_masked_however_they_are_written(label):
    texts, labels = [f"It is {label}.", "It is python."] * 5, [label, "python"] * 5
    leak = fs.leakage(texts, labels)
    assert (leak.consistency.value, leak.masked.distinct) == (1.0, 1)


def test_numbers_have_no_words_but_words_may_be_told():
    numbers = [0, 0, 1, 1, 1]
    assert fs.leakage(TEXTS, numbers, words=["no", "yes"]).words == (("no", 2), ("yes", 1))
    assert not any("label" in note for note in fs.consistency(fs.Reasons(TEXTS), numbers).notes)


def test_embeddings_may_know_what_was_masked():
    clusters = fs.Clusters(np.arange(5.0)[:, None], 2)
    notes = fs.consistency(fs.Reasons(TEXTS), LABELS, discretizer=clusters).notes
    assert any(note.endswith("which their embeddings may know") for note in notes)


def test_if_no_reason_names_a_label_the_difference_allows_for_those_that_were_not_seen():
    found = fs.leakage([f"he {i % 5}" for i in range(60)], ["yes", "no"] * 30)
    assert found.share == found.difference.value == 0
    assert (found.difference.low, found.difference.high) == pytest.approx((-2 * found.high, 2 * found.high))


def test_rows_of_weight_0_change_nothing():
    rng = np.random.default_rng(0)
    texts, labels = rng.choice(TEXTS, 60).tolist(), rng.choice(["no", "yes"], 60)
    weights = rng.choice([0.0, 1.0, 2.0], 60)
    kept = np.flatnonzero(weights)
    for each in (weights, 1.0 * (weights > 0)):
        first = fs.leakage(texts, labels, weights=each)
        second = fs.leakage([texts[row] for row in kept], labels[kept], weights=each[kept])
        assert (first.share, first.low, first.high, first.own) == (second.share, second.low, second.high, second.own)
        assert (first.words, first.difference) == (second.words, second.difference)
