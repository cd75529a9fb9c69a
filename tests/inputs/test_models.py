"""Models as people hold them: probabilities alone, torch modules, text classifiers."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused

EX = fs.explainers
ROWS = default_rng(0).normal(size=(60, 3))


def explain(rows):
    return (np.asarray(rows)[:, :1] > 0.5).astype(float)


class Chances:
    """A model that has probabilities alone."""

    def __init__(self, classes=None):
        if classes is not None:
            self.classes_ = np.array(classes)

    def predict_proba(self, rows):
        share = 1 / (1 + np.exp(-np.asarray(rows)[:, 0]))
        return np.column_stack([1 - share, share])


def evaluate(model, rows=ROWS, **options):
    return fs.evaluate(model, explain, rows, progress=False, **options)


def test_probabilities_alone_predict_the_most_probable_class():
    named, plain = evaluate(Chances(["no", "yes"])), evaluate(Chances())
    assert named.predictions.tolist() == np.where(ROWS[:, 0] > 0, "yes", "no").tolist()
    assert plain.predictions.tolist() == (ROWS[:, 0] > 0).astype(int).tolist()
    assert any("since the model has no predict" in note for note in named.consistency.notes)
    assert evaluate(Chances().predict_proba, agreement=fs.Spread()).agreement == fs.Spread()
    refused(BadInput, "pass model.predict_proba", evaluate, Chances(), agreement=fs.Spread())


@pytest.mark.parametrize(
    ("explainer", "options"),
    [
        (EX.TreePath.surrogate, {"max_leaf_nodes": 4}),
        (EX.Anchors, {}),
        (EX.Counterfactual, {}),
        (EX.Lime, {"samples": 50}),
        (EX.Shap, {}),
    ],
)
def test_explainers_take_probabilities_alone(explainer, options):
    assert len(explainer(Chances(), ROWS[:20], **options).explain(ROWS[:3])) == 3


def test_tables_of_probabilities_are_no_labels():
    for probabilities in (Chances().predict_proba(ROWS), np.round(Chances().predict_proba(ROWS))):
        refused(BadInput, "If these are class probabilities", fs.consistency, explain(ROWS), probabilities)


@pytest.mark.parametrize("held", [np.array, list, pd.DataFrame])
def test_several_labels_per_row_are_refused_with_what_to_pass(held):
    flags = default_rng(1).integers(0, 2, (60, 3))
    given = flags.tolist() if held is list else held(flags)
    refused(BadInput, "if several labels, .str.row. for row in labels.", fs.consistency, [*range(60)], given)


class TextPipeline:
    """Like Hugging Face's text-classification pipelines, which take a list of texts and nothing else."""

    task, tokenizer, preprocess, postprocess = "text-classification", None, None, None

    def __init__(self, top_k=1):
        self.top_k = top_k

    def __call__(self, texts):
        assert isinstance(texts, list)
        shares = [0.9 if "good" in text else 0.2 for text in texts]
        both = [[{"label": "POS", "score": s}, {"label": "NEG", "score": 1 - s}] for s in shares]
        return both if self.top_k is None else [max(pair, key=lambda each: each["score"]) for pair in both]

    predict = __call__


@pytest.mark.parametrize("top_k", [1, None])
@pytest.mark.parametrize("hold", [list, np.array, pd.Series])
def test_text_classifiers_predict_the_label_with_the_highest_score(top_k, hold):
    texts = ["good film", "bad film", "good plot", "dull plot"] * 5
    told = fs.evaluate(TextPipeline(top_k), fs.explainers.FirstWord(), hold(texts), progress=False)
    assert told.predictions.tolist() == ["POS" if "good" in text else "NEG" for text in texts]
    assert fs.consistency([text[:4] for text in texts], TextPipeline(top_k)(texts)).value == 1.0


def test_answers_of_a_text_classifier_must_all_be_answers():
    refused(BadInput, "row 1 is 'POS'", fs.consistency, ["a", "b"], [{"label": "POS", "score": 0.9}, "POS"])


def test_a_torch_module_of_several_outputs_predicts_the_highest():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 4)
    with torch.no_grad():
        expected = net(torch.tensor(ROWS, dtype=torch.float32)).argmax(1).tolist()
    for rows in (ROWS, torch.tensor(ROWS, requires_grad=True), pd.DataFrame(ROWS)):
        told = fs.evaluate(net, lambda X: ["all"] * len(X), rows, progress=False)
        assert told.predictions.tolist() == expected
        assert any("position of the highest" in note for note in told.consistency.notes)
    assert len(fs.explainers.TreePath.surrogate(net, ROWS, max_leaf_nodes=4).explain(ROWS)) == 60
