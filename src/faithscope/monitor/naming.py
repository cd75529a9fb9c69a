"""How explanations read, and the features that they name: kept of those that disagree, and of the most frequent."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.explanations.rules import Rules
from faithscope.monitor.queries import fetch_table, registered

_NAMED = 500  # explanations that a batch may name: of those that disagree, and of the most frequent ones
_LONGEST = 300  # characters of a name


def named_features(explanations: Explanations, place: int) -> tuple[str, ...]:
    """The features of which an explanation speaks: those of its conditions, or those that a discretizer left.

    Examples
    --------
    >>> named_features(Rules.parse(["age <= 37 and job == clerk"]), 0)
    ('age', 'job')
    """
    if isinstance(explanations, Rules):
        return tuple(dict.fromkeys(part.feature for part in explanations.distinct[explanations.codes[place]]))
    if isinstance(explanations, Importances) and explanations.form and explanations.shape is None:
        told = np.flatnonzero(explanations.values[place])
        return tuple(explanations._label(int(feature)).removeprefix("phi_") for feature in told)
    return ()


def insert_names(connection: Any, batch: Any) -> None:
    """Texts of explanations whose rows disagree, and of the most frequent ones, unless they have a name."""
    chosen = _without_name(connection, batch, _worth_naming(batch))
    if not len(chosen):
        return
    columns = {
        "high": batch.digests.high[chosen],
        "low": batch.digests.low[chosen],
        "name": [_writable(batch.describe(int(place))[:_LONGEST]) for place in chosen],
        "features": [json.dumps(batch.speaks_of(int(place))) for place in chosen],
    }
    with registered(connection, "telling", columns):
        connection.execute("INSERT INTO names SELECT * FROM telling")


def _without_name(connection: Any, batch: Any, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those that have no name yet: most explanations of a day came before."""
    columns = {"place": chosen, "high": batch.digests.high[chosen], "low": batch.digests.low[chosen]}
    with registered(connection, "worth", columns):
        answer = fetch_table(connection, "SELECT place FROM worth ANTI JOIN names USING (high, low) ORDER BY place")
    return np.asarray(answer.column("place").to_numpy(), np.int64)


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _worth_naming(batch: Any) -> NDArray[np.int64]:
    size = len(batch.digests.high)
    rows = np.bincount(batch.explanation, batch.given, size)
    cells = batch.explanation * len(batch.labels.values) + batch.label
    labelled = np.unique(cells)
    numbers = np.bincount(np.searchsorted(labelled, cells), batch.given)
    most = np.zeros(size)
    np.maximum.at(most, labelled // len(batch.labels.values), numbers)
    frequent = np.argsort(-rows, kind="stable")[: min(_NAMED, np.count_nonzero(rows))]
    odd = rows - most
    contradicted = np.argsort(-odd, kind="stable")[:_NAMED]
    return np.unique(np.concatenate([frequent, contradicted[odd[contradicted] > 0]]))
