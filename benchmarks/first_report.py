"""Processor time of the first and the second report of a process: ``python benchmarks/first_report.py [RUNS]``."""

import json
import statistics
import subprocess
import sys

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3  # fresh processes
REPORTED = """
import json, tempfile, time
import numpy as np
import faithscope as fs

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 3))
compared = fs.compare(X[:, 0] > 0, {"sign": np.sign(X), "rounded": X.round()}, X, progress=False)
seconds = []
for _ in range(2):
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        compared.to_html(folder + "/report.html")
        seconds.append(time.process_time() - start)
print(json.dumps(seconds))
"""


if __name__ == "__main__":
    runs = [json.loads(subprocess.check_output([sys.executable, "-c", REPORTED])) for _ in range(RUNS)]
    first, second = (statistics.median(times) for times in zip(*runs, strict=True))
    print(f"first report {first:.2f} s, second report {second:.2f} s of processor time (medians of {RUNS})")
