"""Objects of text explainers are highlights of their largest words: captum's own, and recorded ones of the others."""

from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused

TOKENS = ["Ġa", "Ġgreat", "Ġpl", "ot", "</s>"]
NUMBERS = np.array([0.1, 0.4, 0.3, 0.3, 9.0])  # "plot" counts 0.6, and the end of the text does not count
Token = namedtuple("Token", ["token", "id"])


def ferret(tokens, numbers):
    return SimpleNamespace(text=" ".join(tokens), tokens=tokens, scores=numbers, explainer="LIME", target=1)


def interpreto(tokens, numbers):
    return SimpleNamespace(attributions=np.stack([-2 * numbers[::-1], numbers]), elements=tokens)


def inseq(tokens, numbers):
    halves = np.column_stack([numbers / 2, numbers / 2])
    return SimpleNamespace(
        source=[Token(token, j) for j, token in enumerate(tokens)],
        target=[Token("x", 0)],
        source_attributions=halves,
        target_attributions=None,
        attr_pos_start=0,
    )


def inseq_without_encoder(tokens, numbers):
    values = np.vstack([np.column_stack([numbers, np.zeros(len(numbers))]), [[np.nan, 0.7], [np.nan, np.nan]]])
    target = [Token(token, j) for j, token in enumerate([*tokens, "new", "text"])]
    return SimpleNamespace(
        source=None, target=target, source_attributions=None, target_attributions=values, attr_pos_start=len(tokens)
    )


def captum(tokens, numbers):
    attr = pytest.importorskip("captum.attr")
    torch = pytest.importorskip("torch")
    seq = torch.tensor(numbers, requires_grad=True)
    return attr.LLMAttributionResult(input_tokens=tokens, output_tokens=["x"], seq_attr=seq)


@pytest.mark.parametrize("made", [ferret, interpreto, inseq, inseq_without_encoder, captum])
def test_words_are_put_together_and_the_largest_are_kept(made):
    rows = [made(TOKENS, NUMBERS), made(TOKENS[:2], NUMBERS[:2])]
    read = fs.read(rows, top=1)
    assert [read.item(0), read.item(1)] == [{"plot"}, {"great"}]
    assert fs.read(rows).item(0) == {"a", "great", "plot"}
    assert fs.sufficiency(rows, [1, 1], ["a great plot", "A great one"]).counts.missed.sum() == 0
    assert fs.read(rows[0], top=1).item(0) == {"plot"}
    refused(BadInput, "Row 1 is a str, and not of the kind", fs.read, [rows[0], "text"])


def test_all_sequences_of_one_output_of_inseq_are_rows_and_dimensions_count_by_their_norm():
    output = SimpleNamespace(sequence_attributions=[inseq(TOKENS, NUMBERS), inseq(TOKENS[:2], NUMBERS[:2])])
    assert [fs.read(output, top=1).item(row) for row in (0, 1)] == [{"plot"}, {"great"}]
    row = inseq(TOKENS[:2], NUMBERS[:2])
    row.source_attributions = np.array([[[3.0, 4.0]], [[-6.0, 0.0]]])
    assert fs.read([row], top=1).item(0) == {"great"}


def test_an_output_of_inseq_without_what_is_known_of_it_is_no_empty_explanation():
    for sequences, told in (([SimpleNamespace()], "got a SimpleNamespace"), ([], "no explanations in this")):
        refused(BadInput, told, fs.read, SimpleNamespace(sequence_attributions=sequences))


def test_pieces_of_every_vocabulary_become_words():
    for tokens, words in (
        (["un", "##believ", "##able", "[SEP]"], {"unbelievable"}),
        (["▁un", "believ", "able", "<pad>"], {"unbelievable"}),
        (["un", "believ", "able ", ""], {"unbelievable"}),
        (["isn't", "it", "?", "<|end|>"], {"isn't", "it", "?"}),
    ):
        assert fs.read([ferret(tokens, [0.5] * len(tokens))]).item(0) == words


def test_what_is_said_of_a_word_adds_up_over_the_text():
    read = fs.read([ferret(["dull", "great", "dull"], [0.4, -0.6, 0.4])], top=1)
    assert read.item(0) == {"dull"}
    assert fs.read([ferret(["dull", "plot"], [0.0, 0.0])]).item(0) == set()


def test_bad_numbers_are_refused():
    refused(BadInput, "Row 0 has 2 tokens but 1 numbers", fs.read, [ferret(["a", "b"], [1.0])])
    refused(BadInput, "Row 0 has a number that is NaN", fs.read, [ferret(["a"], [np.nan])])
    several = SimpleNamespace(attributions=np.ones((3, 2)), elements=["a", "b"])
    refused(BadInput, "of 3 classes: choose one", fs.read, [several])
