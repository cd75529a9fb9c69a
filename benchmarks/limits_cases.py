"""What `limits.py` grows: inputs of a given size, and the work on them."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import faithscope as fs
from faithscope import explainers

Work = Callable[[], Any]
D = 14  # features, as in the other benchmarks


@dataclass(frozen=True)
class Case:
    """Something that grows."""

    grows: str
    prepare: Callable[[int], Work]
    start: int
    most: int = 10**9
    power: float = 1.0  # by which memory grows in the end, where a table of all pairs is made


CASES: dict[str, Case] = {}


def case(name: str, grows: str, start: int, *more: float) -> Callable[[Callable[[int], Work]], Any]:
    """A function from a size to the work on an input of this size."""

    def keep(prepare: Callable[[int], Work]) -> Callable[[int], Work]:
        CASES[name] = Case(grows, prepare, start, *more)
        return prepare

    return keep


def within_addresses(size: int) -> None:
    """Let this process take so many bytes more, and no more."""
    import resource

    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + size, held + size))


def numbers(n: int, d: int = D) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d))


def labels(n: int, many: int = 2) -> np.ndarray:
    return np.random.default_rng(1).integers(many, size=n)


@case("consistency, rows", f"rows of {D} numbers, Floor(1)", 10**6)
def consistency_rows(n: int) -> Work:
    values, predicted = numbers(n), labels(n)
    return lambda: fs.consistency(values, predicted, discretizer=fs.Floor(1))


@case("consistency, keys", "rows, a number as key, n/10 of them", 4 * 10**6, 2 * 10**8)
def consistency_keys(n: int) -> Work:
    keys, predicted = labels(n, n // 10), labels(n).astype(bool)
    return lambda: fs.consistency(keys, predicted)


@case("consistency, texts", "rows, texts as keys and labels", 10**5)
def consistency_texts(n: int) -> Work:
    keys = [f"leaf {code}" for code in labels(n, n // 10).tolist()]
    predicted = [f"class {code}" for code in labels(n, 20).tolist()]
    return lambda: fs.consistency(keys, predicted)


@case("consistency, features", "features of 1,000 rows, Floor(1)", 10**4)
def consistency_features(d: int) -> Work:
    values, predicted = numbers(1000, d), labels(1000)
    return lambda: fs.consistency(values, predicted, discretizer=fs.Floor(1))


@case("consistency, top 5", "features of 1,000 rows, SignOfTop(5)", 10**4)
def consistency_top(d: int) -> Work:
    values, predicted = numbers(1000, d), labels(1000)
    return lambda: fs.consistency(values, predicted, discretizer=fs.SignOfTop(5))


@case("consistency, labels", "labels, one for every two rows; 1,000 keys", 10**6)
def consistency_labels(n: int) -> Work:
    keys, predicted = labels(n, 1000), np.arange(n) // 2
    return lambda: fs.consistency(keys, predicted)


@case("populations", "groups of 1,000,000 rows", 250, 10**3)
def populations(groups: int) -> Work:
    evaluation = fs.evaluate(labels(10**6), labels(10**6, 1000), np.zeros((10**6, 1)), progress=False)
    parts = labels(10**6, groups)
    return lambda: evaluation.by(parts)


def ruled(n: int, rules: int, many: int) -> tuple[fs.Rules, np.ndarray, np.ndarray]:
    """Rules of three conditions on 20 columns, ten thresholds per column; every row has one, which may not hold."""
    X, random = numbers(n, 20), np.random.default_rng(2)
    at, on = random.integers(10, size=(rules, 3)), np.array([random.permutation(20)[:3] for _ in range(rules)])
    bounds = np.linspace(-1.35, 1.35, 10)
    written = [
        [(int(j), "<=" if t % 2 else ">", float(bounds[t])) for j, t in zip(*rule, strict=True)]
        for rule in zip(on, at, strict=True)
    ]
    one_each = fs.Rules.from_conditions(written, [f"x{j}" for j in range(20)])
    return one_each.take(np.arange(n) % rules), X, labels(n, many)


@case("sufficiency, rows", "rows; 1,000 rules, 7 labels", 10**5)
def sufficiency_rows(n: int) -> Work:
    rules, X, predicted = ruled(n, 1000, 7)
    return lambda: fs.sufficiency(rules, predicted, X)


@case("sufficiency, rules", "rules; 100,000 rows, 7 labels", 10**3, 10**5)
def sufficiency_rules(rules: int) -> Work:
    given, X, predicted = ruled(10**5, rules, 7)
    return lambda: fs.sufficiency(given, predicted, X)


@case("sufficiency, labels", "labels; 100,000 rows, 1,000 rules", 100, 10**5)
def sufficiency_labels(many: int) -> Work:
    rules, X, predicted = ruled(10**5, 1000, many)
    return lambda: fs.sufficiency(rules, predicted, X)


def texts(n: int, words: int) -> tuple[list[str], list[list[str]]]:
    drawn = np.random.default_rng(3).zipf(1.3, size=(n, 20)) % words
    documents = [" ".join(f"w{word}" for word in row) for row in drawn.tolist()]
    return documents, [[f"w{row[0]}"] for row in drawn.tolist()]


@case("highlights, documents", "documents of 20 words of 10,000", 10**4)
def highlights_documents(n: int) -> Work:
    documents, chosen = texts(n, 10**4)
    predicted = labels(n)
    return lambda: fs.sufficiency(fs.Highlights(chosen), predicted, documents)


@case("highlights, words", "words highlighted; 100,000 documents", 2000, 10**5)
def highlights_words(words: int) -> Work:
    documents, _ = texts(10**5, words)
    chosen = [[f"w{row % words}"] for row in range(10**5)]
    predicted = labels(10**5)
    return lambda: fs.sufficiency(fs.Highlights(chosen), predicted, documents)


@case("prototypes, nearest", f"prototypes of {D} numbers; 20,000 rows", 10**3)
def prototypes_nearest(many: int) -> Work:
    points, X, predicted = numbers(many), numbers(20_000), labels(20_000)
    return lambda: fs.sufficiency(explainers.NearestNeighbors(points).explain(X), predicted, X)


@case("prototypes, balls", "rows; 2,000 prototypes, Ball(3)", 10**4)
def prototypes_balls(n: int) -> Work:
    points, X, predicted = numbers(2000), numbers(n), labels(n)
    given = fs.Prototypes(np.arange(n) % 2000, points)
    return lambda: fs.sufficiency(given, predicted, X, relation=fs.Ball(3.0))


@case("counterfactuals", f"rows of {D} numbers, a ball each", 2000)
def counterfactuals(n: int) -> Work:
    X, predicted = numbers(n), labels(n)
    given = fs.Counterfactuals(X + 0.5, X)
    return lambda: fs.sufficiency(given, predicted, X)


@case("within, rows", f"vectors of {D} numbers, tau = 3", 5000)
def within_rows(n: int) -> Work:
    values, predicted = numbers(n), labels(n)
    return lambda: fs.within(values, predicted, 3.0)


@case("within, features", "features of 2,000 vectors", 10**3)
def within_features(d: int) -> Work:
    values, predicted = numbers(2000, d), labels(2000)
    return lambda: fs.within(values, predicted, 1.3 * d**0.5)


@case("within_curve", f"vectors of {D} numbers, 10 distances", 2500)
def within_curve(n: int) -> Work:
    values, predicted = numbers(n), labels(n)
    return lambda: fs.within_curve(values, predicted, np.linspace(1, 5, 10))


@case("compare", f"explainers; 100,000 rows of {D} numbers", 4)
def compared(many: int) -> Work:
    X, predicted = np.zeros((10**5, 1)), labels(10**5)
    given = {f"e{j}": np.round(np.random.default_rng(j).standard_normal((10**5, D)), 1) for j in range(many)}
    return lambda: fs.compare(predicted, given, X, progress=False)


def first_positive(X: np.ndarray) -> np.ndarray:
    return np.asarray(X)[:, 0] > 0


@case("Shap, rows", f"rows of {D} features, background 10", 1000)
def shap_rows(n: int) -> Work:
    explain = explainers.Shap(first_positive, numbers(10), output="margin", algorithm="permutation").explain
    X = numbers(n)
    return lambda: explain(X)


@case("Shap, background", f"background of 100 rows, {D} features", 100)
def shap_background(n: int) -> Work:
    explain = explainers.Shap(first_positive, numbers(n), output="margin", algorithm="permutation").explain
    X = numbers(100)
    return lambda: explain(X)


@case("Shap, features", "features; 10 rows, background 1", 100, 10**9, 2.0)
def shap_features(d: int) -> Work:
    X = numbers(10, d)
    how = {"output": "margin", "algorithm": "permutation"}
    return lambda: explainers.Shap(first_positive, X[:1], **how).explain(X)


@case("Lime, rows", f"rows of {D} features, 5,000 draws", 100)
def lime_rows(n: int) -> Work:
    X = numbers(n)
    explain = explainers.Lime(first_positive, numbers(1000)).explain
    return lambda: explain(X)


@case("Lime, features", "features of 10 rows, 5,000 draws", 50, 10**9, 2.0)
def lime_features(d: int) -> Work:
    X = numbers(1000, d)
    return lambda: explainers.Lime(first_positive, X).explain(X[:10])


@case("Anchors, training rows", f"training rows of {D}; 100 explained", 10**4)
def anchors_training(n: int) -> Work:
    X = numbers(n)
    return lambda: explainers.Anchors(first_positive, X).explain(X[:100])


@case("Anchors, features", "features of 10 rows", 50)
def anchors_features(d: int) -> Work:
    X = numbers(1000, d)
    return lambda: explainers.Anchors(first_positive, X).explain(X[:10])


@case("report", f"explanations of {D} numbers, all different", 25_000)
def report(n: int) -> Work:
    evaluation = fs.evaluate(labels(n), numbers(n), numbers(n, 4), progress=False)

    def write() -> str:
        with tempfile.TemporaryDirectory() as folder:
            evaluation.to_html(Path(folder) / "report.html")
            return f"the report has {(Path(folder) / 'report.html').stat().st_size / 1e3:,.0f} kB"

    return write


REFUSED = {
    "consistency of 40,000,000 rows": """
import numpy as np, faithscope as fs
fs.consistency(np.zeros(40_000_000, np.int64), np.zeros(40_000_000, bool))""",
    "Floor(1) of 1,500 x 100,000 importances": """
import numpy as np, faithscope as fs
fs.consistency(np.zeros((1_500, 100_000)), np.zeros(1_500, bool), discretizer=fs.Floor(1))""",
    "10,000 words over 10,000,000 documents": """
import numpy as np, faithscope as fs
from scipy.sparse import csr_array
bag = csr_array((10_000_000, 10_000), dtype=np.int8)
given = fs.Highlights([[f"w{j}"] for j in range(10_000)], vocabulary=[f"w{j}" for j in range(10_000)])
fs.sufficiency(given.take(np.arange(10_000_000) % 10_000), bag, np.zeros(10_000_000, bool))""",
    "1,000 rules, 5,000,000 labels": """
import numpy as np, faithscope as fs
rules = fs.Rules.from_conditions([[(0, ">", j)] for j in range(1_000)], ["x"])
fs.sufficiency(rules.take(np.arange(5_000_000) % 1_000), np.zeros((5_000_000, 1)), np.arange(5_000_000))""",
    "within of 2,000 vectors of 50,000 numbers": """
import numpy as np, faithscope as fs
fs.within(np.random.default_rng(0).random((2_000, 50_000)), np.zeros(2_000, bool), 1.0)""",
    "Shap of 20,000 features": """
import numpy as np
from faithscope.explainers import Shap
Shap(lambda X: X[:, 0], np.zeros((1, 20_000)), output="margin", algorithm="permutation")""",
    "Lime of 20,000 features": """
import numpy as np
from faithscope.explainers import Lime
Lime(lambda X: X[:, 0], np.zeros((10, 20_000))).explain(np.zeros((1, 20_000)))""",
    "40,000,000 x 100 numbers that nobody checked, at the command line": """
import sys
import numpy as np
from faithscope.cli import main
import faithscope.cli.audit as command
command.open_log_source = lambda *_: np.ones(40_000_000, np.float64)[:, None] * np.ones(100)
sys.argv = ["faithscope", "audit", "log.parquet"]
main()""",
}
