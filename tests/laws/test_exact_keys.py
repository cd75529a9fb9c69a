"""No two different explanations ever merge, whatever hashes do; keys are alike in every process."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.inputs import chunks, grouping
from refused import refused

SEEDS = st.integers(0, 10_000)
SETS = {
    "whole numbers": [0.0, -0.0, 1.0, -3.0, 127.0, -128.0],
    "beyond 8 bits": [0.0, 128.0, -32768.0, 32767.0],
    "beyond 16 bits": [0.0, 32768.0, 1e300, -1e300],
    "tenths": [-0.1, 0.1, 0.2, 0.3, 0.7, -0.0, 0.0],
    "nearly tenths": [0.1, 0.2, 0.3, 0.1 + 0.2, np.nextafter(0.1, 1)],
    "thousandths": [0.001, 0.002, 32.767, -0.999],
    "anything": [1 / 3, 5e-324, 0.0, np.pi],
}


def by_appearance(rows):
    """Rows numbered in order of appearance, by a dictionary; -0.0 is 0.0, as keys have it."""
    seen = {}
    return [seen.setdefault(tuple(row), len(seen)) for row in rows.tolist()]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32, np.int8, np.uint64])
@given(values=st.sampled_from(sorted(SETS)), seed=SEEDS)
def test_rows_have_one_number_exactly_where_they_are_equal(kind, values, seed):
    rng = np.random.default_rng(seed)
    drawn = rng.choice(SETS[values], size=(int(rng.integers(1, 60)), int(rng.integers(2, 12))))
    with np.errstate(over="ignore", invalid="ignore"):
        block = drawn.astype(kind)
    assume(np.isfinite(block).all())
    codes, first = grouping.group([block])
    assert codes.tolist() == by_appearance(block)
    assert first.tolist() == [codes.tolist().index(k) for k in range(len(first))]


@pytest.mark.parametrize("bits", [0, 1, 3])
@given(seed=SEEDS)
def test_a_hash_that_collides_changes_nothing(bits, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, size=(int(rng.integers(1, 200)), 3)).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        good = grouping.hash_rows
        patch.setattr(grouping, "hash_rows", lambda blocks: good(blocks) & np.uint64((1 << bits) - 1) << np.uint64(60))
        assert grouping.group([values])[0].tolist() == by_appearance(values)


def test_large_samples_are_grouped_in_threads_to_the_same_end(monkeypatch):
    monkeypatch.setattr(chunks, "WORKERS", 3)
    pools, executor = [], chunks.ThreadPoolExecutor
    monkeypatch.setattr(chunks, "ThreadPoolExecutor", lambda workers: pools.append(workers) or executor(workers))
    values = np.random.default_rng(0).integers(0, 40, size=(600_000, 2)).astype(float)
    codes, first = grouping.group([values])
    assert pools
    assert len(first) == len(np.unique(values[first], axis=0)) == 1600
    assert (values[first[codes]] == values).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_row_that_is_not_finite_is_named(bad):
    values = np.zeros((300_000, 2))
    values[[123_456, 290_000], 1] = bad
    values[123_457, 0] = -bad
    refused(fs.errors.BadInput, "row 123456, column 1", fs.consistency, values, np.arange(300_000) % 2)


DISTINCT = [
    ([[0.0], [-0.0]], 1),
    ([0.0, -0.0], 1),
    ([(0.0, 1), (-0.0, 1)], 1),
    ([[0.1], [np.nextafter(0.1, 1)]], 2),
    ([2**53, 2**53 + 1], 2),
    ([2**70, 2**70 + 1], 2),
    ([2**53 + 1, float(2**53)], 2),
    (np.array([2**64 - 1, 2**64 - 2], np.uint64), 2),
    (np.array([[0.1], [0.1]], np.float32), 1),
    ([[1.7e308, 1.7e308]] * 2, 1),  # finite, although their sum is not
]


@pytest.mark.parametrize(("explanations", "distinct"), DISTINCT)
def test_signs_of_zero_make_no_difference_and_neighboring_numbers_stay_apart(explanations, distinct):
    assert fs.consistency(explanations, [1, 1]).distinct == distinct


@pytest.mark.thorough
def test_answers_are_the_same_in_every_process():
    program = (
        "import faithscope as fs; e = [frozenset('ab'), frozenset('ba'), frozenset('c')];"
        "ev = fs.evaluate([0, 1, 1], e, [[0.0], [1.0], [2.0]]); print(ev.to_dict(), ev.table().to_dict(),"
        " fs.consistency([[0.1, 2], [0.1, 2], [3, 4]], [0, 1, 1]).counts.explanations.values.tolist())"
    )
    asked = {"capture_output": True, "text": True, "check": True}
    outputs = {
        subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, **asked).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_rows_without_columns_are_all_equal():
    codes, first = grouping.group([np.empty((5, 0))])
    assert codes.tolist() == [0] * 5
    assert first.tolist() == [0]
