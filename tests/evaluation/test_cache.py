"""The cache: a run goes on where it was cut off, a second run computes nothing, and a bad file is never trusted."""

import math
from collections import Counter
from functools import partial, partialmethod, wraps

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from sklearn.linear_model import LogisticRegression

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.evaluation.cache import Cache
from refused import refused

ROWS = default_rng(0).normal(size=(230, 3))


class Rounded:
    """An explainer that remembers how many rows it was asked about."""

    def __init__(self, decimals=0):
        self.decimals = decimals

    def __fingerprint__(self):
        return self.decimals

    def explain(self, rows):
        ASKED.append(len(rows))
        return fs.Importances(np.round(np.asarray(rows, float), self.decimals))


class Asked(list):
    """What was asked, which is no part of what a function does."""

    def __fingerprint__(self):
        return None


ASKED = Asked()


@pytest.fixture(autouse=True)
def nothing_asked():
    ASKED.clear()


def above(rows):
    return np.asarray(rows)[:, 0] > 0


def run(folder, explainer=None, rows=ROWS, **options):
    return fs.evaluate(above, explainer or Rounded(), rows, cache=Cache(folder, rows=100), **options)


def test_a_second_run_computes_nothing_and_says_what_is_said_without_a_cache(tmp_path):
    first, second = run(tmp_path), run(tmp_path)
    assert ASKED == [100, 100, 30]
    assert first.consistency == second.consistency == fs.evaluate(above, Rounded(), ROWS).consistency
    assert first.explanations.values.tobytes() == second.explanations.values.tobytes()
    assert first.predictions.tolist() == second.predictions.tolist()


def test_other_settings_other_rows_and_other_models_are_asked_anew(tmp_path):
    labels = run(tmp_path).predictions
    run(tmp_path, Rounded(1))
    run(tmp_path, rows=np.vstack([ROWS[:200], ROWS[200:] + 1]))
    assert ASKED == [100, 100, 30, 100, 100, 30, 30]
    turned = fs.evaluate(lambda rows: rows[:, 0] <= 0, Rounded(), ROWS, cache=tmp_path).predictions
    assert (labels != turned).all()


def put(home, name, *values):
    """An attribute of installed code, changed while Python runs."""
    return lambda patch: [partial(patch.setattr, home, name, value, raising=False) for value in values]


def part(by):
    return lambda self, rows: np.asarray(rows)[:, by] > 0


LINEAR = LogisticRegression().fit(ROWS, ROWS[:, 0] > 0)
NAMED = pd.DataFrame(ROWS)
SEEN = Counter(a=1)
SCALED = partial(np.multiply, 2.0)
CHANGES = {
    "a number in an installed class": (LINEAR, put(LogisticRegression, "bar", 0.5, 0.7)),
    "an array in an installed class": (LINEAR, put(LogisticRegression, "bar", np.zeros(2), np.ones(2))),
    "a method of an installed class by another of its own": (
        LINEAR,
        put(LogisticRegression, "predict", LogisticRegression.predict, LogisticRegression.decision_function),
    ),
    "a method of an installed class by one that wraps it": (
        LINEAR,
        put(LogisticRegression, "predict", *(wraps(LogisticRegression.predict)(part(by)) for by in (1, 2))),
    ),
    "a method of an installed class by a partial": (
        LINEAR,
        put(LogisticRegression, "bar", partialmethod(print, 1), partialmethod(print, 2)),
    ),
    "a number in an installed module": (lambda rows: rows * math.bar, put(math, "bar", 1.0, 2.0)),
    "a setting in an installed module": (lambda rows: math.bar["by"], put(math, "bar", {"by": 1}, {"by": 2})),
    "a function in an installed module": (lambda rows: math.bar(rows), put(math, "bar", np.mean, np.median)),
    "an object in a module inside a package": (
        lambda rows: pd.api.bar.decimals,
        put(pd.api, "bar", Rounded(1), Rounded(2)),
    ),
    "attributes of a mapping of Python's": (lambda rows: SEEN.by, put(SEEN, "by", 1, 2)),
    "attributes of a partial": (lambda rows: SCALED.by, put(SCALED, "by", 1, 2)),
    "names of a frame's columns": (NAMED, put(NAMED.columns, "name", "a", "b")),
    "attributes of a frame": (NAMED, put(NAMED, "attrs", {"unit": "m"}, {"unit": "km"})),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_changed_while_python_runs_is_another_question(name, tmp_path, monkeypatch):
    asked, changes = CHANGES[name]
    questions = []
    for change in changes(monkeypatch):
        change()
        questions.append(Cache(tmp_path).question(f"of {name}", asked))
    assert None not in questions
    assert len(set(questions)) == len(questions) == 2


def test_a_plain_function_sees_all_rows_at_once(tmp_path):
    def centered(rows):
        ASKED.append(len(rows))
        return np.sign(rows - rows.mean(axis=0))

    assert run(tmp_path, centered).consistency == run(tmp_path, centered).consistency
    assert ASKED == [230]


def test_a_damaged_file_is_named_and_ignored(tmp_path):
    whole = run(tmp_path)
    victim = max(tmp_path.glob("explanations-*"))
    victim.write_bytes(victim.read_bytes()[:200])
    ASKED.clear()
    with pytest.warns(UserWarning, match=victim.name):
        assert run(tmp_path).consistency == whole.consistency
    assert len(ASKED) == 1
    victim.unlink()
    victim.mkdir()
    with (
        pytest.warns(UserWarning, match="cannot be read"),
        pytest.raises(BadInput, match="cannot be written"),
    ):
        run(tmp_path)
    assert len(ASKED) == 2


class Open:
    """An explainer that holds what cannot be looked into."""

    def __init__(self, decimals):
        self.decimals, self.lines = decimals, (line for line in "ab")

    def explain(self, rows):
        return np.round(rows, self.decimals)


def test_what_cannot_be_told_from_others_is_not_kept_and_a_sentence_says_so(tmp_path):
    for decimals in (0, 1, 1):
        words = "Open are not kept in the cache, and are computed each time: .*generator"
        with pytest.warns(UserWarning, match=words) as told:
            found = run(tmp_path, Open(decimals))
        assert {one.filename for one in told} == {__file__}, "the line that called"
        assert found.consistency == fs.evaluate(above, Open(decimals), ROWS).consistency
    assert [path.name.split("-")[0] for path in tmp_path.iterdir()] == ["predictions"]


class Counting:
    """A model that counts how often it was asked, and explains itself."""

    def __init__(self):
        self.calls = 0

    def predict(self, rows):
        self.calls += 1
        return rows[:, 0] > 0

    def explain(self, rows):
        ASKED.append(len(rows))
        return self.predict(rows).astype(int)


def test_what_answering_leaves_behind_does_not_matter_to_the_next_run(tmp_path):
    for _ in range(2):
        model = Counting()
        fs.evaluate(model, model, ROWS, cache=tmp_path)
    assert ASKED == [230]


def test_rows_with_other_labels_are_other_rows(tmp_path):
    class ByLabel:
        def explain(self, rows):
            return rows.index.to_numpy() % 2

    for index in (np.arange(230), np.arange(230) * 2):
        rows = pd.DataFrame(ROWS, index=index)
        kept = fs.evaluate(above, ByLabel(), rows, cache=tmp_path)
        assert kept.consistency == fs.evaluate(above, ByLabel(), rows).consistency


def test_a_folder_that_cannot_be_is_refused_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("")
    for folder in ("x" * 5000, "x" * 300, "nul\0byte", "a-file/inside"):
        with pytest.raises(BadInput, match=r"cannot be a folder \(.*\): choose another\.") as caught:
            fs.evaluate(above, Rounded(), ROWS, cache=folder)
        assert len(str(caught.value)) < 500
    refused(WrongType, "folder's path", fs.evaluate, above, Rounded(), ROWS, cache=7)


class Changing:
    """An explainer that answers numbers to some rows and texts to others."""

    def explain(self, rows):
        return [str(int(x)) if x > 0 else int(x) for x in rows[:, 0]]


def test_an_explainer_that_answers_with_another_type_in_a_later_part_is_refused_as_it_is_in_memory(tmp_path):
    rows, words = np.repeat([[-1.0], [1.0]], 100, axis=0), r"mix types: row 0 is number \(-1\), row 100 is text \('1'\)"
    for cache in (None, tmp_path, Cache(tmp_path, rows=100), Cache(tmp_path, rows=100)):
        refused(WrongType, words, fs.evaluate, above, Changing(), rows, cache=cache)
