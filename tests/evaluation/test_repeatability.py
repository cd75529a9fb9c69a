"""Asking several runs: explainers by seed, ready runs, the cache, other libraries, bad input."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import faithscope as fs
from faithscope.errors import BadInput, Incompatible, WrongType
from refused import refused

RNG = default_rng(0)
X = RNG.normal(size=(60, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
LABELS = X[:, 0] + X[:, 1] > 0
MODEL = LogisticRegression().fit(X, LABELS)


def lime(seed, samples=60):
    return fs.explainers.Lime(MODEL, X, samples=samples, seed=seed)


def asked(explain, rows=X, **options):
    return fs.repeatability(explain, rows, **options)


def test_explainers_are_made_from_the_seeds_0_to_runs_less_1():
    ready = fs.repeatability([lime(seed).explain(X) for seed in range(3)], discretizer="sign")
    listed = asked(list(map(lime, range(3))), discretizer="sign")
    repeated = asked(lime, runs=3, discretizer="sign")
    for other in (ready, listed):
        assert {**repeated.to_dict(), "notes": []} == {**other.to_dict(), "notes": []}


def test_a_model_that_is_fitted_anew_in_place_is_asked_before_it_changes():
    forest = RandomForestClassifier(3, max_depth=2)

    def explain(seed):
        forest.set_params(random_state=seed).fit(X, LABELS)
        return lambda rows: forest.predict_proba(rows).argmax(axis=1) + 2 * (rows[:, 2] > 0)

    assert 0 < asked(explain, runs=4).value < 1


def test_what_was_explained_is_kept_and_read_again(tmp_path):
    log = tmp_path / "asked"

    class Explainer:
        def __init__(self, seed):
            self.seed = seed

        def explain(self, rows):
            with log.open("a") as file:
                file.write(f"{self.seed}")
            return np.sign(rows + default_rng(self.seed).normal(size=(len(rows), 3)))

    values = [asked(Explainer, runs=runs, cache=tmp_path / "kept").value for runs in (3, 4, 3)]
    assert log.read_text() == "0123"
    assert values[0] == values[2] != values[1]


def test_explainers_that_look_alike_do_not_share_what_was_kept(tmp_path):
    """Their chance comes from elsewhere, so the answers of one are not those of the other."""
    runs = [asked(lambda seed: _Fickle(), runs=3, cache=tmp_path).value for _ in range(2)]
    assert runs[0] == runs[1] < 1


class _Fickle:
    def explain(self, rows):
        return np.sign(np.asarray(rows) + np.random.normal(size=np.shape(rows)))  # noqa: NPY002


BAD = {
    TypeError: [(lambda: asked(fs.explainers.Lime), "missing")],
    WrongType: [
        (lambda: asked(lime(0)), "explain is Lime, which makes one run"),
        (lambda: asked(np.sign), "seed 0 is int64, which is no explainer"),
        (lambda: asked(lambda seed: None), "seed 0 is NoneType"),
        (lambda: fs.repeatability(X), "explain is ndarray, which makes one run"),
        (lambda: fs.repeatability(None), "explain is NoneType, which makes none"),
    ],
    BadInput: [
        (lambda: asked(lime, runs=1), "got 1: pass at least two"),
        (lambda: fs.repeatability(lime), "X is missing"),
        (lambda: fs.repeatability([X, X[:5]]), r"Runs\[0\] have 60 rows but runs\[1\] have 5"),
        (lambda: fs.repeatability([X[:5]] * 2, X), r"X have 60 rows but runs\[0\] have 5"),
        (lambda: asked(lambda seed: lambda rows: rows[:5]), "X have 60 rows but seed 0 have 5"),
        (lambda: fs.repeatability({"mon": FRAME, "tue": FRAME[::-1]}), r"runs\['tue'\].loc\[runs\['mon'\].index\]"),
        (lambda: fs.repeatability([FRAME[::-1]] * 2, FRAME), "row labels of X in another order"),
        (lambda: fs.repeatability([X, X * np.nan]), r"runs\[1\] cannot be read"),
        (lambda: asked(lime, weights=[1, 2]), "weights have 2"),
        (lambda: asked(lime, discretizer="signs"), "No discretizer is called 'signs'"),
        (lambda: fs.repeatability([lime(0), lime(1)]), "X is missing"),
    ],
    Incompatible: [
        (lambda: fs.repeatability([X, ["a"] * 60]), "so no two can be equal"),
        (lambda: fs.repeatability([FRAME, FRAME.set_axis([*"zbc"], axis=1)]), "'a' in one and 'z' in the"),
    ],
}


def test_bad_input_is_told_in_one_sentence():
    for error in BAD:
        for call, words in BAD[error]:
            with pytest.raises(error, match=words) as told:
                call()
            assert len(str(told.value)) <= 400


def test_an_error_of_the_callers_own_code_stays_what_it_is_and_tells_that_a_seed_was_passed():
    def explain(seed):
        raise RuntimeError("no such model")

    with pytest.raises(RuntimeError) as told:
        asked(explain)
    assert told.value.__notes__[0] == "Raised by explain(0), which is called with a seed."
    of_rows = r"explain\(0\), which is called with a seed, failed \(TypeError: .*\): pass a function from a seed"
    refused(WrongType, of_rows, asked, lambda rows: rows[:, 0])
