"""Counting on a GPU: the CPU's answers, one clear sentence where it cannot be, and nothing of it where it is not asked.

The kernel runs on a GPU where there is one, and in Triton's interpreter otherwise.
"""

import importlib.util
import os
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.spatial.distance import cdist

import faithscope as fs
from faithscope.counting import coverage
from faithscope.counting.coverage import tallies
from faithscope.counting.gpu import devices
from faithscope.errors import BadInput, FaithscopeError, MissingExtra
from faithscope.explanations.distances.tiles import Near
from faithscope.sample import Sample
from refused import refused

thorough = pytest.mark.thorough


@pytest.fixture(scope="module")
def gpu():
    """The module `pairs`, ready to run."""
    if any(importlib.util.find_spec(name) is None for name in ("torch", "triton")):
        pytest.skip("torch and triton are not installed")
    import torch

    if torch.cuda.is_available():
        from faithscope.counting.gpu import pairs as _gpu

        yield _gpu
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        from faithscope.counting.gpu import pairs as _gpu

        patch.setattr(_gpu, "DEVICE", "cpu")
        patch.setattr(_gpu, "BUILT", True)
        try:
            near = Near(np.zeros((1, 1)), np.zeros((1, 1)), np.ones(1), "euclidean")
            none = np.zeros(1, int)
            _gpu.DevicePairs(near, near.radii[None], none, none, 1).counter()(0, 1)
        except Exception as problem:
            pytest.skip(f"there is no GPU, and Triton's interpreter does not run here: {problem!r}")
        yield _gpu


def points(kind, n, d):
    rng = default_rng(d)
    if kind == "on a grid":  # many pairs at the radius itself, without any rounding
        return rng.integers(0, 3, (n, d)) / 8 + 10.0
    rows = rng.normal(size=(n, d))
    return {"far from 0": rows + 1e9, "with an outlier": rows * np.where(np.arange(n) == 5, 1e12, 1.0)[:, None]}.get(
        kind, rows * (1e-80 if kind == "tiny" else 1.0)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric", [*devices.METRICS[:1], *(pytest.param(metric, marks=thorough) for metric in devices.METRICS[1:])]
)
@pytest.mark.parametrize(
    "kind",
    [
        "on a grid",
        *(pytest.param(kind, marks=thorough) for kind in ("normal", "far from 0", "with an outlier", "tiny")),
    ],
)
def test_counts_are_those_of_plain_distances(gpu, metric, kind):
    for d, is_open in ((3, False), (20, True)):
        rows = points(kind, 90, d)
        centers, segment = rows[:70], default_rng(0).integers(0, 3, 90)
        distance = cdist(centers, rows, metric)
        radii = np.sort(distance, axis=1)[:, [0, 30]].T  # pairs at the radius, to the last digit
        near = Near(centers, rows, radii[0], metric, is_open)
        count = gpu.DevicePairs(near, radii, np.arange(90) % 70, segment, 4).counter()
        for radius, counts in zip(radii[:, :, None], count(0, 70), strict=True):
            inside = distance < radius if is_open else distance <= radius
            assert np.array_equal(counts, inside @ np.eye(4, dtype=int)[segment])
    assert np.array_equal(count(3, 10), count(0, 70)[:, 3:10])


RNG = default_rng(7)
POINTS = np.round(RNG.normal(size=(200, 3)), 1)
POINTS[40:50] = POINTS[:10]  # rows with the same explanation


@pytest.fixture(autouse=True)
def in_blocks(monkeypatch):
    """No single rows are left out, however few there are."""
    monkeypatch.setattr(coverage, "EXACT", 0)


def test_what_a_gpu_counts_and_leaves_out_is_what_the_cpu_does(gpu):
    sample = Sample.of(fs.Importances(POINTS), RNG.choice(["yes", "no"], 200))
    relations = [fs.relations.Within(tau) for tau in (0.0, 0.3, 0.8)]
    for pair in zip(*(tallies(sample, relations, device=name) for name in ("cuda", "cpu")), strict=True):
        found, expected = (tally.coverage() for tally in pair)
        assert found.counts == expected.counts
        assert found.idle == expected.idle
        for name in ("value", "silent", "reach"):
            assert np.array_equal(getattr(found.left_out, name), getattr(expected.left_out, name))


PHI, LABELS = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]


def test_where_there_is_no_gpu_it_is_not_asked_for_silently():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fs.within(PHI, LABELS, 3.0)
    for device in ("cpu", "cuda"):  # so few pairs are counted on the CPU
        assert found.to_dict() == fs.within(PHI, LABELS, 3.0, device=device).to_dict()


def test_nothing_imports_torch_where_there_is_no_gpu():
    code = (
        "import sys; import numpy as np; import faithscope as fs; from faithscope.counting.gpu import devices; "
        "from faithscope.counting import coverage; devices.WORTH = coverage.EXACT = 0; "
        "devices.ctypes = type('None', (), {'CDLL': lambda name: open('/there is none')}); "
        "fs.within_curve(np.arange(400.0).reshape(200, 2), [0, 1] * 100, [9.0]); "
        "sys.exit(int('torch' in sys.modules or 'triton' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONWARNINGS": "error"}).returncode == 0


def test_what_a_gpu_is_not_used_for_is_refused_in_a_sentence_that_offers_the_cpu():
    for call, message in [
        (lambda: fs.within(PHI, LABELS, 3.0, device="gpu"), "one of 'auto', 'cpu', 'cuda'; got 'gpu'"),
        (lambda: fs.within(PHI, LABELS, 3.0, clusters=[0, 0, 1, 1, 2, 2], device="cuda"), "independent"),
        (lambda: fs.within_curve(PHI, PHI[:, 0], [3.0], agreement=fs.Close(1), device="cuda"), "labeled"),
        (lambda: counted(POINTS, "hamming"), "metric='hamming' is not counted on a GPU"),
        (lambda: counted(POINTS, lambda a, b: 0.0), "by a named metric"),
        (lambda: counted(1e200 * POINTS), "missing, or so small or large"),
    ]:
        refused(BadInput, f"(?=.*cpu).*{message}", call)


def counted(points, metric="euclidean", device="cuda"):
    sample = Sample.of(fs.Importances(points), np.arange(len(points)) % 2)
    return tallies(sample, [fs.relations.Within(3.0, metric)], device=device)[0].coverage()


def test_without_torch_a_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faithscope.counting.gpu.pairs", None)
    monkeypatch.delattr("faithscope.counting.gpu.pairs", raising=False)
    refused(MissingExtra, r'faithscope\[gpu\]", or pass device="cpu"', counted, POINTS)


def failing(said):
    def fail(*_):
        raise RuntimeError(said)

    return lambda: SimpleNamespace(FAILURES=(RuntimeError,), wake=lambda: None, DevicePairs=fail)


@pytest.mark.parametrize("said", ["CUDA out of memory. Tried to allocate 2.00 GiB", "The NVIDIA driver is too old", ""])
def test_a_gpu_that_fails_is_told_and_the_cpu_counts(monkeypatch, said):
    monkeypatch.setattr(devices, "_load", failing(said + "\nmore of it"))
    words = f'Counting on a GPU failed.*{said.split(". ")[0]}.*pass device="cpu"'
    refused(FaithscopeError, words, counted, POINTS)
    monkeypatch.setattr(devices, "_in_sight", lambda: True)
    monkeypatch.setattr(devices, "WORTH", 0)
    with pytest.warns(RuntimeWarning, match="counting on the CPU instead") as told:
        found = counted(POINTS, device="auto")
    assert told[0].filename == __file__, "the caller's line is named"
    assert found.counts == counted(POINTS, device="cpu").counts
