"""How fast `within` is on a GPU, how far from the chip's limit, and whether it counts what the CPU counts.

    python benchmarks/within_gpu.py                   # minutes; exits 1 where a bar is missed or counts differ
    python benchmarks/within_gpu.py --quick           # small samples; nothing is judged

1. Counts: from NumPy arrays to counts of who is within tau, by label, as NumPy arrays again, after one call to warm up.
   Beside them the time inside the kernels, and the extra time of the exact jackknife interval. Vectors are standard
   normal, tau is 3 for 14 features and about the nearest hundredth of distances otherwise; labels are three.
2. Limits: the operations of the counting kernel over what the chip can do. A pair takes 3 · 2 · k operations on the
   tensor units (k numbers per row, in halves), held against the rate of a large half-precision product measured, and
   3 instructions on the single-precision units, held against 128 a clock and multiprocessor at the highest clock.
3. The same data on the CPU of the same machine: the counts must be equal; then the ratio. Other metrics, and plain
   distances, are compared in `tests/counting/test_gpu.py`.

Where there is no GPU, only the CPU's own time is measured.
"""

import importlib.util
import subprocess
import sys
from functools import cache, partial

import numpy as np
from numpy.random import default_rng
from scipy.spatial.distance import cdist

import faithscope as fs
from faithscope.explanations.distances.near import Near
from ratios import FEATURES, Line, best_of, clock, faster, run
from sufficiency import TAU

SIZES = {  # rows that each part measures, in full and quickly
    "rows": (1_000_000, 5_000),
    "few": (20_000, 2_000),
    "compared": (100_000, 3_000),  # with the CPU, besides `few`
    "wide": ((54, 512), (54,)),
}
on_gpu = partial(fs.within, device="cuda")


@cache
def has_gpu():
    """Whether torch can use one; says which, and where it cannot."""
    if importlib.util.find_spec("torch") and importlib.util.find_spec("triton"):
        import torch

        if torch.cuda.is_available():
            print(torch.cuda.get_device_name())
            return True
    print("skipped: there is no GPU that torch can use")
    return False


def normal(n, d):
    values = default_rng(0).standard_normal((n, d))
    return values, np.digitize(values.sum(axis=1) * np.sqrt(FEATURES / d), [-2.0, 2.0])


class Counting:
    """`within`'s steps on the GPU, for one distance, by themselves."""

    def __init__(self, values, labels):
        """Take about 1 pair in 100 for near."""
        self.values, self.labels, self.tau = values, labels, TAU
        if values.shape[1] != FEATURES:
            self.tau = np.quantile(cdist(values[:400], values[400:2_400]), 0.01)
        self.radii = np.full(len(values), self.tau)

    def counts(self):
        from faithscope.counting.gpu.pairs import DevicePairs

        near = Near(self.values, self.values, self.radii, "euclidean")
        self.pairs = DevicePairs(near, np.arange(len(self.values)), self.labels, 3)
        self.cells = self.pairs.count(self.radii[None])[0]
        return self.cells.fetch()()[0]

    def interval(self):
        return self.pairs.influence(self.radii, *self.cells.weighed())

    def times(self, runs):
        """Best seconds of the counts, of their kernels and of the interval; and the counts."""
        from faithscope.counting.gpu import pairs

        plain, watch = pairs._launch, Stopwatch()
        table, seconds = self.counts(), []
        self.interval()
        for _ in range(runs):
            watch.clear()
            pairs._launch = partial(watch, plain)
            counted = clock(self.counts)[0]
            pairs._launch = plain
            seconds.append((counted, sum(watch.seconds), clock(self.interval)[0]))
        names = ("counts", "kernels", "interval's extra")
        return dict(zip(names, np.min(seconds, axis=0), strict=True)), table


class Stopwatch(list):
    """Events before and after kernels of the device, timed by the device itself."""

    def __call__(self, work, *given):
        """Do some work of the device."""
        import torch

        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work(*given)
        end.record()
        self.append((begin, end))

    @property
    def seconds(self):
        """Of each, once the last has ended."""
        self[-1][1].synchronize()
        return [begin.elapsed_time(end) / 1e3 for begin, end in self]


def rates():
    """Operations a second of a large half-precision product, and single-precision instructions a second at most."""
    import torch

    a, b = (torch.randn(8_192, 8_192, device="cuda", dtype=torch.float16) for _ in range(2))
    watch = Stopwatch()
    for _ in range(10):
        watch(torch.matmul, a, b)
        torch.cuda.synchronize()
    asked = ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits"]
    clock_rate = 1e6 * float(subprocess.check_output(asked, text=True).split()[0])
    units = 128 * torch.cuda.get_device_properties(0).multi_processor_count
    return 2 * 8_192**3 / np.median(watch.seconds), units * clock_rate


def counts(sizes):
    if not has_gpu():
        return
    products, instructions = rates()
    for n, d in [(sizes.few, FEATURES), *((sizes.rows, d) for d in (FEATURES, *sizes.wide))]:
        values, labels = normal(n, d)
        counting = Counting(values, labels)
        runs, scale, unit, bar, whole = (30, 1e3, "ms", 5, 10) if n == sizes.few else (5, 1, "s", 0.8, 1)
        best, (_, _, _, covered, _) = counting.times(runs if d == FEATURES else 1)
        close = f"{counting.cells.close:,} close to it"
        note = f"{covered.sum() / n**2:.2%} of pairs within {counting.tau:.4g}; {close}"
        what, bar = f"counts, n = {n:,}, d = {d}", bar if d == FEATURES else None
        yield Line(what, scale * best["counts"], unit, at_most=bar, seconds=best, note=note)
        k = counting.pairs.space.k
        floor = {"tensor units": n**2 * 6 * k / products, "single precision": n**2 * 3 / instructions}
        note = f"k = {k}; {products / 1e12:,.0f} TFLOP/s, {instructions / 1e12:,.1f} T instructions/s"
        share = 100 * max(floor.values()) / best["kernels"]
        yield Line("  limit of the chip, over the kernels' time", share, "%", seconds=floor, note=note)
        if d == FEATURES:
            took = scale * best_of(partial(on_gpu, values, labels, TAU), runs)
            yield Line("  the whole call, with the interval", took, unit, at_most=whole)


def against_cpu(sizes):
    for n in (sizes.few, sizes.compared):
        values, labels = normal(n, FEATURES)
        works = [partial(fs.within, values, labels, TAU, device=device) for device in ("cuda", "cpu")]
        if not has_gpu():
            yield Line(f"within on the CPU, n = {n:,}", best_of(works[1], 3), "s")
            return
        both = [work() for work in works]
        for name in ("explanation", "label", "given", "covered", "missed"):
            if not np.array_equal(*(getattr(answer.counts, name) for answer in both)):
                sys.exit(f"The GPU counts otherwise than the CPU, so its times mean nothing: {name}")
        best = {"GPU": best_of(works[0], 3), "CPU": best_of(works[1], 1)}
        limits = " and ".join(f"[{answer.low:.5f}, {answer.high:.5f}]" for answer in both)
        yield faster(f"within, faster than on the CPU, n = {n:,}", best, note=f"equal counts; intervals {limits}")


if __name__ == "__main__":
    libraries = ("faithscope", "numpy", "scipy", "torch", "triton")
    run(__doc__, libraries, (counts, against_cpu), SIZES)
