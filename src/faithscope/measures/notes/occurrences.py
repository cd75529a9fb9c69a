"""Notes on how often explanations occur: more pairs than independent rows can give mean that rows may repeat."""

import numpy as np

from faithscope.counting.profile import Counted
from faithscope.explanations.base import several
from faithscope.inputs.repeats import LARGEST, TOO_HIGH, odd_occurrence
from faithscope.relations import Same

_ADVICE = "pass clusters= if cases repeat, or other rows if the explainer was fitted on these or chose them"


def occurrence_notes(counts: Counted) -> tuple[str, ...]:
    """A note if no independent rows would be given explanations this often, whatever the explainer.

    Nothing is told of clustered rows, which need not be independent, nor of other relations than equality.

    Examples
    --------
    >>> from faithscope import count
    >>> occurrence_notes(count(range(100), [0] * 100))
    ()
    >>> occurrence_notes(count([*range(50)] * 2, [0] * 100))[0].partition(":")[0]
    '50 explanations were given to exactly 2 rows, 0 to 1 and 0 to 3'
    """
    if counts.clusters is not None or counts.relation != Same():
        return ()
    profile = counts.profile()
    size = np.minimum(profile.others + 1, LARGEST + 2)
    rows = np.bincount(size, profile.rows, minlength=LARGEST + 3)
    times = np.rint(rows / np.maximum(np.arange(len(rows)), 1)).astype(np.int64)
    k = odd_occurrence(times, profile.n)
    if k is None:
        return ()
    told = f"{several(int(times[k]), 'explanation was', 'explanations were')} given to exactly {k} rows"
    beside = f"{times[k - 1]:,} to {k - 1} and {times[k + 1]:,} to {k + 1}"
    unlike = f"independent rows and an explainer fixed beforehand do not give this, so that {TOO_HIGH}"
    return (f"{told}, {beside}: {unlike}; {_ADVICE}",)
