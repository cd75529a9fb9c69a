"""Explanations of every kind with rows they belong to, and results measured on them: what methods are asked of."""

from functools import cache

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import faithscope as fs
from faithscope.explanations.keys import Plain, Records
from fuzz.hostile import TEXTS, clean_lists, columns, lists, matrices, rows, tables

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5])
OPERATORS = ("<=", "<", ">=", ">", "==", "!=", "in", "not in", "between")
SAMPLES = st.sampled_from([1, 2, 3, 5, 8])


@cache
def grid(n, d=2):
    """Rows of tame numbers."""
    return lists(n * d, NUMBERS).map(lambda values: np.array(values).reshape(n, d))


@st.composite
def conditions(draw):
    """A condition on x0 or x1 that can be true."""
    operator = draw(st.sampled_from(OPERATORS))
    value = draw(NUMBERS)
    value = (value, value + 1) if operator == "between" else (value, 0.5) if "in" in operator else value
    return draw(st.sampled_from(["x0", "x1"])), operator, value


@cache
def importances(n):
    return grid(n).map(fs.Importances)


@cache
def rankings(n):
    return importances(n).map(fs.Rank())


@cache
def plain(n):
    return clean_lists(n).map(Plain)


@cache
def records(n):
    return st.tuples(clean_lists(n), clean_lists(n)).map(lambda pair: Records(pair, ["a", "b"]))


@cache
def rules(n):
    given = lists(n, st.lists(conditions(), max_size=3))
    return given.map(lambda conditions: fs.Rules.from_conditions(conditions, features=["x0", "x1"]))


@cache
def highlights(n):
    return lists(n, st.sets(st.sampled_from(TEXTS[1:9]), max_size=2)).map(fs.Highlights)


@cache
def concepts(n):
    return marks(n).map(lambda matrix: fs.Concepts(matrix, ["x0", "x1"]))


@cache
def codes(n):
    return lists(n, st.lists(st.sampled_from([*TEXTS[1:9], 14, None]), max_size=3)).map(fs.Codes)


@cache
def reasons(n):
    texts = lists(n, st.sampled_from([*TEXTS, "yes", "It is NOT so, no.", "not so", "x" * 5000]))
    return st.tuples(texts, st.one_of(st.none(), texts)).map(lambda pair: fs.Reasons(*pair))


@cache
def marks(n):
    return lists(2 * n, st.sampled_from([0, 1])).map(lambda values: np.array(values).reshape(n, 2))


@cache
def prototypes(n):
    sets = lists(n, st.sets(st.integers(0, 2), min_size=1, max_size=2))
    return sets.map(lambda given: fs.Prototypes(given, np.array([[0.0, 0.0], [1.0, 1.0], [0.5, -1.0]])))


@cache
def counterfactuals(n):
    numeric = st.tuples(grid(n), grid(n)).map(lambda pair: fs.Counterfactuals(*pair))
    return numeric if n else st.nothing()


def mixed_counterfactuals(n):
    return st.tuples(grid(n), grid(n)).map(lambda pair: fs.Counterfactuals(*map(with_words, pair)))


def with_words(matrix):
    """The same rows, their second column as words."""
    return pd.DataFrame({"x0": matrix[:, 0], "x1": np.where(matrix[:, 1] > 0, "up", "down")})


KINDS = {
    "Importances": importances,
    "Rankings": rankings,
    "Plain": plain,
    "Records": records,
    "Rules": rules,
    "Highlights": highlights,
    "Concepts": concepts,
    "Codes": codes,
    "Reasons": reasons,
    "Prototypes": prototypes,
    "Counterfactuals": counterfactuals,
}


@cache
def of_any_kind(n):
    return st.sampled_from([*KINDS.values()]).flatmap(lambda kind: kind(n))


@cache
def explanations(n):
    """What a caller may hand over as explanations."""
    good = of_any_kind(n) if n else st.nothing()
    return st.one_of(good, good, clean_lists(n), matrices(n), tables(n), columns(n))


@cache
def labels(n):
    """Predictions: mostly clean."""
    return st.one_of(clean_lists(n), clean_lists(n), rows(n).flatmap(columns))


@cache
def some_rows(n):
    """Rows that kinds apply to, mostly."""
    return st.one_of(grid(n), grid(n), lists(n, st.sampled_from(TEXTS)), rows(n).flatmap(tables))


def fitting_rows(given, n):
    """Rows that explanations of this kind apply to."""
    if isinstance(given, fs.Concepts):
        return marks(n)
    if isinstance(given, fs.Highlights):
        return lists(n, st.sampled_from(TEXTS))
    return grid(n)


@st.composite
def options(draw, **strategies):
    """None of these settings, or one or two of them, hostile or not."""
    chosen = draw(st.sampled_from([0, 0, 0, 1, 1, 2]))
    names = draw(st.permutations(sorted(strategies)))[:chosen]
    return {name: draw(strategies[name]) for name in names}


@st.composite
def evaluations(draw, n=SAMPLES):
    """An evaluation of explanations of any kind, weighted or not."""
    size = draw(n)
    given = draw(of_any_kind(size))
    weights = draw(st.sampled_from([None, None, [1.0] * size, list(range(1, size + 1))]))
    labels = draw(clean_lists(size))
    return fs.evaluate(labels, given, draw(fitting_rows(given, size)), weights=weights, progress=False)


@st.composite
def comparisons(draw):
    """A comparison of two explainers, by group or not."""
    size = draw(st.sampled_from([2, 3, 5, 8]))
    methods = {name: draw(of_any_kind(size)) for name in draw(st.sampled_from([("a",), ("a", TEXTS[8])]))}
    methods = {
        name: explanations for name, explanations in methods.items() if not isinstance(explanations, fs.Highlights)
    } or {"a": ["w"] * size}
    groups = draw(st.one_of(st.none(), clean_lists(size)))
    return fs.compare(draw(clean_lists(size)), methods, draw(grid(size)), groups=groups, progress=False)
