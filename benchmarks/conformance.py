"""Which cases of the conformance suite other libraries pass, with their defaults and at their best settings.

    python benchmarks/conformance.py

Explanations and labels are handed over as numbers, since the others take nothing else, with small constants beside
them, since the others refuse vectors of fewer features than they keep. Cases of more than 20,000 rows are not tried on
libraries that compare all pairs of rows: they would need that many squared bytes of memory.
"""

import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np

import faithscope as fs
from faithscope.testing import CASES, check_consistency
from ratios import describe_machine, is_missing, quantus_value

MOST_ROWS = 20_000


def padded(values):
    """Some constants more, which change no answer."""
    return np.column_stack([values, np.full((len(values), 6), 1e-3)])


def quantus_measures():
    """Quantus's Consistency: as it comes, and with everything that changes explanations turned off."""
    import quantus

    quiet = {"disable_warnings": True}

    def measure(values, labels, batch_size, **asked):
        return quantus_value(partial(quantus.Consistency, **asked, **quiet), padded(values), labels, batch_size)()

    def whole(row):
        return hash((row + 0.0).tobytes())

    best = {"discretise_func": whole, "abs": False, "normalise": False}
    return {
        "Quantus, defaults": partial(measure, batch_size=64),
        "Quantus, at its best": partial(measure, batch_size=None, **best),
    }


def explainiverse_measures():
    """The consistency of explainiverse, which always keeps the set of the k features of largest magnitude."""
    from explainiverse.core.explanation import Explanation
    from explainiverse.evaluation import compute_consistency

    def measure(values, labels, top_k):
        given = padded(values)
        rows = np.broadcast_to(np.arange(len(given))[:, None], given.shape)  # rows are known by their number
        names = [f"x{j}" for j in range(given.shape[1])]

        def explain(row):
            values = dict(zip(names, given[int(row.ravel()[0])].tolist(), strict=True))
            return Explanation("given", "none", {"feature_attributions": values}, feature_names=names)

        explainer = SimpleNamespace(explain=explain)
        model = SimpleNamespace(predict=lambda rows: labels[rows[:, 0].astype(int)])
        k = values.shape[1] if top_k is None else top_k
        return float(compute_consistency(explainer, model, rows.astype(float), top_k=k))

    return {
        "explainiverse, defaults": partial(measure, top_k=3),
        "explainiverse, at its best": partial(measure, top_k=None),
    }


def with_numbers(measure):
    """The same measure of keys and labels as numbers: vectors, and codes in order of appearance."""

    def numbered(values):
        place = {}
        return np.array([place.setdefault(value, len(place)) for value in np.asarray(values, object).tolist()])

    def measured(explanations, predictions):
        vectors = explanations if isinstance(explanations, np.ndarray) else numbered(explanations)[:, None]
        return measure(vectors.astype(float), numbered(predictions))

    return measured


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(describe_machine(["numpy", "quantus", "explainiverse"]))
    measures = {"faithscope": lambda e, y: fs.consistency(e, y).value}
    measures |= {} if is_missing("quantus") else quantus_measures()
    measures |= {} if is_missing("explainiverse") else explainiverse_measures()
    for name, measure in measures.items():
        cases = [case for case in CASES if name == "faithscope" or len(case.make()[1]) <= MOST_ROWS]
        print(f"\n{name}")
        print(check_consistency(with_numbers(measure), cases))
        for case in CASES:
            if case not in cases:
                print(f"not tried: {case.name} ({len(case.make()[1]):,} rows)")
