"""What a reader of repeatability should know."""

import numpy as np

from faithscope.explanations.importances import Importances
from faithscope.measures.repeatability.interval import CrossedRuns
from faithscope.measures.repeatability.runs import Runs

_NEARLY_ALL = 0.9  # of real numbers that are different


def notes_on(crossed: CrossedRuns) -> tuple[str, ...]:
    """Notes on the runs, then those that rows and explanations bring along."""
    runs = crossed.runs
    told = (_on_equal(crossed), _on_granularity(runs), _on_two(runs), _on_differing(crossed))
    given = [note for explanations in (*runs.given, runs.explanations) for note in explanations.notes]
    return tuple(dict.fromkeys([*filter(None, told), *runs.sample.notes, *given]))


def _on_equal(crossed: CrossedRuns) -> str:
    if not (crossed.pairs == 1).all() or crossed.runs.n == 1:
        return ""
    if crossed.runs.distinct == 1:
        return "every run gave every row one and the same explanation, which repeats itself whatever the rows are"
    return "every run gave each row the same explanation: either nothing is random, or the seed does not reach it"


def _on_granularity(runs: Runs) -> str:
    """A note if importances are real numbers, nearly all different: then no two runs say quite the same."""
    raw = runs.explanations
    real = isinstance(raw, Importances) and not raw.form and raw.values.dtype.kind == "f"
    if not real or runs.distinct < _NEARLY_ALL * runs.codes.size:
        return ""
    return "importances are real numbers that nearly all differ: name what people read, such as fs.SignOfTop(5)"


def _on_two(runs: Runs) -> str:
    if len(runs.names) > 2:
        return ""
    return "of 2 runs nothing is known about others: the interval is for further rows that these two explain"


def _on_differing(crossed: CrossedRuns) -> str:
    if not crossed.differing:
        return ""
    names, (first, second) = crossed.runs.names, np.triu_indices(len(crossed.pairs), 1)
    shares = crossed.pairs[first, second]
    ends = [(names[first[pair]], names[second[pair]], shares[pair]) for pair in (shares.argmin(), shares.argmax())]
    low, high = (f"{a} and {b} agree on {share:.0%} of rows" for a, b, share in ends)
    return f"runs differ by more than rows explain: {low}, {high}"
