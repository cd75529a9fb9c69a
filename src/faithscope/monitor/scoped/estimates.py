"""Sufficiency from the patterns of a store: of all rows ever, of a group, of each day."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counted import Coverage
from faithscope.measures.estimate import Estimate
from faithscope.measures.sufficiency import coverage_estimate
from faithscope.monitor.estimates import by_key
from faithscope.monitor.queries import fetch_lines, fetch_table
from faithscope.monitor.scoped.patterns import RowPatterns
from faithscope.monitor.scoped.scopes import Scopes
from faithscope.tables.scoped.patterns import Patterns, to_counts

Ints = NDArray[np.int64]

# In an order of their own, since that of an engine differs from run to run, and rounding of sums with it.
_CELLS = """
SELECT {keys} own, inside, label, sum(given)::BIGINT AS given FROM {cells} JOIN patterns USING (high, low)
GROUP BY ALL ORDER BY {keys} own, inside, label
"""


def sufficiency_estimates(
    connection: Any, scopes: Scopes, cells: str, keys: Sequence[str], confidence: float
) -> dict[tuple[Any, ...], Estimate]:
    """The sufficiency for each combination of keys among cells, which are a query in parentheses."""
    answer = fetch_table(connection, _CELLS.format(cells=cells, keys="".join(f"{key}, " for key in keys)))
    patterns = RowPatterns.read(answer.column("own").to_numpy(), answer.column("inside").to_pylist(), len(scopes))
    label, given = (answer.column(name).to_numpy().astype(np.int64) for name in ("label", "given"))
    names = [json.loads(text) for (text,) in fetch_lines(connection, "SELECT shown FROM labels ORDER BY code")]
    told = {}
    for key, places in by_key(answer, keys, np.arange(len(given))).items():
        part = RowPatterns(patterns.own[places], patterns.inside[places])
        coverage = scope_coverage(scopes, part, label[places], given[places], names)
        told[key] = coverage_estimate(coverage, "sufficiency", confidence)
    return told


def scope_coverage(scopes: Scopes, rows: RowPatterns, label: Ints, given: Ints, names: Sequence[Any]) -> Coverage:
    """Whom the scopes that rows were given cover, with every row left out once."""
    used, code = np.unique(rows.own, return_inverse=True)
    labels, number = np.unique(label, return_inverse=True)
    patterns = Patterns(rows.inside[:, used], [(place,) for place in range(len(used))], code, number, given)
    *tables, own = patterns.tables(len(labels))
    counts = to_counts(scopes.rules.take(used), [_hashable(names[place]) for place in labels], *tables)
    return Coverage(counts, code, own, (), patterns.left_out(counts, own))


def _hashable(name: Any) -> Any:
    return tuple(name) if isinstance(name, list) else name
