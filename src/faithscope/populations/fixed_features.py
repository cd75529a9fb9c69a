"""What rules fix: per condition, the rows that have it, and the training rows whose value meets it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.conditions.condition import Condition
from faithscope.explanations.rules import Rules
from faithscope.inputs.rows import take_rows
from faithscope.populations.source_rows import SourceRows

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Fixed(NamedTuple):
    """One condition: the feature that it fixes, the rows that have it, and the training rows that meet it."""

    feature: int
    rows: Ints
    meets: Bools
    choices: Ints


@dataclass(frozen=True, eq=False)
class FixedFeatures:
    """The conditions of rules on rows `start` to `stop`, counted from 0.

    Attributes
    ----------
    rows : dict of Condition to (k,) array
        The rows that have each condition, among those from `start` on.
    """

    rules: Rules
    source: SourceRows
    start: int
    rows: dict[Any, Ints]

    @classmethod
    def of(cls, rules: Rules, source: SourceRows, start: int, stop: int) -> "FixedFeatures":
        """Of the rules of some rows."""
        codes = rules.codes[start:stop]
        order = np.argsort(codes, kind="stable")
        given, first = np.unique(codes[order], return_index=True)
        parts: dict[Any, list[Ints]] = {}
        for code, rows in zip(given.tolist(), np.split(order, first[1:]), strict=True):
            for condition in rules.distinct[code]:
                parts.setdefault(condition, []).append(rows)
        return cls(rules, source, start, {condition: np.concatenate(rows) for condition, rows in parts.items()})

    def __iter__(self) -> Iterator[Fixed]:
        """One after the other; a condition that nothing meets, training row or row itself, has no choices.

        If no training row meets the condition and it asks for one value, as ``job == clerk`` does, a row that has the
        value keeps its own.
        """
        conditions, places = list(self.rows), self.source.places(self.rules)
        for condition, meets in zip(conditions, self.rules.holds(conditions, self.source.X_train), strict=True):
            rows, choices = self.rows[condition], np.flatnonzero(meets)
            feature = int(places[condition.position]) if condition.position >= 0 else 0
            if not len(choices) and _asks_for_one_value(condition):
                yield from self._own(condition, feature, rows, meets)
            else:
                yield Fixed(feature, rows, meets, choices)

    def _own(self, condition: Condition, feature: int, rows: Ints, meets: Bools) -> Iterator[Fixed]:
        own = next(iter(self.rules.holds([condition], take_rows(self.source.X, self.start + rows))))
        for row in rows[own]:
            yield Fixed(feature, np.array([row]), meets, np.array([self.source.train + self.start + row]))
        if not own.all():
            yield Fixed(feature, rows[~own], meets, np.empty(0, np.int64))

    def met_by_own_row(self, many: int) -> Bools:
        """Which of so many rows meet all of their own conditions."""
        met = np.ones(many, bool)
        conditions = list(self.rows)
        own = take_rows(self.source.X, self.start + np.arange(many))
        for condition, holds in zip(conditions, self.rules.holds(conditions, own), strict=True):
            rows = self.rows[condition]
            met[rows] &= holds[rows]
        return met


def _asks_for_one_value(condition: Condition) -> bool:
    return condition.among is not None and len(condition.among) == 1 and not condition.missing
