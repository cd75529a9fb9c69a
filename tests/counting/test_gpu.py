"""Counting on a GPU: the same counts, one clear sentence where it cannot be, and nothing of it where it is not asked.

The kernels run on a GPU where there is one, and in Triton's interpreter otherwise, with small tiles.
"""

import importlib.util
import os
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import faithscope as fs
from faithscope.counting.gpu import devices
from faithscope.counting.leaving_out.influence import Influence
from faithscope.errors import BadInput, FaithscopeError, MissingExtra
from faithscope.explanations.distances.near import Near

METRICS = ("euclidean", "cityblock", "chebyshev", "cosine", "hamming")
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
            counted(_gpu, Near(np.zeros((1, 1)), np.zeros((1, 1)), np.ones(1), "euclidean"), [0], [0])
        except Exception as problem:
            pytest.skip(f"there is no GPU, and Triton's interpreter does not run here: {problem!r}")
        yield _gpu


def counted(gpu, near, codes, labels, radii=None):
    codes, labels = np.asarray(codes), np.asarray(labels)
    pairs = gpu.DevicePairs(near, codes, labels, int(labels.max()) + 1)
    cells = pairs.count(near.radii[None] if radii is None else radii)
    return pairs, [each.fetch().result() for each in cells]


def random_points(metric, seed, n=60, d=5, grid=False):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (n, d)) / 8 + 10.0 if grid or metric == "hamming" else rng.normal(size=(n, d))
    return rng, rows, rng.integers(0, n // 2, n), rng.integers(0, 3, n)


def check_cells(cells, inside, codes, labels):
    """inside[e][j]: explanation e covers row j."""
    names, own = int(labels.max()) + 1, inside[codes, np.arange(len(codes))]
    covered, given, missed = (np.zeros((len(inside), names), int) for _ in range(3))
    for label in range(names):
        covered[:, label] = inside[:, labels == label].sum(1)
    np.add.at(given, (codes, labels), 1)
    np.add.at(missed, (codes[~own], labels[~own]), 1)
    explanation, label = np.nonzero(covered + given)
    assert cells.explanation.tolist() == explanation.tolist()
    assert cells.label.tolist() == label.tolist()
    for found, table in ((cells.covered, covered), (cells.given, given), (cells.missed, missed)):
        assert found.tolist() == table[explanation, label].tolist()
    assert cells.own.tolist() == own.tolist()


@pytest.mark.parametrize("grid", [False, True])
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.slow
def test_counts_are_those_of_plain_distances(gpu, metric, is_open, grid):
    _, rows, codes, labels = random_points(metric, 3, grid=grid)
    distance = cdist(rows[:30], rows, metric)
    radii = np.sort(distance, axis=1)[:, 7]  # a row at the radius itself, on the grid without any rounding
    if not grid:
        radii = radii * (1 + 1e-9)  # and close to it elsewhere, where rounding is the processor's
    near = Near(rows[:30], rows, radii, metric, is_open)
    pairs, (cells,) = counted(gpu, near, codes, labels)
    inside = distance < radii[:, None] if is_open else distance <= radii[:, None]
    check_cells(cells, inside, codes, labels)
    assert cells.close == np.sum(np.abs(distance - radii[:, None]) <= 1e-5 * radii[:, None])
    assert pairs.exact == (metric == "hamming")


@pytest.mark.parametrize("d", [1, 14, 54, 130])
def test_counts_do_not_depend_on_how_many_features_are_multiplied_at_once(gpu, d):
    _, rows, codes, labels = random_points("euclidean", d, n=40, d=d)
    distance = cdist(rows[:20], rows)
    near = Near(rows[:20], rows, np.full(20, np.quantile(distance, 0.2)), "euclidean")
    _, (cells,) = counted(gpu, near, codes, labels)
    check_cells(cells, distance <= near.radii[:, None], codes, labels)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "hamming"])
@pytest.mark.slow
def test_many_radii_are_counted_as_each_by_itself(gpu, metric):
    _, rows, codes, labels = random_points(metric, 1)
    distance = cdist(rows[:30], rows, metric)
    radii = np.quantile(distance, np.linspace(0, 1, 10))[:, None] * np.ones(30)  # more than one pass holds
    _, found = counted(gpu, Near(rows[:30], rows, radii[0], metric), codes, labels, radii)
    for cells, radius in zip(found, radii, strict=True):
        check_cells(cells, distance <= radius[:, None], codes, labels)


def test_where_too_much_is_in_doubt_all_is_counted_in_double_precision(gpu, monkeypatch):
    monkeypatch.setattr(gpu, "STRIPS", 4)
    _, rows, codes, labels = random_points("euclidean", 2, grid=True)
    distance = cdist(rows[:30], rows)
    near = Near(rows[:30], rows, np.full(30, np.sort(distance[0])[9]), "euclidean")
    pairs, (cells,) = counted(gpu, near, codes, labels)
    assert pairs.exact
    check_cells(cells, distance <= near.radii[:, None], codes, labels)
    assert cells.close == np.sum(np.abs(distance - near.radii[:, None]) <= 1e-5 * near.radii[:, None])


@pytest.mark.slow
def test_tables_that_do_not_fit_are_counted_in_pieces(gpu, monkeypatch):
    _, rows, codes, _ = random_points("euclidean", 4)
    labels = np.arange(60)  # every row has a label of its own
    monkeypatch.setattr(gpu, "_TABLE", 60 * gpu.THEIRS)
    distance = cdist(rows[:30], rows)
    near = Near(rows[:30], rows, np.full(30, np.quantile(distance, 0.3)), "euclidean")
    _, (cells,) = counted(gpu, near, codes, labels)
    check_cells(cells, distance <= near.radii[:, None], codes, labels)


def test_points_far_from_the_others_cost_no_exactness(gpu):
    _, rows, codes, labels = random_points("euclidean", 5)
    rows[::9] *= 1e4
    distance = cdist(rows[:30], rows)
    near = Near(rows[:30], rows, np.full(30, np.quantile(distance, 0.2)), "euclidean")
    _, (cells,) = counted(gpu, near, codes, labels)
    check_cells(cells, distance <= near.radii[:, None], codes, labels)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
@pytest.mark.slow
def test_rows_feel_the_weights_of_the_explanations_that_cover_them(gpu, metric):
    import torch

    rng, rows, codes, labels = random_points(metric, 6)
    distance = cdist(rows[:30], rows, metric)
    radii = rng.uniform(*np.quantile(distance, [0.1, 0.4]), 30)
    pairs, (cells,) = counted(gpu, Near(rows[:30], rows, radii, metric), codes, labels)
    explanation, label = (column[cells.given > 0] for column in (cells.explanation, cells.label))
    weights = rng.normal(size=(4, len(label)))
    covers = (distance <= radii[:, None])[explanation]
    less = weights[3][:, None] * (label[:, None] == labels)
    expected = [((weights[0][:, None] - less) * covers).sum(0), weights[1] @ covers, weights[2] @ covers]
    tensors = map(torch.as_tensor, (explanation, label, weights))
    found = pairs.influence(radii, *(each.to(gpu.DEVICE) for each in tensors))
    assert found == pytest.approx(np.array(expected), abs=1e-5)


def test_the_bound_is_the_largest_square_whose_root_is_within(gpu):
    import torch

    radius = np.concatenate([np.random.default_rng(0).lognormal(0, 20, 500), [0.0, 1.0, 2.0, 0.1, 1e-90, 1e90]])
    for is_open in (False, True):
        most = gpu.bound(torch.as_tensor(radius, device=gpu.DEVICE), "euclidean", is_open, 3).cpu().numpy()
        more = np.nextafter(most, np.inf)
        with np.errstate(invalid="ignore"):
            assert not np.any(np.sqrt(more) < radius if is_open else np.sqrt(more) <= radius)
            assert np.all((np.sqrt(most) < radius if is_open else np.sqrt(most) <= radius) | (most < 0))


def same_estimate(found, expected):
    assert found.counts == expected.counts
    assert (found.value, found.unverifiable, found.chance) == (expected.value, expected.unverifiable, expected.chance)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-5)
    assert any(note.startswith("counted on a GPU") for note in found.notes)


@pytest.mark.slow
def test_an_estimate_is_the_one_of_the_cpu(gpu):
    rng = np.random.default_rng(7)
    phi, labels = np.round(rng.normal(size=(70, 3)), 1), rng.choice(["yes", "no", "maybe"], 70)
    phi[40:50] = phi[:10]  # rows with the same explanation
    for metric in ("euclidean", "manhattan"):
        same_estimate(
            fs.within(phi, labels, 0.8, metric=metric, device="cuda"),
            fs.within(phi, labels, 0.8, metric=metric, device="cpu"),
        )


def test_a_vector_of_zeros_has_no_direction_and_is_near_to_none(gpu):
    rng = np.random.default_rng(8)
    phi, labels = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    phi[[3, 17]] = 0.0
    found = fs.within(phi, labels, 0.2, metric="cosine", device="cuda")
    same_estimate(found, fs.within(phi, labels, 0.2, metric="cosine", device="cpu"))
    assert found.counts.missed.sum() == 2


def test_cells_are_weighed_as_on_the_cpu_and_fetched_by_a_thread(gpu, monkeypatch):
    monkeypatch.setattr("faithscope.counting.gpu.covering._ASIDE", 0)
    rng = np.random.default_rng(12)
    phi, labels = rng.integers(0, 4, (40, 2)).astype(float), rng.integers(0, 2, 40)
    found = fs.within(phi, labels, 1.0, device="cuda")
    same_estimate(found, fs.within(phi, labels, 1.0, device="cpu"))
    names, codes = np.unique(phi, axis=0, return_inverse=True)
    near = Near(names, phi, np.full(len(names), 1.0), "euclidean")
    (cells,) = gpu.DevicePairs(near, codes.reshape(-1), labels, 2).count(near.radii[None])
    influence = Influence(found.counts)
    first = np.unique(codes, return_index=True)[1]
    order = np.argsort(first)  # explanations of the estimate are numbered as they appear
    explanation, label, weights = (part.cpu().numpy() for part in cells.weighed())
    place = np.argsort(np.argsort(order)[explanation] * 2 + label)
    np.testing.assert_allclose(weights[:, place], influence.weights, rtol=1e-15)


@pytest.mark.slow
def test_a_curve_is_the_one_of_the_cpu(gpu):
    rng = np.random.default_rng(9)
    phi, labels = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    curves = [fs.within_curve(phi, labels, [0.3, 1.0, 0.0], device=device) for device in ("cuda", "cpu")]
    for found, expected in zip(*(curve.estimates for curve in curves), strict=True):
        same_estimate(found, expected)


@pytest.mark.slow
def test_balls_are_those_of_the_cpu(gpu):
    rng = np.random.default_rng(10)
    X = rng.integers(0, 5, (60, 2)).astype(float)
    labels = rng.integers(0, 2, 60)
    pairs = fs.Counterfactuals(X + rng.integers(-2, 3, (60, 2)), X)
    same_estimate(*(fs.sufficiency(pairs, labels, X, device=device) for device in ("cuda", "cpu")))
    prototypes = fs.Prototypes(rng.integers(0, 4, 60), [[0.0, 0.0], [1.0, 3.0], [2.0, 2.0], [90.0, 90.0]])
    found, expected = (
        fs.sufficiency(prototypes, labels, X, relation=fs.Ball(2), device=device) for device in ("cuda", "cpu")
    )
    same_estimate(found, expected)
    assert found.notes[:-1] == expected.notes, "also what covers no row"


PHI, LABELS = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
RULES = fs.Rules.from_conditions([[("x", ">", 1)]] * 6, features=["x", "y"])


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
    ("call", "error", "message"),
    [
        (lambda: fs.within(PHI, LABELS, 3.0, device="gpu"), BadInput, "one of auto, cpu, cuda; got 'gpu'"),
        (lambda: fs.within(PHI, LABELS, 3.0, metric="canberra", device="cuda"), BadInput, "metric='canberra'"),
        (lambda: fs.within(PHI, LABELS, 3.0, metric=lambda a, b: 0.0, device="cuda"), BadInput, "within a distance"),
        (lambda: fs.within(1e200 * PHI, LABELS, 3.0, device="cuda"), BadInput, "above 1e100"),
        (
            lambda: fs.sufficiency(RULES, LABELS, PHI, device="cuda"),
            BadInput,
            "no other relation",
        ),
        (
            lambda: fs.sufficiency(fs.Counterfactuals(PHI, PHI + 1), LABELS, PHI * np.nan, device="cuda"),
            BadInput,
            "points or radii that are missing",
        ),
    ],
)
def test_what_a_gpu_is_not_used_for_is_refused_in_a_sentence_that_offers_the_cpu(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert "cpu" in str(caught.value)


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
    with pytest.raises(FaithscopeError, match=r'Counting on a GPU failed.*pass device="cpu"') as caught:
        fs.within(PHI, LABELS, 3.0, device="cuda")
    assert said.split(". ")[0] in str(caught.value)
    assert "\n" not in str(caught.value)
    monkeypatch.setattr(devices, "_in_sight", lambda: True)
    monkeypatch.setattr(devices, "WORTH", 0)
    with pytest.warns(RuntimeWarning, match="counting on the CPU instead") as told:
        found = fs.within(PHI, LABELS, 3.0)
    assert told[0].filename == __file__, "the caller's line is named"
    assert found.to_dict() == fs.within(PHI, LABELS, 3.0, device="cpu").to_dict()
