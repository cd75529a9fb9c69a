"""No two different explanations ever merge, whatever the hash does; and keys are the same in every process."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.inputs import chunks, grouping
from faithscope.readers import as_explanations


@pytest.mark.parametrize("bits", [0, 1, 3])
@given(seed=st.integers(0, 10_000))
def test_a_hash_that_collides_changes_nothing(bits, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, size=(int(rng.integers(1, 200)), 3)).astype(float)
    codes, first = grouping.group([values])
    with pytest.MonkeyPatch.context() as patch:
        good = grouping.hash_rows
        patch.setattr(grouping, "hash_rows", lambda blocks: good(blocks) & np.uint64((1 << bits) - 1) << np.uint64(60))
        collided, collided_first = grouping.group([values])
    assert (codes == collided).all()
    assert (first == collided_first).all()


@given(seed=st.integers(0, 10_000))
def test_groups_are_numbered_by_first_appearance_and_hold_equal_rows(seed):
    rng = np.random.default_rng(seed)
    values = rng.choice([0.1, 0.2, 1e300, -5e-324], size=(int(rng.integers(1, 60)), 2))
    codes, first = grouping.group([values])
    seen: dict[tuple[float, ...], int] = {}
    expected = [seen.setdefault(tuple(row), len(seen)) for row in values.tolist()]
    assert codes.tolist() == expected
    assert first.tolist() == [expected.index(k) for k in range(len(seen))]


def test_large_samples_are_grouped_in_threads_to_the_same_end(monkeypatch):
    monkeypatch.setattr(chunks, "WORKERS", 3)
    pools, executor = [], chunks.ThreadPoolExecutor
    monkeypatch.setattr(chunks, "ThreadPoolExecutor", lambda workers: pools.append(workers) or executor(workers))
    values = np.random.default_rng(0).integers(0, 40, size=(600_000, 2)).astype(float)
    codes, first = grouping.group([values])
    assert pools
    assert len(first) == 1600
    assert (values[first[codes]] == values).all()
    assert len(np.unique(values[first], axis=0)) == 1600


def test_minus_zero_is_zero():
    assert fs.consistency([[0.0], [-0.0]], [1, 1]).distinct == 1
    assert fs.consistency([0.0, -0.0], [1, 1]).distinct == 1
    assert fs.consistency([(0.0, 1), (-0.0, 1)], [1, 1]).distinct == 1


def test_neighboring_floats_and_huge_integers_stay_apart():
    assert fs.consistency([[0.1], [np.nextafter(0.1, 1)]], [1, 1]).distinct == 2
    assert fs.consistency([2**53, 2**53 + 1], [1, 1]).distinct == 2
    assert fs.consistency([2**70, 2**70 + 1], [1, 1]).distinct == 2
    assert fs.consistency([2**53 + 1, float(2**53)], [1, 1]).distinct == 2
    assert fs.consistency(np.array([2**64 - 1, 2**64 - 2], np.uint64), [1, 1]).distinct == 2


def test_single_precision_is_compared_as_double():
    single = np.array([[0.1], [0.1]], np.float32)
    assert fs.consistency(single, [1, 1]).distinct == 1
    both = as_explanations(single).join(as_explanations(np.array([[0.1]])))
    assert both.group()[0].tolist() == [0, 0, 1]


@pytest.mark.slow
def test_answers_are_the_same_in_every_process():
    program = (
        "import faithscope as fs; e = [frozenset('ab'), frozenset('ba'), frozenset('c')];"
        "ev = fs.evaluate([0, 1, 1], e, [[0.0], [1.0], [2.0]]); print(ev.to_dict(), ev.table().to_dict(),"
        " fs.consistency([[0.1, 2], [0.1, 2], [3, 4]], [0, 1, 1]).counts.explanations.values.tolist())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


def test_rows_without_columns_are_all_equal():
    codes, first = grouping.group([np.empty((5, 0))])
    assert codes.tolist() == [0] * 5
    assert first.tolist() == [0]
