"""Sufficiency equals its definition, pair by pair, whatever says where explanations apply."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import brute
import faithscope as fs
from faithscope.counting.counts import count
from faithscope.counting.coverage import cover
from faithscope.errors import Incompatible, NotProven
from faithscope.relations import Applies
from faithscope.sample import Sample
from noted import noted
from refused import refused

SEEDS = st.integers(0, 100_000)
TESTS = {"<=": np.less_equal, "<": np.less, ">=": np.greater_equal, ">": np.greater, "==": np.equal, "!=": np.not_equal}


def check(found, covers_, labels):
    """covers_[i][j]: the explanation of row i covers row j."""
    assert (found.value, found.unverifiable) == pytest.approx(brute.sufficiency(covers_, labels), abs=1e-12)


def count_covered(rules, labels, X):
    """Counts of the rows that rules cover."""
    return cover(Sample.of(rules, labels, X), Applies()).counts


def random_rules(rng, n):
    """Rows, and rules from a few, so that many rows share one; some empty, impossible, or missing their own row."""
    numbers = rng.choice([0.0, 1.0, 2.0, 3.0, np.nan], (n, 2), p=[0.3, 0.2, 0.2, 0.2, 0.1])
    X = pytest.importorskip("pandas").DataFrame(
        {"a": numbers[:, 0], "b": numbers[:, 1], "c": rng.choice(["u", "v"], n)}
    )
    pool = [
        [
            (name, str(rng.choice(["==", "!="])), str(rng.choice(["u", "v", "never seen"])))
            if name == "c"
            else (name, str(rng.choice(list(TESTS))), float(rng.integers(0, 4)))
            for name in map(str, rng.choice(list("abc"), j % 4))
        ]
        for j in range(int(rng.integers(1, 7)))
    ]
    return X, [pool[j] for j in rng.integers(0, len(pool), n)]


@given(SEEDS)
def test_rules_cover_the_rows_on_which_all_their_conditions_hold(seed):
    rng = default_rng(seed)
    n = int(rng.integers(2, 25))
    (X, rules), labels = random_rules(rng, n), rng.integers(0, 3, n)
    covers_ = np.ones((n, n), bool)
    for row, rule in enumerate(rules):
        for name, test, value in rule:
            covers_[row] &= TESTS[test](X[name].to_numpy(), value) & ~X[name].isna()
    explanations = fs.Rules.from_conditions(rules, features=["a", "b", "c"])
    found = fs.sufficiency(explanations, labels, X)
    check(found, covers_, labels)
    missed = (~covers_.diagonal()).sum()
    assert found.counts.missed.sum() == missed
    assert bool(noted(found, "own explanation")) == (missed > 0)


@given(SEEDS)
def test_highlights_cover_the_documents_that_contain_all_their_words(seed):
    rng = default_rng(seed)
    n = int(rng.integers(1, 20))
    documents = [" ".join(rng.choice(list("abcdef"), rng.integers(0, 6))) for _ in range(n)]
    words = [set(rng.choice(list("abcdefg"), rng.integers(0, 3))) for _ in range(n)]
    labels = rng.choice(["yes", "no"], n)
    covers_ = [[one <= set(document.split()) for document in documents] for one in words]
    for rows in (documents, [document.split() for document in documents]):
        check(fs.sufficiency(fs.Highlights(words), labels, rows), covers_, labels)


@given(SEEDS, st.sampled_from(["euclidean", "cityblock", "chebyshev", "gower"]))
def test_counterfactuals_cover_the_open_ball_around_their_row(seed, metric):
    rng = default_rng(seed)
    n = int(rng.integers(2, 20))
    X = rng.integers(0, 5, (n, 2)).astype(float)
    points, labels = X + rng.integers(-2, 3, (n, 2)), rng.integers(0, 2, n)
    spread = np.ptp(np.concatenate([X, points]), axis=0)
    norms = {
        "euclidean": lambda d: np.sqrt((d**2).sum(-1)),
        "cityblock": lambda d: np.abs(d).sum(-1),
        "chebyshev": lambda d: np.abs(d).max(-1),
        "gower": lambda d: (np.abs(d) / np.where(spread > 0, spread, 1)).mean(-1),
    }
    distance, radius = norms[metric](X[:, None] - X[None]), norms[metric](X - points)
    found = fs.sufficiency(fs.Counterfactuals(points, X, metric=metric), labels, X)
    check(found, distance < radius[:, None], labels)
    assert found.counts.missed.sum() == np.sum(radius == 0), "a counterfactual that changes nothing covers nothing"


@given(SEEDS, st.integers(1, 3))
def test_prototypes_cover_the_rows_near_every_one_of_them_or_whose_nearest_they_are(seed, k):
    rng = default_rng(seed)
    n, m = int(rng.integers(1, 20)), int(rng.integers(3, 6))
    X, points, labels = 4 * rng.random((n, 2)), 4 * rng.random((m, 2)), rng.integers(0, 2, n)
    distance = np.sqrt(((X[:, None] - points[None]) ** 2).sum(-1))
    nearest = [frozenset(np.argsort(row)[:k].tolist()) for row in distance]
    given_ = [nearest[i] for i in rng.integers(0, n, n)]  # often not a row's own nearest
    near = [[all(row[p] <= 2 for p in one) for row in distance] for one in given_]
    same = [[each == one for each in nearest] for one in given_]
    for relation, covers_ in ((fs.Ball(2), near), (None, same), (fs.Nearest(), same)):
        check(fs.sufficiency(fs.Prototypes(given_, points), labels, X, relation=relation), covers_, labels)


def test_distances_too_close_to_tau_for_a_matrix_product_are_decided_exactly():
    rng = default_rng(0)
    phi = 1000 + rng.integers(0, 8, (300, 3)) / 8
    labels = rng.integers(0, 2, 300)
    distance = np.sqrt(((phi[:, None] - phi[None]) ** 2).sum(-1))
    for tau in (0.125, 0.25, float(distance[0, 1])):
        check(fs.within(phi, labels, tau), distance <= tau, labels)


def test_coverage_of_different_explanations_does_not_add():
    X, labels = np.array([[0.0], [1.0]]), [0, 1]
    rules = fs.Rules.from_conditions([[("x", "<=", 0.0)], [("x", "<=", 1.0)]], features=["x"])
    a, b = (count_covered(rules.take([i]), labels[i : i + 1], X[[i]]) for i in (0, 1))
    with pytest.raises(Incompatible, match="collect the distinct explanations"):
        a + b
    with pytest.raises(Incompatible, match="Same"):
        a + count(rules.take([0]), [0])
    whole = count_covered(rules, labels, X)
    assert (whole + whole).covered.tolist() == [2, 2, 2]


def test_the_error_bound_needs_rows_that_lie_under_their_own_explanation():
    rng = default_rng(0)
    X = np.where(rng.random(400) < 1 / 400, 0.0, 100.0)[:, None]
    strayed = fs.sufficiency(fs.Prototypes(np.zeros(400, int), [[0.0], [100.0]]), np.ones(400), X)
    refused(NotProven, "under their own explanation", fs.mse_bound, strayed)
    mixed = fs.sufficiency(fs.Prototypes([[0], [0, 1]], [[0.0], [1.0]]), [1, 1], [[0.0], [0.1]])
    with pytest.raises(NotProven):
        fs.mse_bound(mixed)


def test_the_papers_variance_bound_fails_for_a_hub_and_is_not_offered():
    # Every rule covers its own row and a hub of mass 1/n; all labels are equal, so the true sufficiency is 1.
    n, rng = 2000, np.random.default_rng(0)
    met = rng.binomial(n, 1 / n, 300)
    errors = (1 - np.select([met == 0, met == 1], [0.0, (n - 1) / n], 1.0)) ** 2
    assert errors.mean() > 2 * (4 / n + np.exp(-(n - 1) / n) ** 2), "the theorem's bound"
    places, labels = np.append(0.0, rng.random(49)), np.ones(50, int)
    found = fs.sufficiency(
        places, labels, places[:, None], relation=lambda X, place: (X[:, 0] == place) | (X[:, 0] == 0)
    )
    refused(NotProven, "not proven", fs.mse_bound, found)


def test_a_callers_relation_gets_plain_values():
    seen = []

    def applies(rows, explanation):
        seen.append(explanation)
        return np.ones(len(rows), bool)

    X = np.zeros((1, 1))
    fs.sufficiency(fs.Rules.from_conditions([[("x", "<=", 1.0)]], features=["x"]), [0], X, relation=applies)
    fs.sufficiency(fs.Highlights([{"a", "b"}]), [0], ["a b"], relation=applies)
    fs.sufficiency(fs.Counterfactuals([[1.0]], [[0.0]]), [0], X, relation=applies)
    fs.sufficiency([3], [0], X, relation=applies)
    assert seen[0] == [("x", "<=", 1.0)]
    assert seen[1] == frozenset("ab")
    assert [part.tolist() for part in seen[2]] == [[1.0], [0.0]]
    assert seen[3] == 3


def test_columns_are_matched_by_name():
    table = pytest.importorskip("pandas").DataFrame({"a": [0.0, 1, 2, 3], "b": [0.0, 10, 20, 30]})
    for explanations in (fs.Prototypes([0, 0, 1, 1], points=table.iloc[[0, 3]]), fs.Counterfactuals(table + 5, table)):
        found = fs.sufficiency(explanations, [0, 0, 1, 1], table)
        assert found == fs.sufficiency(explanations, [0, 0, 1, 1], table[["b", "a"]])
        refused(
            fs.errors.BadInput,
            "no column 'a'",
            fs.sufficiency,
            explanations,
            [0, 0, 1, 1],
            table.rename(columns={"a": "z"}),
        )
