"""How fast `within` is on a GPU, how far from the chip's limit, and whether it counts what the CPU counts.

    python benchmarks/within_gpu.py                   # minutes; exits 1 where a bar is missed or counts differ
    python benchmarks/within_gpu.py --quick           # small samples; nothing is judged
    python benchmarks/within_gpu.py --quantus 23.1    # seconds that Quantus took elsewhere, where it is not installed

1. Counts: from NumPy arrays to counts of who is within tau, by label, as NumPy arrays again, after one call to warm up.
   Beside them the time inside the kernels, and the extra time of the exact jackknife interval. Vectors are standard
   normal, tau is 3 for 14 features and about the nearest hundredth of distances otherwise; labels are three. The counts
   of 50 explanations are checked against plain distances.
2. Limits: the operations of the counting kernel over what the chip can do. A pair takes 3 · 2 · k operations on the
   tensor units (k numbers per row, in halves), held against the rate of a large half-precision product measured, and
   3 instructions on the single-precision units, held against 128 a clock and multiprocessor at the highest clock.
3. The same data on the CPU of the same machine: the counts must be equal and the intervals agree; then the ratio.
4. Quantus 0.6.0 ``Sufficiency`` with ``batch_size=n``, called as in `sufficiency.py`, against the complete estimate.

Where there is no GPU, only Quantus and the CPU's own time are measured.
"""

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import faithscope as fs
from faithscope.explanations.distances.near import Near
from ratios import FEATURES, Line, best_of, clock, faster, is_missing, run
from sufficiency import TAU, quantus_within, standard_vectors

METRICS = ("manhattan", "chebyshev", "cosine", "hamming")
on_gpu = partial(fs.within, device="cuda")


@dataclass(frozen=True)
class Sizes:
    """How many rows each part measures."""

    rows: int = 1_000_000
    few: int = 20_000
    compared: int = 100_000  # with the CPU, besides `few`
    others: int = 200_000  # for other metrics and curves
    wide: tuple[int, ...] = (54, 512)
    quantus: float | None = None  # seconds


QUICK = Sizes(5_000, 2_000, 3_000, 2_000, (54,))


@cache
def has_gpu() -> bool:
    """Whether torch can use one; says which, and where it cannot."""
    if importlib.util.find_spec("torch") and importlib.util.find_spec("triton"):
        import torch

        if torch.cuda.is_available():
            print(torch.cuda.get_device_name())
            return True
    print("skipped: there is no GPU that torch can use")
    return False


def normal(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    values = np.random.default_rng(0).standard_normal((n, d))
    return values, np.digitize(values.sum(axis=1) * np.sqrt(FEATURES / d), [-2.0, 2.0])


def distance_for(values: np.ndarray, metric: str = "euclidean") -> float:
    """A distance within which about 1 pair in 100 lies."""
    if metric == "euclidean" and values.shape[1] == FEATURES:
        return TAU
    name = "cityblock" if metric == "manhattan" else metric
    return float(np.quantile(cdist(values[:400], values[400:2_400], name), 0.01))


@dataclass
class Counting:
    """`within`'s steps on the GPU, for one distance, by themselves."""

    values: np.ndarray
    labels: np.ndarray
    tau: float

    def counts(self) -> Any:
        from faithscope.counting.gpu import pairs as _gpu

        n = len(self.values)
        self.radii = np.full(n, self.tau)
        self.pairs = _gpu.DevicePairs(
            Near(self.values, self.values, self.radii, "euclidean"), np.arange(n), self.labels, 3
        )
        self.cells = self.pairs.count(self.radii[None])[0]
        return self.cells.fetch().result()

    def interval(self) -> Any:
        return self.pairs.influence(self.radii, *self.cells.weighed())


class Stopwatch:
    """Kernels of the device, timed by the device itself."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, Any]] = []

    def __call__(self, work: Callable[..., Any], *given: Any) -> None:
        """Do some work of the device."""
        import torch

        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work(*given)
        end.record()
        self.events.append((begin, end))

    @property
    def seconds(self) -> list[float]:
        """Of each, once the last has ended."""
        self.events[-1][1].synchronize()
        return [begin.elapsed_time(end) / 1e3 for begin, end in self.events]


@contextmanager
def timed_kernels() -> Iterator[Stopwatch]:
    """Every kernel launched meanwhile."""
    from faithscope.counting.gpu import pairs as _gpu

    plain, watch = _gpu._launch, Stopwatch()
    _gpu._launch = partial(watch, plain)
    try:
        yield watch
    finally:
        _gpu._launch = plain


def times(counting: Counting, runs: int = 3) -> tuple[dict[str, float], Any]:
    """Best seconds of the counts, of their kernels and of the interval; and the counts."""
    cells = counting.counts()
    counting.interval()
    best = dict.fromkeys(("counts", "kernels", "interval's extra"), float("inf"))
    for _ in range(runs):
        with timed_kernels() as kernels:
            seconds = {"counts": clock(counting.counts)[0]}
        seconds["kernels"] = sum(kernels.seconds)
        seconds["interval's extra"] = clock(counting.interval)[0]
        best = {name: min(best[name], seconds[name]) for name in best}
    return best, cells


def rates() -> tuple[float, float]:
    """Operations a second of a large half-precision product, and single-precision instructions a second at most."""
    import torch

    a, b = (torch.randn(8_192, 8_192, device="cuda", dtype=torch.float16) for _ in range(2))
    watch = Stopwatch()
    for _ in range(10):
        watch(torch.matmul, a, b)
        torch.cuda.synchronize()
    asked = ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits"]
    clock_rate = 1e6 * float(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()[0])
    units = 128 * torch.cuda.get_device_properties(0).multi_processor_count
    return 2 * 8_192**3 / float(np.median(watch.seconds)), units * clock_rate


def counts(sizes: Sizes) -> Iterator[Line]:
    if not has_gpu():
        return
    products, instructions = rates()
    shapes = [(sizes.few, FEATURES), (sizes.rows, FEATURES), *((sizes.rows, d) for d in sizes.wide)]
    for n, d in shapes:
        values, labels = normal(n, d)
        counting = Counting(values, labels, distance_for(values))
        small = n == sizes.few
        runs = 30 if small else 5 if d == FEATURES else 1
        best, cells = times(counting, runs)
        value, unit, bar = (1e3 * best["counts"], "ms", 5) if small else (best["counts"], "s", 0.8)
        check_some(counting, cells)
        note = f"{cells.covered.sum() / n**2:.2%} of pairs within {counting.tau:.4g}; {cells.close:,} close to it"
        what = f"counts, n = {n:,}, d = {d}"
        yield Line(what, value, unit, at_most=bar if d == FEATURES else None, seconds=best, note=note)
        k = counting.pairs.space.k
        floor = {"tensor units": n**2 * 6 * k / products, "single precision": n**2 * 3 / instructions}
        note = f"k = {k}; {products / 1e12:,.0f} TFLOP/s, {instructions / 1e12:,.1f} T instructions/s"
        share = 100 * max(floor.values()) / best["kernels"]
        yield Line("  limit of the chip, over the kernels' time", share, "%", seconds=floor, note=note)
        if d == FEATURES:
            whole = best_of(partial(on_gpu, values, labels, TAU), runs)
            took, bar = (1e3 * whole, 10) if small else (whole, 1)
            yield Line("  the whole call, with the interval", took, unit, at_most=bar)


def check_some(counting: Counting, cells: Any, count: int = 50) -> None:
    """Exit where the counts of a few explanations are not those of plain distances."""
    chosen = np.random.default_rng(1).choice(len(counting.values), count, replace=False)
    inside = cdist(counting.values[chosen], counting.values) <= counting.tau
    table = np.zeros((len(counting.values), 3), np.int64)
    table[cells.explanation, cells.label] = cells.covered
    for label in range(3):
        if not np.array_equal(inside[:, counting.labels == label].sum(axis=1), table[chosen, label]):
            sys.exit("The counts are not those of plain distances, so their times mean nothing.")


def given_for(metric: str, values: np.ndarray) -> tuple[np.ndarray, float]:
    """Vectors of which some coordinates are equal, if they are counted, and a distance."""
    given = np.round(values) if metric == "hamming" else values
    return given, distance_for(given, metric)


def warm(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the second call, and its answer."""
    work()
    return clock(work)


def other_metrics(sizes: Sizes) -> Iterator[Line]:
    if not has_gpu():
        return
    n = sizes.others
    values, labels = normal(n, FEATURES)
    for metric in METRICS:
        given, tau = given_for(metric, values)
        seconds, _ = warm(partial(on_gpu, given, labels, tau, metric=metric))
        yield Line(f"within, {metric}, n = {n:,}", seconds, "s", note=f"tau {tau:.4g}, with the interval")
    seconds, estimate = warm(partial(on_gpu, np.round(4 * values) / 4, labels, TAU))
    yield Line(f"within, euclidean on a grid, n = {n:,}", seconds, "s", note=estimate.notes[-1])
    seconds, _ = warm(partial(fs.within_curve, values, labels, np.linspace(1, 4, 8), device="cuda"))
    yield Line(f"within_curve, 8 distances, n = {n:,}", seconds, "s", note="with the intervals")


def against_cpu(sizes: Sizes) -> Iterator[Line]:
    for n in (sizes.few, sizes.compared):
        values, labels = normal(n, FEATURES)
        works = [partial(fs.within, values, labels, TAU, device=device) for device in ("cuda", "cpu")]
        if not has_gpu():
            yield Line(f"within on the CPU, n = {n:,}", best_of(works[1], 3), "s")
            return
        both = [work() for work in works]
        check_same(*both)
        best = {"GPU": best_of(works[0], 3), "CPU": best_of(works[1], 1)}
        limits = " and ".join(f"[{answer.low:.5f}, {answer.high:.5f}]" for answer in both)
        yield faster(f"within, faster than on the CPU, n = {n:,}", best, note=f"equal counts; intervals {limits}")


def check_same(estimate: fs.Estimate, expected: fs.Estimate) -> None:
    """Exit where counts differ, pair by pair as far as cells tell."""
    names = ("explanation", "label", "given", "covered", "missed")
    wrong = [
        name for name in names if not np.array_equal(getattr(estimate.counts, name), getattr(expected.counts, name))
    ]
    if wrong or estimate.value != expected.value:
        sys.exit(f"The GPU counts otherwise than the CPU, so its times mean nothing: {wrong}")


def against_metrics_of_the_cpu(sizes: Sizes) -> Iterator[Line]:
    if not has_gpu():
        return
    n = sizes.few // 2
    values, labels = normal(n, FEATURES)
    for metric in ("euclidean", *METRICS):
        given, tau = given_for(metric, values)
        estimate, expected = (fs.within(given, labels, tau, metric=metric, device=device) for device in ("cuda", "cpu"))
        check_same(estimate, expected)
        gap = max(abs(estimate.low - expected.low), abs(estimate.high - expected.high))
        what = f"{metric}, n = {n:,}: equal counts, intervals off by"
        yield Line(what, 1e9 * gap, "e-9", note=estimate.notes[-1])


def against_quantus(sizes: Sizes) -> Iterator[Line]:
    values, scaled, labels = standard_vectors(sizes.few)
    seconds, where = sizes.quantus, "Quantus was measured on another machine"
    if seconds is None and not is_missing("quantus"):
        seconds, where = clock(quantus_within(values, labels))[0], "both on this machine"
        yield Line(f"Quantus Sufficiency, n = {sizes.few:,}", seconds, "s")
    if seconds is None or not has_gpu():
        return
    work = partial(on_gpu, scaled, labels, TAU)
    work()
    best = {"GPU": best_of(work, 3), "Quantus": seconds}
    yield faster(f"within, faster than Quantus, n = {sizes.few:,}", best, note=f"with the interval; {where}")


if __name__ == "__main__":
    libraries = ("faithscope", "numpy", "scipy", "torch", "triton", "quantus")
    every = (counts, other_metrics, against_cpu, against_metrics_of_the_cpu, against_quantus)
    run(__doc__, libraries, every, Sizes(), QUICK, quantus=float)
