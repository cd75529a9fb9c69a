"""What a batch of rows under scopes adds to a store: its pairs, what openers tell of scopes, and its patterns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.monitor.canonical import Digests
from faithscope.monitor.pairing import Cells, Pairs, pair
from faithscope.monitor.queries import fetch_lines, fetch_table, registered
from faithscope.monitor.schema import WHOLE
from faithscope.monitor.scoped.assigning import assign
from faithscope.monitor.scoped.patterns import RowPatterns
from faithscope.monitor.scoped.scopes import held_scopes

Ints = NDArray[np.int64]

_ALL = -1  # in place of a scope: all openers
_OPENERS = "SELECT grp, scope, sum(given)::BIGINT, sum(inside)::BIGINT FROM scoped_openers GROUP BY ALL"
_PATTERNS = "SELECT wanted.place, own, inside FROM wanted JOIN patterns USING (high, low) ORDER BY wanted.place"


def scoped_pairs(
    connection: Any,
    patterns: RowPatterns,
    pattern: Ints,
    cells: dict[str, Any],
    before: Cells,
    rng: np.random.Generator,
    *,
    grouped: bool,
) -> Pairs:
    """The rows paired once as a whole, and once more within their groups, by draws of their own."""
    scopes = held_scopes(connection)
    assert scopes is not None
    known: dict[int, Ints] = {}
    for group, scope, given, inside in fetch_lines(connection, _OPENERS):
        known.setdefault(group, np.zeros((2, len(scopes) + 1), np.int64))[:, scope] = given, inside

    def paired(groups: Any, here: NDArray[np.bool_], rng: np.random.Generator) -> Pairs:
        waiting, own = before.take(here), patterns.own[pattern]
        arrivals = Cells.of(own, np.zeros_like(own), cells["label"], cells["day"], cells["given"], groups)
        assigned, told = assign(arrivals, patterns.inside[pattern], waiting, known, scopes.classes, rng)
        known.update({group: known.get(group, 0) + openers for group, openers in told.items()})
        return pair(assigned, waiting, rng)

    pairs = paired(WHOLE, before.groups == WHOLE, rng)
    if grouped:
        pairs = pairs + paired(cells["grp"], before.groups != WHOLE, rng.spawn(1)[0])
    _replace_openers(connection, known)
    return pairs


def _replace_openers(connection: Any, known: dict[int, Ints]) -> None:
    """What openers have told of scopes, by group: in the last place of each table is what all openers are."""
    given, inside = np.concatenate(list(known.values()), axis=1)
    scopes = len(given) // len(known) - 1
    columns = {
        "grp": np.repeat(np.array(list(known), np.int32), scopes + 1),
        "scope": np.tile(np.append(np.arange(scopes), _ALL), len(known)),
        "given": given,
        "inside": inside,
    }
    connection.execute("DELETE FROM scoped_openers")
    with registered(connection, "telling", columns):
        connection.execute("INSERT INTO scoped_openers SELECT grp, scope, given, inside FROM telling")


def insert_patterns(connection: Any, digests: Digests, patterns: RowPatterns) -> None:
    """What patterns are of, unless it is known."""
    own, inside = patterns.own.astype(np.int32), patterns.texts
    columns = {"high": digests.high, "low": digests.low, "own": own, "inside": inside}
    with registered(connection, "telling", columns):
        connection.execute("INSERT INTO patterns SELECT * FROM telling ANTI JOIN patterns USING (high, low)")


def held_patterns(connection: Any, digests: Digests) -> RowPatterns | None:
    """Of what patterns are; None in a store without scopes."""
    scopes = held_scopes(connection)
    if scopes is None:
        return None
    columns = {"place": np.arange(len(digests.high)), "high": digests.high, "low": digests.low}
    with registered(connection, "wanted", columns):
        answer = fetch_table(connection, _PATTERNS)
    return RowPatterns.read(answer.column("own").to_numpy(), answer.column("inside").to_pylist(), len(scopes))
