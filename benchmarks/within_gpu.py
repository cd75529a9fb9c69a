"""How fast `within` is on a GPU, and whether it answers as the CPU does.

    python benchmarks/within_gpu.py                   # minutes; exits 1 where answers differ
    python benchmarks/within_gpu.py --quick           # small samples; nothing is judged

1. The whole call, from NumPy arrays to an estimate, after one call to warm up. Vectors are standard normal, tau is 3
   for 14 features and about the nearest hundredth of distances otherwise; labels are three.
2. The same data on the CPU of the same machine: counts and intervals must be equal; then the ratio. Other metrics, and
   plain distances, are compared in `tests/counting/test_gpu.py`.

Where there is no GPU, only the CPU's own time is measured.
"""

import importlib.util
import sys
from functools import cache, partial

import numpy as np
from numpy.random import default_rng
from scipy.spatial.distance import cdist

import faithscope as fs
from ratios import FEATURES, Line, best_of, faster, run
from sufficiency import TAU

SIZES = {  # rows that each part measures, in full and quickly
    "rows": (1_000_000, 20_000),
    "compared": ((20_000, 100_000), (12_000,)),  # with the CPU
    "wide": ((54, 512), (54,)),
}


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
    tau = TAU if d == FEATURES else np.quantile(cdist(values[:400], values[400:2_400]), 0.01)
    return values, np.digitize(values.sum(axis=1) * np.sqrt(FEATURES / d), [-2.0, 2.0]), tau


def times(sizes):
    for d in (FEATURES, *sizes.wide) if has_gpu() else ():
        work = partial(fs.within, *normal(sizes.rows, d), device="cuda")
        work()
        yield Line(f"within, n = {sizes.rows:,}, d = {d}", best_of(work, 3), "s")


def against_cpu(sizes):
    for n in sizes.compared:
        works = [partial(fs.within, *normal(n, FEATURES), device=device) for device in ("cuda", "cpu")]
        if not has_gpu():
            yield Line(f"within on the CPU, n = {n:,}", best_of(works[1], 3), "s")
            return
        on_gpu, on_cpu = (work() for work in works)
        if on_gpu.counts != on_cpu.counts or on_gpu.interval != on_cpu.interval:
            sys.exit("The GPU answers otherwise than the CPU, so its times mean nothing.")
        best = {"GPU": best_of(works[0], 3), "CPU": best_of(works[1], 1)}
        yield faster(f"within, faster than on the CPU, n = {n:,}", best, note="equal counts and intervals")


if __name__ == "__main__":
    libraries = ("faithscope", "numpy", "scipy", "torch", "triton")
    run(__doc__, libraries, (times, against_cpu), SIZES)
