"""Further rows, without predictions: whether one of them lies under many explanations."""

from typing import Any

import numpy as np

from faithscope.counting.bits.bitmaps import in_blocks
from faithscope.counting.bits.layout import Layout
from faithscope.counting.tally import TABLE, Coverage
from faithscope.errors import NotProven
from faithscope.inputs.rows import rows_of
from faithscope.relations import Relation
from faithscope.sample import Sample


def reach_of(coverage: Coverage, sample: Sample, relation: Relation, further: Any) -> float:
    """How much the terms of the sample would lean on one of the further rows at most.

    A row that joined those that an explanation covers, c of them beside x, would have a share 1 / (c + 1) of x's term.
    """
    if not relation.reads_rows:
        raise NotProven(
            f"further= needs a relation that covers any row, and {relation} knows of these alone: leave it out."
        )
    counts, n = coverage.counts, rows_of(further)
    if not n:
        return 0.0
    covered, missed = counts.per_explanation, np.bincount(coverage.codes[~coverage.own], minlength=counts.distinct)
    given = np.bincount(coverage.codes, minlength=counts.distinct)
    leaning = (given - missed) / np.maximum(1, covered) + missed / (covered + 1)
    layout = Layout(np.zeros(n, np.int64), 1)
    covers = relation.cover(counts.explanations, sample.explanations, further)
    reach = np.zeros(64 * layout.width)
    for start, bits in in_blocks(covers, layout, counts.distinct, max(1, TABLE // n)):
        which, bit = layout.ones(bits)
        reach += np.bincount(bit, leaning[start + which], len(reach))
    return float(reach.max())
