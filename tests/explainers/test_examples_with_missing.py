"""Explanations by example where values are missing, categories new, and columns dates; brute force is the oracle."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import faithscope as fs
from brute import gower
from explainers.systems import DAY, people
from faithscope.errors import BadInput
from faithscope.explainers import NearestNeighbors


def test_changes_of_cells_from_and_to_missing():
    before = pd.DataFrame(
        {"x": [1.0, None, 3.0, None], "day": [DAY, DAY, pd.NaT, pd.NaT], "job": ["a", None, "b", None]}
    )
    days = [DAY + pd.Timedelta(days=3), pd.NaT, DAY, pd.NaT]
    after = pd.DataFrame({"x": [4.0, 2.0, None, None], "day": days, "job": ["a", "b", None, None]})
    pairs = fs.Counterfactuals(after, before)
    assert fs.Modified()(pairs).values.tolist() == [[1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 0, 0]]
    assert fs.DeltaSign()(pairs).values.tolist() == [[1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 0, 0]]
    assert fs.DeltaSign()(fs.Counterfactuals(before, after)).values[0].tolist() == [-1, -1, 0]
    assert [list(column) for column in zip(*fs.Delta()(pairs).values, strict=True)] == [
        [(3.0,), (None, 2.0), (3.0, None), ()],
        ["+3 days", "from 2024-01-01 to missing", "from missing to 2024-01-01", "0 days"],
        [(), (None, "b"), ("b", None), ()],
    ]


def test_numbers_of_two_types_are_numbers_to_gower():
    points = pd.DataFrame({"age": [30, 40], "job": ["a", "b"]})
    originals = pd.DataFrame({"age": [30.5, 20.0], "job": ["a", "b"]})
    assert fs.Counterfactuals(points, originals).balls().radii.tolist() == pytest.approx([0.5 / 20 / 2, 0.5])


@pytest.mark.parametrize(
    "given",
    [pl.from_pandas, lambda frame: frame, lambda frame: frame.astype(object).to_numpy()],
)
def test_nearest_neighbors_by_gower_are_those_of_brute_force(given):
    train, rows = people(40), people(8, 1, new=True)
    explanations = NearestNeighbors(given(train), metric="gower").explain(given(rows))
    for i in range(len(rows)):
        together = pd.concat([rows.iloc[[i]], train], ignore_index=True)
        distance = gower(together, train)[0, 1:]
        (nearest,) = explanations.conjunction(i)
        assert distance[nearest] == pytest.approx(distance.min(), abs=1e-12)
        assert nearest <= int(np.flatnonzero(np.isclose(distance, distance.min(), atol=1e-12)).max())
    measured = fs.sufficiency(explanations, np.arange(len(rows)) % 2, given(rows))
    assert measured.n == len(rows)


def test_a_metric_of_numbers_names_gower_and_counts_what_is_missing():
    train = np.array([[1.0, 2.0], [3.0, np.nan], [np.nan, 1.0]])
    complete = np.nan_to_num(train)
    told = "misses? 2 (values|rows)|2 rows miss|these rows have categories, dates or missing values"
    for ask in (
        lambda: NearestNeighbors(train).explain(complete),
        lambda: NearestNeighbors(complete).explain(train),
        lambda: fs.Counterfactuals(train, complete, metric="cityblock"),
        lambda: fs.Prototypes([0, 1], train),
    ):
        with pytest.raises(BadInput, match=told) as problem:
            ask()
        assert "metric='gower'" in str(problem.value)


def test_a_category_nobody_knows_differs_from_all_and_equals_itself():
    train = pd.DataFrame({"job": ["a", "b"], "x": [0.0, 1.0]})
    strange = pd.DataFrame({"job": ["zz", "zz", "yy", None], "x": [0.0] * 4})
    prototypes = fs.Prototypes([[0]] * 4, train, metric="gower")
    assert [block.tolist() for block in prototypes.points.distances(strange)] == [[[0.5, 1.0]] * 4]
    pairs = fs.Counterfactuals(strange, strange.iloc[[0] * 4])
    assert pairs.balls().radii.tolist() == pytest.approx([0, 0, 0.5, 0.5])
