"""Local explanations of InterpretML's boosting machines are importances over terms, interactions included."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import faithscope as fs
from faithscope.errors import BadInput

glassbox = pytest.importorskip("interpret.glassbox")


@pytest.fixture(scope="module", params=[2, 3])
def boosted(request):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X[y < request.param], y[y < request.param]
    model = glassbox.ExplainableBoostingClassifier(interactions=2, max_rounds=10, n_jobs=1).fit(X, y)
    return X, model.predict(X), model


def test_local_explanations_are_what_eval_terms_gives(boosted):
    X, labels, model = boosted
    terms = model.eval_terms(X)
    wanted = terms if terms.ndim == 2 else terms[:, :, 1]
    read = fs.read(model.explain_local(X), class_index=None if terms.ndim == 2 else 1)
    assert read.names == tuple(model.term_names_)
    assert any(" & " in name for name in read.names)
    assert np.allclose(read.values, wanted)
    chosen = fs.read(terms, class_index=None if terms.ndim == 2 else 1, features=model.term_names_)
    assert chosen.names == read.names
    assert np.array_equal(chosen.values, wanted)
    assert fs.consistency(model.explain_local(X), labels, discretizer="sign").n == len(X)


def test_a_class_of_one_number_per_term_is_refused(boosted):
    X, _, model = boosted
    wrong = 0 if model.eval_terms(X).ndim == 2 else 3
    with pytest.raises(BadInput, match="class_index"):
        fs.read(model.explain_local(X), class_index=wrong)


def test_a_global_explanation_is_refused(boosted):
    with pytest.raises(BadInput, match="explain_local"):
        fs.read(boosted[2].explain_global())
