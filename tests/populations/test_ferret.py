"""Comprehensiveness and sufficiency are ferret's own, document by document, where ferret is installed."""

import numpy as np
import pytest

import faithscope as fs

REASON = "ferret is not installed: pip install ferret-xai, which needs NumPy 1"
measures = pytest.importorskip("ferret.evaluators.faithfulness_measures", reason=REASON, exc_type=ImportError)
torch = pytest.importorskip("torch", reason="torch is not installed")

TEXTS = ["a great film and a great cast", "dull and slow", "great but dull in parts", "dull", "so slow it is great"]
NAMED = [{"great"}, {"dull"}, {"great", "parts"}, {"dull"}, {"slow", "great"}]
VOCABULARY = ["[CLS]", "[SEP]", *sorted({word for text in TEXTS for word in text.split()})]
WEIGHTS = np.random.default_rng(0).normal(size=(len(VOCABULARY), 2))


def logits(texts):
    """Of two classes: a sum over words."""
    return np.array([WEIGHTS[[VOCABULARY.index(word) for word in text.split()]].sum(axis=0) for text in texts])


def probability(texts):
    """Of each class."""
    odds = np.exp(logits(texts))
    return odds / odds.sum(axis=1, keepdims=True)


class Words:
    """A tokenizer of whole words, and a model that adds up weights of words, as ferret asks for both."""

    cls_token = "[CLS]"
    tokenizer = property(lambda self: self)

    def decode(self, numbers):
        return " ".join(VOCABULARY[number] for number in numbers)

    def _tokenize(self, text):
        numbers = [VOCABULARY.index(word) for word in ("[CLS]", *text.split(), "[SEP]")]
        return {"input_ids": torch.tensor([numbers]), "attention_mask": torch.ones(1, len(numbers), dtype=torch.int64)}

    def _forward(self, texts, output_hidden_states):
        return None, torch.tensor(logits([texts] if isinstance(texts, str) else texts))


def told(evaluator, row, label):
    """What ferret gives for the highlighted words of a document, as its one threshold."""
    from ferret.explainers.explanation import Explanation

    tokens = ["[CLS]", *TEXTS[row].split(), "[SEP]"]
    explanation = Explanation(TEXTS[row], tokens, np.array([float(t in NAMED[row]) for t in tokens]), "", label)
    evaluator.helper = Words()
    removal = {"remove_tokens": True, "based_on": "th", "thresholds": [0.5]}
    return evaluator.compute_evaluation(explanation, target=label, removal_args=removal).score


def test_the_drops_are_those_of_ferret():
    words, full = fs.Highlights(NAMED), probability(TEXTS)
    labels, every = full.argmax(axis=1), np.arange(len(TEXTS))
    for measure, erased in (
        (measures.AOPC_Comprehensiveness_Evaluation, words.removed(TEXTS)),
        (measures.AOPC_Sufficiency_Evaluation, words.alone(TEXTS)),
    ):
        given = fs.drawn(
            words,
            erased,
            [probability([text])[0, k] for text, k in zip(erased, labels, strict=True)],
            only_covered=False,
        )
        ours = fs.sufficiency(words, full[every, labels], population=given, agreement=fs.Close(1.0))
        theirs = [told(measure(None, Words()), row, int(labels[row])) for row in every]
        assert ours.counts.drop == pytest.approx(theirs, abs=1e-12)
        assert ours.drop == pytest.approx(np.mean(theirs), abs=1e-12)
