"""The last step of dice-ml 0.5 to 0.7, step by step as its loops have it, against ours."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from faithscope_reproduction.authors.random_flips import NONE, RandomFlips
from faithscope_reproduction.authors.small_changes import SmallChanges, decimals


def sign(number):
    return int(number > 0) - int(number < 0)


def one_by_one(point, row, valid, known, fractions):
    """The package's loops for one counterfactual, feature by feature and step by step."""
    point = list(map(float, point))
    places, small = decimals(known, fractions), {}
    for j, column in enumerate(known.T):
        different = np.array(sorted(set(column.tolist())))
        spread = np.median(np.abs(column - np.median(column)))
        small[j] = min(np.quantile(np.abs(different - np.median(different)), 0.1), spread if spread > 0 else 1.0)
    for j, largest in sorted(small.items(), key=lambda item: item[1], reverse=True):
        gap = row[j] - int(point[j])
        if abs(gap) > largest:
            continue
        before, still = gap, True
        while abs(gap) > 10e-4 and sign(gap * before) > 0 and still:
            whole = int(point[j])
            point[j] += sign(gap) * 10 ** -int(places[j])
            before = gap
            still = valid(point)
            if not still:
                point[j] = whole
                break
            gap = row[j] - int(point[j])
    return point


class Waves:
    """Two classes in many narrow bands, so that steps lose the class and win it again."""

    def predict(self, X):
        return (np.sin(2.3 * X[:, 0] + X[:, 1]) + 0.5 * np.sin(3 * X[:, 2]) + 0.2 * X[:, 3] > 0).astype(int)


def rows_of(rng, n):
    """Whole numbers, one and two decimals on both sides of zero, and a rare flag."""
    columns = [
        rng.integers(-6, 7, n),
        rng.normal(0, 3, n).round(1),
        rng.normal(0, 0.8, n).round(2),
        rng.random(n) < 0.1,
    ]
    return np.column_stack(columns).astype(float)


@pytest.mark.parametrize("fractions", [False, True])
def test_small_changes_are_taken_back_as_the_packages_loops_take_them_back(fractions):
    rng = np.random.default_rng(3)
    known, rows, model = rows_of(rng, 300), rows_of(rng, 400), Waves()
    moved = rng.random(rows.shape) < 0.5
    points = rows + moved * rng.integers(-3, 4, rows.shape) * [1, 0.3, 0.3, 1]
    wanted = model.predict(points)
    ours = SmallChanges.of(known, fractions).take_back(
        points, rows, lambda asked, of: model.predict(asked) == wanted[of]
    )
    theirs = [
        one_by_one(point, row, lambda p, w=w: model.predict(np.array([p]))[0] == w, known, fractions)
        for point, row, w in zip(points, rows, wanted, strict=True)
    ]
    assert np.array_equal(ours, theirs)
    assert (ours != points).any(axis=1).mean() > 0.3


def test_one_step_between_two_splits_of_trees_stands_for_all():
    rng = np.random.default_rng(5)
    X, known, rows = (rows_of(rng, n) for n in (2_000, 300, 300))
    model = DecisionTreeClassifier(max_depth=8, random_state=0).fit(X, Waves().predict(X))
    tree, points = model.tree_, rows + rng.integers(-1, 2, rows.shape) * 0.3
    thresholds = tuple(np.unique(tree.threshold[tree.feature == j]) for j in range(4))
    wanted, asked_about = model.predict(points), []

    def valid(asked, of):
        asked_about.append(len(asked))
        return model.predict(asked) == wanted[of]

    every = SmallChanges.of(known, True).take_back(points, rows, valid)
    slow = sum(asked_about)
    few = SmallChanges.of(known, True, thresholds).take_back(points, rows, valid)
    assert np.array_equal(every, few)
    assert sum(asked_about) - slow < slow / 2


def test_a_value_with_decimals_that_was_not_changed_moves_to_a_whole_number():
    known = np.column_stack([np.arange(-20, 21) / 10, np.arange(41)]).astype(float)
    step = SmallChanges.of(known)
    assert step.decimals.tolist() == [1, 0]
    # Tenths first add up to 0.9999…, of which int() is 0.
    for valid, wanted in ((np.ones, pytest.approx(1.1)), (np.zeros, 0.0)):
        points = step.take_back(
            np.array([[0.1, 3.0]]), np.array([[0.1, 9.0]]), lambda asked, of, valid=valid: valid(len(asked), bool)
        )
        assert points.tolist() == [[wanted, 3.0]]


def test_decimals_are_those_of_the_most_frequent_values():
    known = np.array([[1.0, 0.25, 1e-5], [2.0, 0.25, 1e-5], [3.0, 0.125, 2.0]])
    assert decimals(known).tolist() == [0, 2, 5]
    assert decimals(known, fractions=True).tolist() == [1, 2, 5]


def test_rows_without_a_counterfactual_stay_without_and_batches_change_nothing():
    class Rare(Waves):
        def predict(self, X):
            return np.where(X[:, 0] > 5.5, 2, super().predict(X))

    rng = np.random.default_rng(1)
    known, rows = rows_of(rng, 200), rows_of(rng, 60)
    known[:, 0] = np.minimum(known[:, 0], 5)
    rows[:40, 0] = 6  # these have the wanted class, and may keep it
    flips = RandomFlips(Rare(), known, wanted=2, samples=50, fractions=True)
    points, plain = flips.explain(rows).values, flips._search(rows)
    assert (points == NONE).all(axis=1).any()
    assert np.array_equal(flips.explain(rows[30:]).values, points[30:])
    assert not np.array_equal(plain, points)
