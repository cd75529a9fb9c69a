"""Regions of maps and series: pooled sums, and which of them are largest."""

from itertools import product
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput, Incompatible
from refused import refused

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.25, -3.5])  # sums of them are exact


@st.composite
def maps(draw, axes=2):
    shape = tuple(draw(st.integers(1, 7)) for _ in range(axes))
    grid = tuple(draw(st.integers(1, length)) for length in shape)
    return draw(arrays(float, (draw(st.integers(1, 4)), *shape), elements=NUMBERS)), grid


def brute_pool(one, grid):
    """Sums over the pieces that numpy.array_split makes of each axis."""
    pieces = [np.array_split(np.arange(length), many) for length, many in zip(one.shape, grid, strict=True)]
    return [float(one[np.ix_(*region)].sum()) for region in product(*pieces)]


@given(st.sampled_from([1, 2, 3]).flatmap(maps))
def test_a_region_is_the_sum_of_its_cells(drawn):
    values, grid = drawn
    shape = values.shape[1:]
    pooled = fs.Pool(grid, shape=shape)(fs.Importances(values.reshape(len(values), -1)))
    assert pooled.values.tolist() == [brute_pool(one, grid) for one in values]
    assert pooled.shape == grid
    assert len(set(pooled.names)) == len(pooled.names) == int(np.prod(grid))


def test_channels_first_last_and_missing_pool_alike():
    values = default_rng(0).integers(-9, 9, (5, 3, 9, 8)).astype(float)
    plain = fs.Pool((3, 2))(fs.Importances(values.sum(axis=1)))
    flat = fs.Pool((3, 2), shape=(3, 9, 8))(fs.Importances(values.reshape(5, -1)))
    for given_ in (values, values.transpose(0, 2, 3, 1), values.sum(axis=1, keepdims=True), values.astype(np.float32)):
        assert fs.Pool((3, 2))(fs.Importances(given_)).values.tolist() == plain.values.tolist() == flat.values.tolist()
    assert plain.notes == ()
    assert "9 x 8 with 3 channels" in flat.notes[0]


def test_of_a_series_the_features_are_summed_unless_the_grid_has_them():
    series = default_rng(0).integers(-9, 9, (4, 12, 5)).astype(float)
    steps = series.reshape(4, 3, 4, 5).sum(axis=2)
    for pool, given_, wanted in (
        (fs.Pool(3), series, steps.sum(axis=2)),
        (fs.Pool((3, 5)), series, steps.reshape(4, -1)),
        (fs.Pool(3, channels="first"), series.transpose(0, 2, 1), steps.sum(axis=2)),
    ):
        assert pool(fs.Importances(given_)).values.tolist() == wanted.tolist()
    note = "series were read as 12 steps of 5 features, whose importances were summed"
    for discretizer in (fs.Pool((3,)), fs.Pool(3) | fs.Sign(), fs.Pool(3) | fs.Rank(), fs.Pool(3) | fs.TopRegions(1)):
        assert fs.consistency(series, [0, 0, 1, 1], discretizer=discretizer).notes.count(note) == 1


def test_regions_are_told_by_rows_and_columns():
    values = np.zeros((1, 10, 8))
    values[0, 9, 7], values[0, 0, 0] = -2, 1
    importances = fs.Importances(values)
    pooled = (fs.Pool((4, 2)) | fs.Sign())(importances)
    assert pooled.kind == "importances over 8 regions (4 x 2), Pool(grid=(4, 2)) | Sign()"
    for described, told in (
        (pooled, "rows 0-2, columns 0-3: 1; rows 8-9, columns 4-7: -1"),
        ((fs.Pool((4, 2)) | fs.TopRegions(1))(importances), "rows 8-9, columns 4-7"),
        (fs.TopRegions(1)(importances), "(9, 7)"),
        ((fs.Pool((2, 1)) | fs.Rank())(importances), "rows 5-9, columns 0-7 < rows 0-4, columns 0-7"),
        (fs.Pool(2)(fs.Importances([[1, 2, 3]])), "steps 0-1: 3; step 2: 3"),
        (fs.TopRegions(2)(fs.Importances(np.zeros((1, 2, 2)))), "all 0"),
    ):
        assert described.describe(0) == told
    twice = (fs.Pool((4, 2)) | fs.Pool((2, 1)))(importances)
    assert twice.names[0] == "rows 0-2, columns 0-3 to rows 3-5, columns 4-7"


def test_plain_arrays_of_maps_are_measured_and_their_shape_survives(tmp_path):
    values, coarse = default_rng(0).normal(size=(200, 1, 6, 6)), fs.Pool((2, 1)) | fs.Sign()
    predictions = values[:, 0, :3].sum(axis=(1, 2)) > 0
    wanted = fs.consistency(np.sign(values.reshape(200, 2, 3, 6).sum(axis=(2, 3))), predictions)
    for door in (values, list(values), values.tolist(), fs.Importances(values), values[:, 0], values.astype(object)):
        assert fs.consistency(door, predictions, discretizer=coarse).interval == wanted.interval
    explainer, cache = SimpleNamespace(explain=fs.Importances), fs.Cache(tmp_path, rows=7)
    compared = fs.compare(predictions, {"a": explainer, "b": values}, values, discretizer=coarse, cache=cache)
    kept = fs.evaluate(predictions, explainer, values, discretizer=coarse, cache=cache)
    for evaluation in (kept, *compared.values()):
        assert evaluation.consistency.interval == wanted.interval
        assert (evaluation.explanations.shape, evaluation.undiscretized.shape) == ((2, 1), (1, 6, 6))
        assert len(evaluation.discretizations()) == 7, "that these are maps was said: of the paper, and the one in use"
    maps_ = fs.Importances(values)
    for given_ in (maps_, coarse(maps_), fs.Rank()(maps_)):
        assert given_.take([2, 1]).shape == given_.take(slice(0, 2)).join(given_).shape == given_.shape


def test_maps_that_cannot_be_pooled_are_answered_in_a_sentence():
    for pool, shape, message in (
        (fs.Pool((4, 4)), (64,), r"fs.Pool\(\(4, 4\), shape=\(28, 28\)\)"),
        (fs.Pool((4, 4), shape=(9, 9)), (64,), "a shape of 81 numbers"),
        (fs.Pool((4, 4), shape=(4, 16)), (8, 8), r"maps of shape \(8, 8\)"),
        (fs.Pool((9, 2)), (8, 8), "cannot be cut into 9 regions"),
        (fs.Pool((2, 2)), (16, 8, 8), "channels='first'"),
        (fs.Pool((2, 2)), (3, 4, 4), r"say which, such as fs.Pool\(\(2, 2\), channels='first'\)"),
        (fs.Pool((2, 2), channels="last"), (8, 8), "leave channels= out"),
        (fs.Pool((2, 2)), (2, 3, 8, 8), "have 4 axes"),
        (fs.Pool(8), (1, 100), "channels='first'"),
    ):
        refused(BadInput, message, pool, fs.Importances(np.ones((2, *shape))))


def test_what_is_no_grid_or_no_map_is_answered_in_a_sentence():
    maps_ = fs.Importances(np.full((2, 8, 8), 1e308))
    for message, call, *given_ in (
        ("whole number of at least 1", fs.Pool, (0, 1)),
        *[("whole numbers", fs.Pool, grid) for grid in ((), "4x4", True)],
        ("1, 2 or 3 axes", fs.Pool, (1, 1, 1, 1)),
        ("scale them down", fs.Pool((1, 1)), maps_),
    ):
        refused(BadInput, message, call, *given_)
    refused(BadInput, "channels must be one of 'first', 'last' or None", fs.Pool, (2, 2), channels="middle")
    refused(BadInput, "whole numbers", fs.Pool, (2, 2), shape=28.0)


def test_maps_of_other_axes_are_not_compared():
    maps_ = fs.Importances(np.ones((2, 4, 9)))
    refused(Incompatible, r"\(4, 9\).*\(9, 4\)", maps_.join, fs.Importances(np.ones((2, 9, 4))))
    assert len(maps_.join(fs.Importances(np.ones((1, 1, 4, 9))))) == 3, "an axis of one entry is none"
    assert fs.Importances(np.ones((1, 36))).join(maps_).shape == (4, 9)
