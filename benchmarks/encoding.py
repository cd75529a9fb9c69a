"""How long does `fs.encoding` take on many rows and rules, beside `fs.sufficiency`?

    python benchmarks/encoding.py             # a minute
    python benchmarks/encoding.py --quick     # seconds

Whether it finds explainers that encode, and leaves the others alone: `python benchmarks/coverage --only encoders`.
"""

from functools import partial

import faithscope as fs
from ratios import clock, describe_machine, options
from sufficiency import ruled, written

SIZES = ((10_000, 1_000), (100_000, 1_000), (100_000, 5_000))  # rows, rules of four conditions


if __name__ == "__main__":
    chosen = options(__doc__, quick=False)
    print(describe_machine(("numpy", "scipy")))
    print(f"{'rows':>9} {'rules':>7} {'labels, s':>10} {'sufficiency, s':>15}")
    for n, rules in SIZES[:1] if chosen.quick else SIZES:
        X, labels, _, given = ruled(n, rules)
        asked = written(given), labels, X
        times = [clock(partial(measure, *asked))[0] for measure in (fs.encoding, fs.sufficiency)]
        print(f"{n:9,} {rules:7,} {times[0]:10.2f} {times[1]:15.2f}")
