"""Regions of maps and series: pooled sums, and which of them are largest."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, WrongType

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.25, -3.5])  # sums of them are exact


@st.composite
def maps(draw, axes=2):
    shape = tuple(draw(st.integers(1, 7)) for _ in range(axes))
    grid = tuple(draw(st.integers(1, length)) for length in shape)
    rows = draw(st.integers(1, 4))
    values = draw(st.lists(NUMBERS, min_size=rows * int(np.prod(shape)), max_size=rows * int(np.prod(shape))))
    return np.array(values).reshape(rows, *shape), grid


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


@given(maps())
def test_regions_add_up_to_the_whole_map(drawn):
    values, grid = drawn
    pooled = fs.Pool(grid)(fs.Importances(values)).values
    assert pooled.sum(axis=1).tolist() == values.sum(axis=(1, 2)).tolist()
    assert fs.Pool((1, 1))(fs.Importances(values)).values[:, 0].tolist() == values.sum(axis=(1, 2)).tolist()
    assert fs.Pool(values.shape[1:])(fs.Importances(values)).values.tolist() == values.reshape(len(values), -1).tolist()


def test_channels_first_last_and_missing_pool_alike():
    values = np.random.default_rng(0).integers(-9, 9, (5, 3, 9, 8)).astype(float)
    wanted = fs.Pool((3, 2))(fs.Importances(values.sum(axis=1))).values
    for given_ in (values, values.transpose(0, 2, 3, 1), values.sum(axis=1, keepdims=True), values.astype(np.float32)):
        assert fs.Pool((3, 2))(fs.Importances(given_)).values.tolist() == wanted.tolist()
    flat = fs.Importances(values.reshape(5, -1))
    assert fs.Pool((3, 2), shape=(3, 9, 8))(flat).values.tolist() == wanted.tolist()
    assert "9 x 8 with 3 channels" in fs.Pool((3, 2))(fs.Importances(values)).notes[0]
    assert fs.Pool((3, 2))(fs.Importances(values.sum(axis=1))).notes == ()


def test_of_a_series_the_features_are_summed_unless_the_grid_has_them():
    series = np.random.default_rng(0).integers(-9, 9, (4, 12, 5)).astype(float)
    steps = series.reshape(4, 3, 4, 5)
    assert fs.Pool(3)(fs.Importances(series)).values.tolist() == steps.sum(axis=(2, 3)).tolist()
    apart = fs.Pool((3, 5))(fs.Importances(series))
    assert apart.values.tolist() == steps.sum(axis=2).reshape(4, -1).tolist()
    first = fs.Pool(3, channels="first")(fs.Importances(series.transpose(0, 2, 1)))
    assert first.values.tolist() == steps.sum(axis=(2, 3)).tolist()
    note = "series were read as 12 steps of 5 features, whose importances were summed"
    predictions = series[:, 0, 0] > 0
    for discretizer in (fs.Pool(3), fs.Pool(3) | fs.Sign(), fs.Pool(3) | fs.Rank(), fs.Pool(3) | fs.TopRegions(1)):
        assert fs.consistency(series, predictions, discretizer=discretizer).notes.count(note) == 1
    assert fs.Pool((8,)) == fs.Pool(8)


def test_a_rows_sums_do_not_depend_on_the_rows_beside_it():
    values = np.random.default_rng(0).normal(size=(3_000, 3, 20, 17)).astype(np.float32)  # more than one block
    whole = fs.Pool((3, 5))(fs.Importances(values)).values
    for row in (0, 1, 1_500, 2_999):
        assert fs.Pool((3, 5))(fs.Importances(values[row : row + 1])).values.tolist() == whole[row : row + 1].tolist()
    assert fs.Pool((3, 5))(fs.Importances(values[::-1])).values.tolist() == whole[::-1].tolist()


def test_single_precision_is_summed_as_double():
    values = np.full((1, 1_000, 1_000), 0.1, np.float32)
    exact = float(np.float32(0.1)) * 10**6
    assert fs.Pool((1, 1))(fs.Importances(values)).values[0, 0] == pytest.approx(exact, rel=1e-12)


@given(maps(), st.integers(1, 9))
def test_top_regions_are_where_the_signs_of_the_top_are(drawn, k):
    values, grid = drawn
    pooled = fs.Pool(grid)(fs.Importances(values))
    top = fs.TopRegions(k)(pooled)
    assert top.values.tolist() == np.abs(fs.SignOfTop(k)(pooled).values).tolist()
    for row, sums in zip(top.values, pooled.values, strict=True):
        order = sorted(range(len(sums)), key=lambda region: (-abs(sums[region]), region))[:k]
        assert np.flatnonzero(row).tolist() == sorted(region for region in order if sums[region])


def test_regions_are_told_by_rows_and_columns():
    values = np.zeros((1, 10, 8))
    values[0, 9, 7], values[0, 0, 0] = -2, 1
    pooled = (fs.Pool((4, 2)) | fs.Sign())(fs.Importances(values))
    assert pooled.describe(0) == "rows 0-2, columns 0-3: 1; rows 8-9, columns 4-7: -1"
    assert pooled.kind == "importances over 8 regions (4 x 2), Pool(grid=(4, 2)) | Sign()"
    assert (fs.Pool((4, 2)) | fs.TopRegions(1))(fs.Importances(values)).describe(0) == "rows 8-9, columns 4-7"
    assert fs.TopRegions(1)(fs.Importances(values)).describe(0) == "(9, 7)"
    assert (fs.Pool((2, 1)) | fs.Rank())(fs.Importances(values)).describe(
        0
    ) == "rows 5-9, columns 0-7 < rows 0-4, columns 0-7"
    assert fs.Pool(2)(fs.Importances([[1, 2, 3]])).describe(0) == "steps 0-1: 3; step 2: 3"
    assert fs.TopRegions(2)(fs.Importances(np.zeros((1, 2, 2)))).describe(0) == "all 0"
    twice = (fs.Pool((4, 2)) | fs.Pool((2, 1)))(fs.Importances(values))
    assert twice.names[0] == "rows 0-2, columns 0-3 to rows 3-5, columns 4-7"


def test_named_steps_name_their_regions():
    year = pd.DataFrame([[1.0] * 12], columns=[f"month {m}" for m in range(1, 13)], index=["b"])
    pooled = fs.Pool(4)(fs.Importances(year))
    assert pooled.names == ("month 1 to month 3", "month 4 to month 6", "month 7 to month 9", "month 10 to month 12")
    assert list(pooled.index) == ["b"]


def test_plain_arrays_of_maps_are_measured():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 6, 6))
    predictions = values[:, :3].sum(axis=(1, 2)) > 0
    by_hand = np.sign(values.reshape(200, 2, 3, 6).sum(axis=(2, 3)))
    wanted = fs.consistency(by_hand, predictions)
    for door in (values, list(values), values.tolist(), fs.Importances(values), values[:, None], values.astype(object)):
        measured = fs.consistency(door, predictions, discretizer=fs.Pool((2, 1)) | fs.Sign())
        assert (measured.value, measured.interval) == (wanted.value, wanted.interval)
    evaluation = fs.evaluate(predictions, values, values, discretizer=fs.Pool((2, 1)) | fs.Sign())
    assert evaluation.consistency.value == wanted.value
    assert len(evaluation.discretizations()) == 6, "that these are maps was said"
    assert fs.certify(values, predictions, fs.Pool((2, 1)) | fs.Sign()).low <= wanted.value
    with pytest.raises(BadInput, match=r"fs\.Pool\(\(4, 4\)\)"):
        fs.consistency(values, predictions, discretizer=fs.Sign())
    for ask in (fs.within, fs.within_curve):
        with pytest.raises(BadInput, match=r"values\.reshape\(len\(values\), -1\)"):
            ask(values, predictions, 1.0 if ask is fs.within else [1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fs.Pool((4, 4))(fs.Importances(np.ones((2, 64)))), r"fs.Pool\(\(4, 4\), shape=\(8, 8\)\)"),
        (lambda: fs.Pool((4, 4))(fs.Importances(np.ones((2, 62)))), "which do not say what map they are"),
        (lambda: fs.Pool((4, 4), shape=(9, 9))(fs.Importances(np.ones((2, 64)))), "a shape of 81 numbers"),
        (lambda: fs.Pool((4, 4), shape=(4, 16))(fs.Importances(np.ones((2, 8, 8)))), r"maps of shape \(8, 8\)"),
        (lambda: fs.Pool((9, 2))(fs.Importances(np.ones((2, 8, 8)))), "cannot be cut into 9 regions"),
        (lambda: fs.Pool((2, 2))(fs.Importances(np.ones((2, 16, 8, 8)))), "channels='first'"),
        (lambda: fs.Pool((2, 2))(fs.Importances(np.ones((2, 3, 8, 4)))), "may have their channels first or last"),
        (lambda: fs.Pool((2, 2), channels="last")(fs.Importances(np.ones((2, 8, 8)))), "leave channels= out"),
        (lambda: fs.Pool((2, 2))(fs.Importances(np.ones((2, 2, 3, 8, 8)))), "have 4 axes"),
        (lambda: fs.Pool(8)(fs.Importances(np.ones((2, 1, 100)))), "or pass channels='first'"),
        (lambda: fs.Pool((1, 1))(fs.Importances(np.full((2, 8, 8), 1e308))), "scale them down"),
        (lambda: fs.Pool((0, 1)), "whole number of at least 1"),
        (lambda: fs.Pool(()), "whole numbers"),
        (lambda: fs.Pool("4x4"), "whole numbers"),
        (lambda: fs.Pool(True), "whole numbers"),
        (lambda: fs.Pool((1, 1, 1, 1)), "1, 2 or 3 axes"),
        (lambda: fs.Pool((2, 2), channels="middle"), "'first' or 'last'"),
        (lambda: fs.Pool((2, 2), shape=28.0), "whole numbers"),
        (lambda: fs.TopRegions(0), "whole number of at least 1"),
        (lambda: fs.Pool((2, 2))(fs.Rank()(fs.Importances([[1, 2]]))), "discretizes importances"),
        (lambda: fs.Pool((2, 2))(fs.Importances(np.full((2, 8, 8), np.nan))), "hold nan at row 0"),
    ],
)
def test_what_cannot_be_pooled_is_answered_in_a_sentence(make, message):
    with pytest.raises((BadInput, WrongType), match=message) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_advice_runs():
    importances = fs.Importances(np.ones((2, 3, 4, 4)))
    with pytest.raises(BadInput, match=r"say which, such as fs.Pool\(\(2, 2\), channels='first'\)"):
        fs.Pool((2, 2))(importances)
    assert fs.Pool((2, 2), channels="first")(importances).values.shape == (2, 4)
    assert fs.Pool((4, 4))(importances).values.shape == (2, 16), "3 rows cannot be cut into 4"
    assert fs.Pool((4, 4), shape=(8, 8))(fs.Importances(np.ones((2, 64)))).values.shape == (2, 16)


def test_no_rows_pool_to_none():
    assert fs.Pool((2, 2))(fs.Importances(np.ones((0, 8, 8)))).values.shape == (0, 4)


def test_maps_of_other_axes_are_not_compared():
    maps_, other = fs.Importances(np.ones((2, 4, 9))), fs.Importances(np.ones((2, 9, 4)))
    with pytest.raises(fs.errors.Incompatible, match=r"\(4, 9\).*\(9, 4\)"):
        maps_.join(other)
    assert len(maps_.join(fs.Importances(np.ones((1, 1, 4, 9))))) == 3, "an axis of one entry is none"
    assert fs.Importances(np.ones((1, 36))).join(maps_).shape == (4, 9)


def test_the_shape_of_maps_survives(tmp_path):
    from faithscope.explanations.arrow.tables import from_arrow, to_arrow

    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 1, 4, 4))
    importances = fs.Importances(values)
    pooled = (fs.Pool((2, 2)) | fs.TopRegions(1))(importances)
    for given_ in (importances, pooled, fs.Rank()(importances)):
        back = from_arrow(to_arrow(given_))
        assert (back.shape, back.kind, back.describe(3)) == (given_.shape, given_.kind, given_.describe(3))
        assert given_.take([2, 1]).shape == given_.take(slice(0, 2)).join(given_).shape == given_.shape

    class Explainer:
        def explain(self, X):
            return fs.Importances(X)

    def predict(X):
        return X[:, 0, 0, 0] > 0

    how = {"discretizer": fs.Pool((2, 2)) | fs.Sign(), "cache": fs.Cache(tmp_path, rows=7)}
    first, second = (fs.evaluate(predict, Explainer(), values, **how) for _ in range(2))
    assert first.explanations.shape == second.explanations.shape == (2, 2)
    assert first.undiscretized.shape == second.undiscretized.shape == (1, 4, 4)
    assert first.consistency.value == second.consistency.value
    compared = fs.compare(predict, {"a": Explainer(), "b": values}, values, discretizer=fs.Pool((2, 2)) | fs.Sign())
    assert compared["a"].consistency.value == compared["b"].consistency.value == first.consistency.value


def test_maps_are_certified_by_region_and_features_as_ever():
    values = np.zeros((600, 1, 8, 8))
    values[:, 0, 0, 0] = np.random.default_rng(0).normal(size=600)
    predictions = values[:, 0, 0, 0] > 0
    certificate = fs.certify(values, predictions)
    assert certificate.discretizer == fs.Pool((4, 4)) | fs.Sign()
    assert certificate.low > 0.5
    lines = fs.evaluate(predictions, values, values).discretizations()
    assert lines["discretizer"][5] == "Chain(first=Pool(grid=(4, 4)), second=TopRegions(k=3))"
    for features in (values.reshape(600, 64), values[:, :, :3, :3], fs.Importances(values, names=map(str, range(64)))):
        family = fs.evaluate(predictions, features, values).discretizations()["discretizer"]
        assert list(family) == [repr(each) for each in (fs.discretizers.Original(), *FAMILY)]


FAMILY = (fs.Floor(2), fs.Floor(1), fs.Sign(), fs.Rank(), fs.SignOfTop(5))
