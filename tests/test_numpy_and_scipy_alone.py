"""NumPy and SciPy alone carry explanations, counting and measures: the same answers where nothing else is installed."""

import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
import scipy

from refused import refused

MEASURED = """
import numpy as np
import faithscope as fs

rng = np.random.default_rng(0)
X, labels = rng.integers(0, 4, (60, 2)).astype(float), rng.integers(0, 2, 60)
phi = rng.integers(-1, 2, (60, 3)) / 2
rules = fs.Rules.from_conditions([[("a", "<=", float(x))] for x in X[:, 0]], features=["a", "b"])
words = fs.Highlights([{"great"} if one else {"dull", "plot"} for one in labels])
texts = ["a great film" if one % 3 else "a dull plot" for one in range(60)]
points = fs.Counterfactuals(X + 1, X, metric="euclidean")
ev = fs.evaluate(labels, phi, X, discretizer=fs.Sign(), progress=False)
mixed = [[float(a), "x" if b > 1 else "y"] for a, b in X]
for answer in (
    fs.consistency(phi, labels), fs.consistency(phi, labels, discretizer=fs.Rank(), weights=np.arange(1, 61)),
    fs.sufficiency(rules, labels, X), fs.sufficiency(words, labels, texts), fs.sufficiency(points, labels, X),
    fs.sufficiency(fs.Prototypes([[i % 5] for i in range(60)], points=mixed[:5], metric="gower"), labels, mixed),
    fs.sufficiency(rules, lambda X: (X[:, 1] > 1) * 1, X, population=fs.Perturbed(X, draws=3)),
    fs.sufficiency(words, lambda texts: ["great" in text for text in texts], texts, population=fs.Perturbed(draws=3)),
    fs.sufficiency(rules, lambda X: (X[:, 1] > 1) * 1, X, population=fs.Conditional(X, k=3)),
    fs.within(phi, labels, 0.6), fs.within_curve(phi, labels, [0.1, 1.0]), fs.certify(phi, labels), fs.plan(ev),
    fs.compare(labels, {"one": phi, "two": phi[:, :1]}, X, progress=False), ev, fs.GibbsDecoder(ev.consistency).error,
):
    print(answer)
"""


def printed(program, folders, *options):
    found = subprocess.run(
        [sys.executable, *options, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.slow
def test_the_measures_need_numpy_and_scipy_alone(tmp_path):
    source = Path(__file__).parents[1] / "src"
    for library in (numpy, scipy):
        package = Path(library.__file__).parent
        for part in package.parent.glob(f"{package.name}*"):  # the libraries that wheels bring along, too
            (tmp_path / part.name).symlink_to(part)
    alone = printed(MEASURED + "import sys; assert 'site' not in sys.modules", [tmp_path, source], "-S")
    assert alone.count("\n") >= 13
    assert alone == printed(MEASURED, [source])
    refused(AssertionError, "No module named 'pandas'", printed, "import pandas", [tmp_path, source], "-S")
