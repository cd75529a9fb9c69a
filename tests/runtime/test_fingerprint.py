"""Fingerprints: equal for equal things in any process, different for things that answer differently."""

import importlib
import os
import shutil
import subprocess
import sys
from collections import OrderedDict
from functools import cached_property
from importlib import import_module as load
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import faithscope
from faithscope.errors import WrongType
from faithscope.runtime.fingerprint import fingerprint, is_own
from refused import refused

X, Y = load_breast_cancer(return_X_y=True)
MODELS = {
    "forest": lambda seed: RandomForestClassifier(5, random_state=seed).fit(X, Y),
    "pipeline": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(C=seed + 1)).fit(X, Y),
}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=4)
    | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def same(a, b):
    """Equality that tells 1 from 1.0 and True, and -0.0 from 0.0, at any depth."""
    return repr(a) == repr(b)


@given(VALUES, VALUES)
@pytest.mark.slow
def test_two_values_have_one_fingerprint_exactly_where_they_are_the_same(a, b):
    assert (fingerprint(a) == fingerprint(b)) == same(a, b)


def test_a_model_fitted_alike_is_the_same_and_predicting_changes_nothing():
    for name in MODELS:
        model = MODELS[name](0)
        before = fingerprint(model)
        model.predict(X)
        assert fingerprint(model) == before == fingerprint(MODELS[name](0))
        assert fingerprint(MODELS[name](1)) != before


def test_arrays_and_tables_differ_by_names_types_shapes_and_values():
    table = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"])})
    others = [
        table,
        table.rename(columns={"a": "c"}),
        table.assign(a=[1, 3]),
        table.assign(a=[1.0, 2.0]),
        table.assign(b=["x", "z"]),
        pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
        frame,
        frame.set_index(pd.Index([1, 0])),
        frame.set_index(pd.Index([0, 1], name="id")),
        frame.set_index(pd.Index(["0", "1"])),
        frame.set_index(pd.MultiIndex.from_tuples([(0, 0), (0, 1)])),
        frame.assign(a=frame["a"].cat.reorder_categories(["y", "x"])),
        frame.assign(a=frame["a"].cat.as_ordered()),
        frame.rename(columns={"a": 0}),
        frame.rename(columns={"a": "0"}),
        *(np.zeros(4), np.zeros((2, 2)), np.zeros(4, np.float32), np.zeros(4, object), np.zeros(4, int)),
        *(sparse.csr_matrix([[0, 1]]), sparse.csr_matrix([[0, 2]])),
    ]
    assert len({fingerprint(one) for one in others}) == len(others) == 22
    assert fingerprint(table.copy()) == fingerprint(table)
    assert fingerprint(np.arange(10)[::2]) == fingerprint(np.array([0, 2, 4, 6, 8]))


def test_what_an_object_merely_remembers_does_not_count():
    class Lazy:
        def __init__(self, by):
            self.by = by

        @cached_property
        def table(self):
            return np.arange(self.by)

    one = Lazy(3)
    before = fingerprint(one)
    assert len(one.table) == 3
    assert fingerprint(one) == before != fingerprint(Lazy(4))


def test_what_is_changed_in_place_is_another_thing():
    side, weights = 0, np.zeros(2)

    def turn():
        nonlocal side
        side = 1

    def explain(rows, kept=[0]):  # noqa: B006
        return rows[:, side] @ weights, kept

    model = LogisticRegression().fit(X[:, :2], Y)
    changes = [turn, lambda: weights.fill(1), lambda: explain.__defaults__[0].append(1)]
    changes += [lambda: model.fit(X[:, 2:4], Y), lambda: setattr(model, "by", explain)]
    known = [fingerprint(explain, model.predict)]
    for change in changes:
        change()
        known.append(fingerprint(explain, model.predict))
    assert len(set(known)) == len(known)


class LeavesOut:
    def __init__(self, side):
        self.side = side

    def __getstate__(self):
        return {}


class MadeAnew:
    __slots__ = ("side",)

    def __init__(self, side):
        self.side = side

    def __reduce__(self):
        return MadeAnew, ()


class Sided(np.ndarray):
    @classmethod
    def of(cls, side):
        made = np.zeros(2).view(cls)
        made.side = side
        return made


def masked(side):
    return np.ma.masked_array([0, 1], mask=[side == 0, side == 1])


def test_what_copies_of_an_object_leave_out_counts():
    for made in [LeavesOut, MadeAnew, Sided.of, masked]:
        assert fingerprint(made(0)) == fingerprint(made(0))
        assert fingerprint(made(0)) != fingerprint(made(1))


def test_things_that_hold_themselves_end():
    one = [1]
    one.append(one)
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(OrderedDict(a=1)) != fingerprint(OrderedDict(a=2))


def by_name(rows):
    return importlib.import_module("faith" + "scope")


def by_module_inside(rows):
    import importlib as il

    return il.import_module("faith" + "scope")


def by_what_is_loaded(rows):
    return getattr(sys.modules[__name__], rows)


def by_what_is_loaded_inside(rows):
    import sys as s

    return [s.modules[name] for name in rows]


class Broken:
    def __reduce_ex__(self, protocol):
        raise RuntimeError("not like this")


class Registered:
    known = set()  # noqa: RUF012


Registered.known.add(Registered)

HIDDEN = [
    *((code, "uses import_module, and") for code in (by_name, by_module_inside)),
    *((code, "uses modules, and") for code in (by_what_is_loaded, by_what_is_loaded_inside)),
    (lambda rows: Exception.__subclasses__(), "uses __subclasses__"),
    *((code, "uses (eval|globals), and") for code in (lambda rows: eval("rows"), lambda rows: globals()[rows])),
    (lambda rows: load("faith" + "scope"), "by names that are computed"),
    (np.frompyfunc(lambda a: a + 1, 1, 1), "does not show what it computes"),
    (Broken(), "not like this"),
    ((one for one in range(3)), "cannot be told from others"),
    (Registered, "nests too deeply"),
]


def test_what_hides_what_it_does_or_cannot_be_taken_apart_is_an_error():
    for hidden, words in HIDDEN:
        refused(WrongType, words, fingerprint, hidden)


@pytest.mark.slow
def test_a_long_chain_of_functions_ends():
    known = {}
    exec("\n".join(f"def f{i}(x): return f{i + 1}(x)" for i in range(3000)), known)
    ends = {}
    for end in (1, 1, 2):
        exec(f"def f3000(x): return {end}", known)
        ends.setdefault(end, set()).add(fingerprint(known["f0"]))
    assert len(ends[1]) == 1
    assert ends[1] != ends[2]


def test_numpys_global_chance_is_known_by_its_name():
    def drawn(rows):
        return np.random.permutation(len(rows))  # noqa: NPY002

    before = fingerprint(drawn, np.random.mtrand._rand)
    drawn([1, 2, 3])
    assert fingerprint(drawn, np.random.mtrand._rand) == before


def run(code, *paths, seed="1"):
    """What a process of its own prints."""
    path = os.pathsep.join([*map(str, paths), *(one for one in sys.path if one)])
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout


HELD = """
import numpy as np
from ordinary_code import THINGS
from sklearn.tree import DecisionTreeClassifier
from faithscope.runtime.fingerprint import fingerprint

X = np.arange(40.).reshape(20, 2)
tree = DecisionTreeClassifier(random_state=0).fit(X, X[:, 0] > 9)
THINGS = {**THINGS, "a tree of ours": (tree, {"a", "b", "c"}, lambda rows: tree.predict(rows))}
print({name: fingerprint(one) for name, one in THINGS.items()})
"""


@pytest.mark.thorough
@pytest.mark.slow
def test_what_ordinary_code_holds_is_the_same_in_any_process():
    first, second = (run(HELD, Path(__file__).parent, seed=seed) for seed in ("1", "2"))
    assert first == second
    assert len(set(eval(first).values())) == len(eval(first)) >= 20


ENVIRONMENT = "from faithscope.runtime.fingerprint import environment; print(environment())"


@pytest.mark.slow
def test_an_environment_is_known_by_our_sources_and_by_what_is_installed(tmp_path):
    source, site = Path(faithscope.__file__).parent, tmp_path / "site-packages"
    shutil.copytree(source, tmp_path / "faithscope", ignore=shutil.ignore_patterns("__pycache__"))
    record = site / "given-1.0.dist-info" / "RECORD"
    record.parent.mkdir(parents=True)
    record.write_text("given/__init__.py,sha256=a,7")
    environments = [run(ENVIRONMENT, source.parent, site), run(ENVIRONMENT, tmp_path, site)]
    record.write_text("given/__init__.py,sha256=b,7")
    environments.append(run(ENVIRONMENT, tmp_path, site))
    edited = tmp_path / "faithscope" / "explainers" / "baselines.py"
    edited.write_text(edited.read_text() + "\nEDITED = True\n")
    environments.append(run(ENVIRONMENT, tmp_path, site))
    assert environments[0] == environments[1]
    assert len(set(environments)) == 3


def test_code_is_the_users_own_unless_it_is_pythons_or_installed(tmp_path, monkeypatch):
    for place in ("site-packages", "mine"):
        for name in (f"given_{place[:4]}", f"spread_{place[:4]}/part"):
            (tmp_path / place / name).mkdir(parents=True)
        (tmp_path / place / f"given_{place[:4]}" / "__init__.py").touch()
        monkeypatch.syspath_prepend(tmp_path / place)
    assert [is_own(name) for name in ("given_mine", "spread_mine", "spread_mine.part", "of_nobody", "__main__")] == [
        True
    ] * 5
    others = ("given_site", "spread_site", "numpy.linalg", "json", "sys", "zipimport", "math", "faithscope.notes")
    assert [name for name in others if is_own(name)] == []
