"""Rows as small integers: equal exactly where the rows are; and what hashing and gathering rely on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.inputs import chunks, grouping, narrowing

SETS = {
    "whole numbers": [0.0, -0.0, 1.0, -3.0, 127.0, -128.0],
    "beyond 8 bits": [0.0, 128.0, -32768.0, 32767.0],
    "beyond 16 bits": [0.0, 32768.0, 1e300, -1e300],
    "tenths": [-0.1, 0.1, 0.2, 0.3, 0.7, -0.0, 0.0],
    "nearly tenths": [0.1, 0.2, 0.3, 0.1 + 0.2, np.nextafter(0.1, 1)],
    "thousandths": [0.001, 0.002, 32.767, -0.999],
    "anything": [1 / 3, 5e-324, 0.0, np.pi],
}
# Of the package before rows were narrowed.
FLOATS = [11057495095676302068, 6611669408104514157]
BYTES = [5850800899363332969, 5918412723934453677]
BOTH = [14569754000260624422, 9227557122459763041]


@pytest.fixture(autouse=True)
def small_blocks_are_narrowed_too(monkeypatch):
    monkeypatch.setattr(narrowing, "_FEW", 1)


def numbered(rows):
    """Rows numbered in order of appearance, by a dictionary; -0.0 is 0.0, as keys have it."""
    seen: dict[tuple[float, ...], int] = {}
    return [seen.setdefault(tuple(row), len(seen)) for row in rows.tolist()]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32, np.uint64])
@pytest.mark.parametrize("values", SETS.values(), ids=SETS.keys())
@given(seed=st.integers(0, 10_000))
def test_narrow_rows_are_equal_exactly_where_the_rows_are(values, kind, seed):
    rng = np.random.default_rng(seed)
    drawn = rng.choice(values, size=(int(rng.integers(1, 60)), int(rng.integers(2, 12))))
    with np.errstate(over="ignore", invalid="ignore"):
        block = drawn.astype(kind)
    if not np.isfinite(block).all():
        return
    assert numbered(narrowing.narrowed(block)) == numbered(block)
    assert grouping.group([block])[0].tolist() == numbered(block)


def test_what_discretizers_give_becomes_small_integers():
    values = fs.Importances(np.random.default_rng(0).normal(0, 0.3, (3000, 4)))
    for discretizer in (fs.Floor(0), fs.Floor(1), fs.Truncate(2), fs.Floor(3)):
        block = discretizer(values).values
        narrow = narrowing.narrowed(block)
        assert narrow.dtype in (np.int8, np.int16)
        assert numbered(narrow) == numbered(block)


@pytest.mark.parametrize("odd", [0.5, 200.0, 1e9, 1 / 3])
def test_one_row_that_the_look_misses_is_not_lost(odd):
    block = np.random.default_rng(0).integers(-2, 3, (5000, 3)).astype(float)
    block[1234] = odd
    assert grouping.group([block])[0].tolist() == numbered(block)


def test_hashes_stay_as_they_were_since_blocks_of_rows_are_chosen_by_them():
    floats = np.array([[0.0, -0.0, 1.5], [0.1, 2.0, -7.0]])
    bytes_ = np.arange(-14, 14, dtype=np.int8).reshape(2, 14)
    shorts = np.arange(10, dtype=np.int16).reshape(2, 5)
    assert grouping.hash_rows([floats]).tolist() == FLOATS
    assert grouping.hash_rows([bytes_]).tolist() == BYTES
    assert grouping.hash_rows([np.asfortranarray(bytes_)]).tolist() == BYTES
    assert grouping.hash_rows([shorts, floats]).tolist() == BOTH


@given(seed=st.integers(0, 1000), groups=st.integers(1, 3000))
def test_rows_lead_whose_slot_belongs_to_another_hash(seed, groups):
    rng = np.random.default_rng(seed)
    hashes = rng.integers(0, 2**64, groups, dtype=np.uint64)[rng.integers(0, groups, 2000)]
    leader = grouping._leaders(hashes.copy())
    earliest = {h: row for row, h in reversed(list(enumerate(hashes.tolist())))}
    assert leader.tolist() == [earliest[h] for h in hashes.tolist()]


@pytest.mark.parametrize("order", ["C", "F"])
def test_gathering_is_indexing(order, monkeypatch):
    monkeypatch.setattr(chunks, "WORKERS", 3)
    rng = np.random.default_rng(0)
    array = np.asarray(rng.normal(size=(500, 3)), order=order)
    for rows in (rng.integers(-500, 500, 200_000), rng.integers(0, 500, 50), np.arange(500) % 3 == 0, slice(3, 9)):
        assert (chunks.rows_at(array, rows) == array[rows]).all()
    with pytest.raises(IndexError):
        chunks.rows_at(array, np.full(200_000, 500))


def test_large_finite_importances_are_accepted_although_their_sum_is_infinite():
    values = np.full((40, 2), 1.7e308)
    assert fs.consistency(values, [0, 1] * 20).distinct == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_row_that_is_not_finite_is_named(bad):
    values = np.zeros((300_000, 2))
    values[[123_456, 290_000], 1] = bad
    values[123_457, 0] = -bad
    with pytest.raises(BadInput, match="row 123456, column 1"):
        fs.consistency(values, np.arange(300_000) % 2)
