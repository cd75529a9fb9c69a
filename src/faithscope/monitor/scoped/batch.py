"""A batch of rows under scopes: rows of the same rule that lie in the same scopes count together, as a pattern."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.base import several
from faithscope.explanations.importances import Importances
from faithscope.explanations.rules import Rules
from faithscope.monitor.batch import Batch, Cells, cells_of, counted_batch, labels_alone
from faithscope.monitor.scoped.patterns import RowPatterns
from faithscope.monitor.scoped.scopes import Scopes, to_rules
from faithscope.runtime.memory import FEWER_ROWS, need
from faithscope.sample import Sample

Ints = NDArray[np.int64]


def to_sample(scopes: Scopes | None, explanations: Any, predictions: Any, X: Any, discretizer: Any) -> Sample:
    """The rows that are added: with X if there are scopes, and only then."""
    if scopes is None and X is not None:
        raise BadInput(
            "X= tells which rows lie in scopes, and this monitor has none: leave X away, or begin one with scopes=, of "
            "importances scopes=importances.to_rules(X_train, k, bins)."
        )
    refuse_discretizer(scopes, discretizer)
    if scopes is not None and X is None:
        raise BadInput("This monitor has scopes, and which rows lie in them depends on their features: pass X=.")
    with labels_alone():
        if scopes is None:
            return Sample.of(explanations, predictions)
        known = isinstance(explanations, Importances)
        return Sample.of(scopes.alike(explanations, X) if known else to_rules(explanations), predictions, X)


def refuse_discretizer(scopes: Scopes | None, discretizer: Any) -> None:
    """Raise if rules would be made coarser: then they are no longer the scopes."""
    if scopes is not None and discretizer is not None:
        raise BadInput(f"Scopes are rules as they are, so discretizer={discretizer!r} has no use: leave it away.")


def scoped_batch(
    sample: Sample, scopes: Scopes, days: Ints, groups: NDArray[Any] | None, *, apart: bool = False
) -> Batch:
    """The rows of a sample with their days and groups; `apart` leaves each row a cell of its own."""
    rules = sample.explanations
    assert isinstance(rules, Rules)
    need(3 * sample.n * len(scopes), f"{sample.n:,} rows by {len(scopes):,} scopes", FEWER_ROWS)
    own, inside = scopes.number(rules), scopes.inside(rules, sample.X, sample.n)
    patterns, codes, first = RowPatterns.of(own, inside)
    cells, names = cells_of(codes, len(first), sample, days, groups, apart=apart)
    notes = tuple(dict.fromkeys((*rules.notes, *sample.notes)))
    return pattern_batch(rules.take(first), patterns, scopes, cells, names, notes)


def pattern_batch(
    rules: Any, patterns: RowPatterns, scopes: Scopes, cells: Cells, names: Any, notes: tuple[str, ...]
) -> Batch:
    """A batch of patterns, whose rules are these."""
    scopes.refuse_overlap(patterns.inside)
    explanation, given = cells[0], cells[4]
    outside = ~patterns.inside[np.arange(len(patterns.own)), patterns.own]
    missed = int(given[outside[explanation]].sum())
    told = several(missed, "row is not covered by its", "rows are not covered by their") + " own explanation"
    batch = counted_batch(rules, cells, names, (*notes, *((told,) if missed else ())))
    return replace(batch, digests=patterns.digests(), patterns=patterns)
