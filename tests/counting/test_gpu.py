"""Counting on a GPU: the same counts, one clear sentence where it cannot be, and nothing of it where it is not asked.

The kernels run on a GPU where there is one, and in Triton's interpreter otherwise, with small tiles.
"""

import importlib.util
import os
import subprocess
import sys
import warnings
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import faithscope as fs
from faithscope.counting.gpu import devices
from faithscope.errors import BadInput, FaithscopeError, MissingExtra
from faithscope.explanations.distances.near import Near
from refused import refused

thorough = pytest.mark.thorough
METRICS = (
    "euclidean",
    "hamming",
    *(pytest.param(name, marks=thorough) for name in ("cityblock", "chebyshev", "cosine")),
)
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")  # the interpreter's, of -inf


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

        for name, value in {"DEVICE": "cpu", "BUILT": True, "THEIRS": 32}.items():
            patch.setattr(_gpu, name, value)
        try:
            near = Near(np.zeros((1, 1)), np.zeros((1, 1)), np.ones(1), "euclidean")
            (cells,) = device_pairs(_gpu, near, *np.zeros((2, 1), int)).count(near.radii[None])
            cells.fetch()()
        except Exception as problem:
            pytest.skip(f"there is no GPU, and Triton's interpreter does not run here: {problem!r}")
        yield _gpu


def device_pairs(gpu, near, codes, labels):
    return gpu.DevicePairs(near, codes, labels, int(labels.max()) + 1)


def random_points(metric, seed, n=60, d=5, grid=False):
    """Rows, with a center and a label for each."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (n, d)) / 8 + 10.0 if grid or metric == "hamming" else rng.normal(size=(n, d))
    return rows, rng.integers(0, n // 2, n), rng.integers(0, 3, n)


def about_half(rows, metric, radius, is_open=False):
    """The first half of rows as centers, with a radius by their distances to all rows."""
    centers = rows[: len(rows) // 2]
    distance = cdist(centers, rows, metric)
    return Near(centers, rows, radius(distance) + np.zeros(len(centers)), metric, is_open)


def check(gpu, near, codes, labels, radii=None):
    """What the device counts is what distances say, pair by pair; and the pairs that it counted."""
    pairs, distance = device_pairs(gpu, near, codes, labels), cdist(near.centers, near.rows, near.metric)
    radii = near.radii[None] if radii is None else radii
    for cells, radius in zip(pairs.count(radii), radii[:, :, None], strict=True):
        table, covers_itself = cells.fetch()()
        inside = distance < radius if near.open else distance <= radius
        own = inside[codes, np.arange(len(codes))]
        given, missed = np.zeros((2, len(inside), labels.max() + 1), int)
        np.add.at(given, (codes, labels), 1)
        np.add.at(missed, (codes[~own], labels[~own]), 1)
        covered = inside.astype(int) @ np.eye(labels.max() + 1, dtype=int)[labels]
        explanation, label = np.nonzero(covered + given)
        expected = (each[explanation, label] for each in (given, covered, missed))
        assert table.tolist() == [column.tolist() for column in (explanation, label, *expected)]
        assert covers_itself.tolist() == own.tolist()
        if len(radii) == 1:
            assert cells.close == np.sum(np.abs(distance - radius) <= 1e-5 * radius)
    return pairs


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_counts_are_those_of_plain_distances(gpu, metric):
    for is_open, grid in product((False, True), repeat=2):
        # A row at the radius itself, on the grid without any rounding, and close to it elsewhere.
        factor = 1 if grid else 1 + 1e-9
        rows, codes, labels = random_points(metric, 3, grid=grid)
        near = about_half(rows, metric, lambda each, factor=factor: factor * np.sort(each, axis=1)[:, 7], is_open)
        assert check(gpu, near, codes, labels).exact == (metric == "hamming")


@pytest.mark.parametrize("d", [1, 14, 54, 130])
def test_counts_do_not_depend_on_how_many_features_are_multiplied_at_once(gpu, d):
    rows, codes, labels = random_points("euclidean", d, n=40, d=d)
    check(gpu, about_half(rows, "euclidean", lambda each: np.quantile(each, 0.2)), codes, labels)


@thorough
def test_tables_that_do_not_fit_are_counted_in_pieces(gpu, monkeypatch):
    rows, codes, _ = random_points("euclidean", 4)
    monkeypatch.setattr(gpu, "_TABLE", 60 * gpu.THEIRS)
    near = about_half(rows, "euclidean", lambda each: np.quantile(each, 0.3))
    check(gpu, near, codes, np.arange(60))  # every row has a label of its own


def test_the_bound_is_the_largest_square_whose_root_is_within(gpu):
    import torch

    radius = np.concatenate([np.random.default_rng(0).lognormal(0, 20, 500), [0.0, 1.0, 2.0, 0.1, 1e-90, 1e90]])
    for is_open in (False, True):
        most = gpu.bound(torch.as_tensor(radius, device=gpu.DEVICE), "euclidean", is_open, 3).cpu().numpy()
        more = np.nextafter(most, np.inf)
        with np.errstate(invalid="ignore"):
            assert not np.any(np.sqrt(more) < radius if is_open else np.sqrt(more) <= radius)
            assert np.all((np.sqrt(most) < radius if is_open else np.sqrt(most) <= radius) | (most < 0))


RNG = np.random.default_rng(7)
POINTS = np.round(RNG.normal(size=(60, 3)), 1)
POINTS[40:50] = POINTS[:10]  # rows with the same explanation
POINTS[17] = 0.0  # which has no direction, and is near to none by cosine
THREE = RNG.choice(["yes", "no", "maybe"], 60)
GRID = RNG.integers(0, 5, (60, 2)).astype(float)
BALLS = fs.Counterfactuals(GRID + RNG.integers(-2, 3, (60, 2)), GRID)
PROTOTYPES = fs.Prototypes(RNG.integers(0, 4, 60), [[0.0, 0.0], [1.0, 3.0], [2.0, 2.0], [90.0, 90.0]])
MEASURED = {
    "euclidean": lambda **where: [fs.within(POINTS, THREE, 0.8, **where)],
    "manhattan": lambda **where: [fs.within(POINTS, THREE, 0.8, metric="manhattan", **where)],
    "chebyshev": lambda **where: [fs.within(POINTS, THREE, 0.5, metric="chebyshev", **where)],
    "cosine": lambda **where: [fs.within(POINTS, THREE, 0.2, metric="cosine", **where)],
    "curve": lambda **where: fs.within_curve(POINTS, THREE, [0.3, 1.0, 0.0], **where).estimates,
    "balls": lambda **where: [fs.sufficiency(BALLS, THREE, GRID, **where)],
    "prototypes": lambda **where: [fs.sufficiency(PROTOTYPES, THREE, GRID, relation=fs.Ball(2), **where)],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "aside"),
    [
        *((name, 100_000) for name in ("curve", "balls")),
        ("euclidean", 0),
        *(pytest.param(name, 100_000, marks=thorough) for name in MEASURED if name not in ("curve", "balls")),
    ],
)
def test_an_estimate_is_the_one_of_the_cpu(gpu, name, aside, monkeypatch):
    monkeypatch.setattr("faithscope.counting.gpu.covering._ASIDE", aside)  # counts of more rows are made in a thread
    for found, expected in zip(*(MEASURED[name](device=device) for device in ("cuda", "cpu")), strict=True):
        assert found.counts == expected.counts
        for exact in ("value", "unverifiable", "chance"):
            assert getattr(found, exact) == getattr(expected, exact)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-5)
        other_notes = [note for note in found.notes if not note.startswith("counted on a GPU")]
        assert other_notes == list(expected.notes), "also what covers no row"
        assert len(found.notes) == len(other_notes) + 1


PHI, LABELS = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
RULES = fs.Rules.parse(["x > 1"] * 6, features=["x", "y"])
NEAR = fs.Counterfactuals(PHI, PHI + 1)


def test_where_there_is_no_gpu_it_is_not_asked_for_silently():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fs.within(PHI, LABELS, 3.0)
    assert found.to_dict() == fs.within(PHI, LABELS, 3.0, device="cpu").to_dict()


def test_nothing_imports_torch_where_there_is_no_gpu():
    code = (
        "import sys; import numpy as np; import faithscope as fs; from faithscope.counting.gpu import devices; "
        "devices.WORTH = 0; devices.ctypes = type('None', (), {'CDLL': lambda name: open('/there is none')}); "
        "fs.within(np.eye(4), [0, 1, 0, 1], 1.0); fs.within_curve(np.eye(4), [0, 1, 0, 1], [1.0]); "
        "sys.exit(int('torch' in sys.modules or 'triton' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONWARNINGS": "error"}).returncode == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fs.within(PHI, LABELS, 3.0, device="gpu"), "one of 'auto', 'cpu', 'cuda'; got 'gpu'"),
        (lambda: fs.within(PHI, LABELS, 3.0, metric="canberra", device="cuda"), "metric='canberra'"),
        (lambda: fs.within(PHI, LABELS, 3.0, metric=lambda a, b: 0.0, device="cuda"), "within a distance"),
        (lambda: fs.within(1e200 * PHI, LABELS, 3.0, device="cuda"), "above 1e100"),
        (lambda: fs.sufficiency(RULES, LABELS, PHI, device="cuda"), "no other relation"),
        (
            lambda: fs.sufficiency(NEAR, LABELS, PHI * np.nan, device="cuda"),
            "points or radii that are missing",
        ),
        (lambda: fs.sufficiency(NEAR, LABELS, PHI, weights=PHI[:, 0], device="cuda"), "Weighted rows"),
        (lambda: fs.sufficiency(NEAR, LABELS, PHI, weights=PHI[:, 0], device="gpu"), "one of 'auto', 'cpu', 'cuda'"),
        (lambda: fs.within(PHI, LABELS, 3.0, clusters=[0, 0, 1, 1, 2, 2], device="cuda"), "Clustered rows"),
        (lambda: fs.within_curve(PHI, PHI[:, 0], [3.0], agreement=fs.Close(1), device="cuda"), "by Close"),
        (
            lambda: fs.sufficiency(RULES, lambda X: LABELS, PHI, population=fs.Perturbed(PHI, draws=2), device="cuda"),
            "draws are only predicted",
        ),
    ],
)
def test_what_a_gpu_is_not_used_for_is_refused_in_a_sentence_that_offers_the_cpu(call, message):
    refused(BadInput, f"(?=.*cpu).*{message}", call)


def test_without_torch_a_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faithscope.counting.gpu.pairs", None)
    monkeypatch.delattr("faithscope.counting.gpu.pairs", raising=False)
    with pytest.raises(MissingExtra, match=r'faithscope\[gpu\]", or pass device="cpu"'):
        fs.within(PHI, LABELS, 3.0, device="cuda")


def failing(said):
    def fail(*_):
        raise RuntimeError(said)

    return lambda: SimpleNamespace(FAILURES=(RuntimeError,), wake=lambda: None, DevicePairs=fail)


@pytest.mark.parametrize("said", ["CUDA out of memory. Tried to allocate 2.00 GiB", "The NVIDIA driver is too old", ""])
def test_a_gpu_that_fails_is_told_and_the_cpu_counts(monkeypatch, said):
    monkeypatch.setattr(devices, "_load", failing(said + "\nmore of it"))
    words = f'Counting on a GPU failed.*{said.split(". ")[0]}.*pass device="cpu"'
    refused(FaithscopeError, words, fs.within, PHI, LABELS, 3.0, device="cuda")
    monkeypatch.setattr(devices, "_in_sight", lambda: True)
    monkeypatch.setattr(devices, "WORTH", 0)
    with pytest.warns(RuntimeWarning, match="counting on the CPU instead") as told:
        found = fs.within(PHI, LABELS, 3.0)
    assert told[0].filename == __file__, "the caller's line is named"
    assert found.to_dict() == fs.within(PHI, LABELS, 3.0, device="cpu").to_dict()
