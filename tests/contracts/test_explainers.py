"""What every explainer satisfies: a row's explanation is a function of the row, whatever batch it is in."""

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import brute
import faithscope as fs
from faithscope import explainers
from faithscope.inputs.rows import rows_of, take_rows
from faithscope.relations import says_where

DATA = load_breast_cancer()
NUMBERS = DATA.data[:, :6]
MIXED = pd.DataFrame(NUMBERS[:, :3], columns=["radius", "texture", "perimeter"]).assign(
    size=np.where(NUMBERS[:, 3] > 550, "large", "small"), shade=np.where(NUMBERS[:, 4] > 0.1, "dark", "light")
)
TEXTS = ["a great film", "a dull plot", "great plot, dull end", "no plot at all", "a film", "great great great"] * 4
OPINIONS = [1, 0, 1, 0, 0, 1] * 4


class Codes:
    """A model of mixed rows that insists on a table with its own columns."""

    def __init__(self):
        self.forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(self._numbers(MIXED), DATA.target)

    def _numbers(self, rows):
        assert isinstance(rows, pd.DataFrame)
        assert list(rows.columns) == list(MIXED.columns)
        return rows.assign(size=rows["size"] == "large", shade=rows["shade"] == "dark").astype(float)

    def predict(self, rows):
        return self.forest.predict(self._numbers(rows))

    def predict_proba(self, rows):
        return self.forest.predict_proba(self._numbers(rows))


@dataclass
class Case:
    """An explainer with rows to explain."""

    explainer: Any
    rows: Any


FOREST = RandomForestClassifier(5, max_depth=4, random_state=0).fit(NUMBERS, DATA.target)
VECTORIZER = CountVectorizer().fit(TEXTS)
LINEAR = LogisticRegression().fit(VECTORIZER.transform(TEXTS), OPINIONS)
TREE = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(NUMBERS, DATA.target)
SAMPLE = NUMBERS[::40]
MIXED_SAMPLE = MIXED.iloc[::60]


def opinion(documents):
    return LINEAR.predict(VECTORIZER.transform(documents))


def network():
    """A module of numbers, standardized so that its parts differ from row to row."""
    torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "faithscope[torch]"')
    torch.manual_seed(0)
    first = torch.nn.Linear(6, 8)
    with torch.no_grad():
        first.weight /= torch.tensor(NUMBERS.std(axis=0), dtype=torch.float32)
    return torch.nn.Sequential(first, torch.nn.ReLU(), torch.nn.Linear(8, 1))


CASES = {
    "tree path": lambda: Case(explainers.TreePath(TREE), SAMPLE),
    "sufficient reason": lambda: Case(explainers.SufficientReason(FOREST, NUMBERS), SAMPLE),
    "sufficient reason, coverage": lambda: Case(explainers.SufficientReason(FOREST, NUMBERS, order="coverage"), SAMPLE),
    "surrogate": lambda: Case(explainers.TreePath.surrogate(FOREST, NUMBERS, max_leaf_nodes=8), SAMPLE),
    "surrogate, mixed": lambda: Case(explainers.TreePath.surrogate(Codes(), MIXED, max_leaf_nodes=8), MIXED_SAMPLE),
    "neighbors": lambda: Case(explainers.NearestNeighbors(NUMBERS[:100], k=3), SAMPLE),
    "neighbors, mixed": lambda: Case(explainers.NearestNeighbors(MIXED.iloc[:60], metric="gower"), MIXED_SAMPLE),
    "first word": lambda: Case(explainers.FirstWord(), TEXTS),
    "all words": lambda: Case(explainers.AllWords(), TEXTS),
    "top coefficient": lambda: Case(explainers.TopCoefficient(LINEAR, VECTORIZER), TEXTS),
    "lime": lambda: Case(explainers.Lime(FOREST, NUMBERS, samples=300), SAMPLE),
    "lime, mixed": lambda: Case(explainers.Lime(Codes(), MIXED, samples=300), MIXED_SAMPLE),
    "lime, numbers as they are": lambda: Case(
        explainers.Lime(Codes(), MIXED, samples=300, discretize=False), MIXED_SAMPLE
    ),
    "gradient": lambda: Case(explainers.Gradient(network(), offset=True), SAMPLE),
    "integrated gradients": lambda: Case(explainers.Gradient(network(), method="integrated gradients"), SAMPLE),
    "anchors": lambda: Case(explainers.Anchors(FOREST, NUMBERS), SAMPLE),
    "anchors, mixed": lambda: Case(explainers.Anchors(Codes(), MIXED, beam=2), MIXED_SAMPLE),
    "text anchors": lambda: Case(explainers.TextAnchors(opinion), TEXTS),
    "counterfactual": lambda: Case(explainers.Counterfactual(FOREST, NUMBERS), SAMPLE),
    "counterfactual, mixed": lambda: Case(explainers.Counterfactual(Codes(), MIXED), MIXED_SAMPLE),
    "shap": lambda: Case(explainers.Shap(FOREST, NUMBERS[:20]), SAMPLE),
    "shap, mixed": lambda: Case(explainers.Shap(Codes(), MIXED.iloc[:20], algorithm="permutation"), MIXED_SAMPLE),
    "constant": lambda: Case(explainers.Constant(), SAMPLE),
    "random": lambda: Case(explainers.Random(5), MIXED_SAMPLE),
    "random text": lambda: Case(explainers.Random(5), TEXTS),
    "unique": lambda: Case(explainers.Unique(), SAMPLE),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]()


def same(a, b):
    """Whether two sets of explanations are equal, row by row."""
    if isinstance(a, fs.Importances):
        return a.values.shape == b.values.shape and np.allclose(a.values, b.values, rtol=1e-9, atol=1e-9)
    if isinstance(a, fs.Counterfactuals):
        return a.points.tolist() == b.points.tolist()
    codes = a.join(b).group()[0]
    return (codes[: len(a)] == codes[len(a) :]).all()


def test_one_explanation_per_row(case):
    assert len(case.explainer.explain(case.rows)) == rows_of(case.rows)


def test_explaining_twice_gives_the_same(case):
    assert same(case.explainer.explain(case.rows), case.explainer.explain(case.rows))


def test_the_batch_does_not_matter(case):
    together = case.explainer.explain(case.rows)
    n = rows_of(case.rows)
    order = np.random.default_rng(0).permutation(n)
    assert same(together.take(order), case.explainer.explain(take_rows(case.rows, order)))
    for row in order[:3]:
        alone = case.explainer.explain(take_rows(case.rows, np.array([row])))
        assert same(together.take([row]), alone)


def test_one_row_and_no_rows_work(case):
    assert len(case.explainer.explain(take_rows(case.rows, np.array([0])))) == 1
    assert len(case.explainer.explain(take_rows(case.rows, np.array([], int)))) == 0


def test_progress_never_goes_back_and_ends_with_all_rows(case):
    seen = []
    case.explainer.explain(case.rows, progress=lambda done, total: seen.append((done, total)))
    n = rows_of(case.rows)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1:] in ([], [(n, n)])  # what takes no time may say nothing


def test_a_row_is_covered_by_its_own_explanation_if_that_says_where_it_applies(case):
    explanations, labels = case.explainer.explain(case.rows), np.zeros(rows_of(case.rows))
    if not says_where(explanations, None):
        with pytest.raises(fs.errors.NotScoped):
            fs.sufficiency(explanations, labels, case.rows)
        return
    estimate = fs.sufficiency(explanations, labels, case.rows)
    assert estimate.counts.missed.sum() == 0


def test_explainers_pickle(case):
    again = pickle.loads(pickle.dumps(case.explainer))
    assert same(case.explainer.explain(case.rows), again.explain(case.rows))


def test_explanations_can_be_evaluated(case):
    labels = np.arange(rows_of(case.rows)) % 2
    ev = fs.evaluate(labels, case.explainer, case.rows)
    codes, _ = case.explainer.explain(case.rows).group()
    assert ev.consistency.value == pytest.approx(brute.consistency(codes.tolist(), labels.tolist()), abs=1e-12)
    assert ev.consistency.unverifiable == pytest.approx(brute.unverifiable(codes.tolist()), abs=1e-12)
    assert len(ev.local()) == rows_of(case.rows)
