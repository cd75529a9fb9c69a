"""Local explanations of InterpretML's boosting machines are importances over terms, interactions included."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused

glassbox = pytest.importorskip("interpret.glassbox")


@pytest.fixture(scope="module", params=[2, 3])
def boosted(request):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X[y < request.param], y[y < request.param]
    model = glassbox.ExplainableBoostingClassifier(interactions=2, max_rounds=10, n_jobs=1).fit(X, y)
    return X, model.predict(X), model


def test_local_explanations_are_what_eval_terms_gives(boosted):
    X, labels, model = boosted
    terms, local = model.eval_terms(X), model.explain_local(X)
    chosen, wrong, wanted = (None, 2, terms) if terms.ndim == 2 else (1, 3, terms[:, :, 1])
    for given, names in ((local, None), (terms, model.term_names_)):
        read = fs.read(given, class_index=chosen, features=names)
        assert read.names == tuple(model.term_names_)
        assert np.allclose(read.values, wanted)
    assert any(" & " in name for name in read.names)
    assert fs.consistency(local, labels, discretizer="sign").n == len(X)
    refused(BadInput, "class_index", fs.read, local, class_index=wrong)
    if terms.ndim == 2:
        assert np.array_equal(fs.read(local, class_index=0).values, -fs.read(local).values)
    else:
        own = fs.read(local, class_index="predicted").values
        assert np.allclose(own, terms[np.arange(len(X)), :, np.searchsorted(model.classes_, labels)])
    refused(BadInput, "explain_local", fs.read, model.explain_global())
