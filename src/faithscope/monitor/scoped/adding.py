"""What a batch of rows under scopes adds to a store: its pairs, what openers tell of scopes, and its patterns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.pairing import Pairs, ScopedArrivals, ScopedOpeners, Waiting, assign, pair
from faithscope.monitor.canonical import Digests
from faithscope.monitor.queries import fetch_lines, fetch_table, registered
from faithscope.monitor.schema import WHOLE
from faithscope.monitor.scoped.patterns import RowPatterns
from faithscope.monitor.scoped.scopes import Scopes, held_scopes

Ints = NDArray[np.int64]

_ALL = -1  # in place of a scope: all openers
_OPENERS = "SELECT grp, scope, sum(given)::BIGINT, sum(inside)::BIGINT FROM scoped_openers GROUP BY ALL"
_PATTERNS = "SELECT wanted.place, own, inside FROM wanted JOIN patterns USING (high, low) ORDER BY wanted.place"


def scoped_pairs(
    connection: Any,
    patterns: RowPatterns,
    pattern: Ints,
    cells: dict[str, Any],
    before: Waiting,
    rng: np.random.Generator,
    *,
    grouped: bool,
) -> Pairs:
    """The rows paired once as a whole, and once more within their groups, by draws of their own."""
    scopes = held_scopes(connection)
    assert scopes is not None
    known = _held_openers(connection, len(scopes))
    whole = np.full(len(pattern), WHOLE, np.int64)
    columns = (cells["label"].astype(np.int64), cells["day"].astype(np.int64), cells["given"], whole)
    arrivals = ScopedArrivals(patterns.own[pattern], patterns.inside[pattern], *columns)
    of_groups = before.groups != WHOLE
    pairs = _paired(arrivals, before.take(~of_groups), known, scopes, rng)
    if grouped:
        arrivals = ScopedArrivals(arrivals.own, arrivals.inside, *columns[:3], cells["grp"].astype(np.int64))
        pairs = pairs + _paired(arrivals, before.take(of_groups), known, scopes, rng.spawn(1)[0])
    _replace_openers(connection, known)
    return pairs


def _paired(
    arrivals: ScopedArrivals, before: Waiting, known: dict[int, ScopedOpeners], scopes: Scopes, rng: np.random.Generator
) -> Pairs:
    """The pairs; what their openers tell of scopes is added to what is known."""
    assigned, told = assign(arrivals, before, known, scopes.classes, rng)
    known |= {group: known[group] + openers if group in known else openers for group, openers in told.items()}
    return pair(assigned, before, rng)


def _held_openers(connection: Any, scopes: int) -> dict[int, ScopedOpeners]:
    """What openers have told of scopes, by group."""
    tables: dict[int, NDArray[np.int64]] = {}
    for group, scope, given, inside in fetch_lines(connection, _OPENERS):
        tables.setdefault(group, np.zeros((2, scopes + 1), np.int64))[:, scope] = given, inside
    return {
        group: ScopedOpeners(given[:-1], inside[:-1], int(given[_ALL])) for group, (given, inside) in tables.items()
    }


def _replace_openers(connection: Any, known: dict[int, ScopedOpeners]) -> None:
    groups = [group for group, openers in known.items() for _ in range(len(openers.given) + 1)]
    columns = {
        "grp": np.array(groups, np.int32),
        "scope": np.concatenate([np.append(np.arange(len(openers.given)), _ALL) for openers in known.values()]),
        "given": np.concatenate([np.append(openers.given, openers.total) for openers in known.values()]),
        "inside": np.concatenate([np.append(openers.inside, 0) for openers in known.values()]),
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
