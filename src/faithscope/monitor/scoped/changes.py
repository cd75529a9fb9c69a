"""The sufficiency of each scope in the reference period, and since."""

import json
from typing import Any

import numpy as np

from faithscope.explanations.base import several
from faithscope.measures.scopes import agreement_of_scopes
from faithscope.monitor.compared import periods_of_cells
from faithscope.monitor.queries import fetch_lines, fetch_table, registered
from faithscope.monitor.scoped.estimates import scope_coverage
from faithscope.monitor.scoped.patterns import RowPatterns
from faithscope.monitor.scoped.scopes import Scopes

# Cells by rule in place of patterns, as if a rule's number were its digest.
CELLS_BY_RULE = """
(SELECT level, period, own::UBIGINT AS high, 0::UBIGINT AS low, label, sum(given)::BIGINT AS given
FROM cells JOIN patterns USING (high, low) GROUP BY ALL)
"""
_CELLS = """
SELECT later, own, inside, label, sum(given)::BIGINT AS given
FROM cells JOIN places USING (level, period) JOIN patterns USING (high, low)
GROUP BY ALL ORDER BY later, own, inside, label
"""
_MOST = 10  # rules that are told


def scoped_changes(connection: Any, scopes: Scopes, reference: int) -> tuple[str, ...]:
    """How sufficient each rule was in the reference period, and since; the largest changes of all rows first."""
    places = periods_of_cells(connection, reference)
    if places is None:
        return ()
    with registered(connection, "places", places):
        answer = fetch_table(connection, _CELLS)
    later = answer.column("later").to_numpy(zero_copy_only=False).astype(bool)
    rows, value = zip(*(_by_scope(connection, scopes, answer.filter(part)) for part in (~later, later)), strict=True)
    both = np.flatnonzero(~np.isnan(value[0]) & ~np.isnan(value[1]))
    if not len(both):
        return ("No rule can be checked in both periods, so its sufficiency cannot be compared.",)
    weight = (rows[0] / rows[0].sum() + rows[1] / rows[1].sum()) / 2
    order = both[np.argsort(-np.abs((value[1] - value[0]) * weight)[both], kind="stable")][:_MOST]
    return (
        "By rule, at a single look, the largest changes of all rows first; no test is made of them.",
        *(
            f"{scopes.rules.describe(int(place))}: sufficiency {value[0][place]:.3f} in the reference "
            f"({several(int(rows[0][place]), 'row', 'rows')}), {value[1][place]:.3f} since "
            f"({several(int(rows[1][place]), 'row', 'rows')})."
            for place in order
        ),
    )


def _by_scope(connection: Any, scopes: Scopes, answer: Any) -> tuple[Any, Any]:
    """Rows that were given each scope, and its sufficiency; NaN if it cannot be checked."""
    own = answer.column("own").to_numpy().astype(np.int64)
    patterns = RowPatterns.read(own, answer.column("inside").to_pylist(), len(scopes))
    label, given = (answer.column(name).to_numpy().astype(np.int64) for name in ("label", "given"))
    names = [json.loads(text) for (text,) in fetch_lines(connection, "SELECT shown FROM labels ORDER BY code")]
    counts = scope_coverage(scopes, patterns, label, given, names).counts
    value = np.full(len(scopes), np.nan)
    value[np.unique(own)] = agreement_of_scopes(counts)["sufficiency"]
    return np.bincount(own, given, len(scopes)).astype(np.int64), value
