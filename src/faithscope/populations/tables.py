"""Draws of rows of features: every value of a draw is that of a training row, or of the row itself."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.distances.metrics import Gower
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.arrays import frame_column, is_frame, refuse_query, to_vector
from faithscope.inputs.columns import Rows
from faithscope.inputs.missing import missing_values
from faithscope.inputs.rebuilt import Rebuild, rebuilder
from faithscope.inputs.rows import take_rows
from faithscope.populations.base import FEWEST, Drawer, Draws, conditions_of, met, seeds_of, uniforms

_PAIRS = 2**20  # distances computed at once


@dataclass(frozen=True, eq=False)
class SourceRows:
    """Training rows, and after them the rows that are measured, as columns.

    Attributes
    ----------
    X_train, X : rows
        As the caller holds them.
    names : tuple of str
        The features, in the order of the training rows.
    columns : list of (train + n,) arrays
        The values of each feature.
    train : int
        Number of training rows.
    rebuild : callable
        From columns to rows as `X_train` holds them.
    """

    X_train: Any
    X: Any
    names: tuple[str, ...]
    columns: list[Array]
    train: int
    rebuild: Rebuild

    @classmethod
    def of(cls, X_train: Any, X: Any) -> "SourceRows":
        """Both, after checking that they have the same columns and at least one training row."""
        refuse_query(X_train, "X_train")
        learned, measured = Rows(X_train), Rows(X)
        names, own = learned.names, measured.names
        if not names or not len(learned):
            raise BadInput("X_train is empty: at least one training row is needed to draw from.")
        train, rows = ("a table with named columns" if each.named else "a plain array" for each in (learned, measured))
        if train != rows:
            raise BadInput(f"X_train is {train} and X is {rows}: pass both in the form that the model takes.")
        unlike = sorted(set(names) ^ set(own))
        if unlike or len(set(names)) < len(names) or len(own) != len(names):
            seen = f"only one of them has {unlike[0]!r}" if unlike else "some have the same name"
            raise BadInput(f"X_train and X must have the same columns, each with a name of its own; {seen}.")
        joined = []
        for column in learned.columns:
            first, second = column.values, measured.column(own.index(column.name)).values
            kinds = {first.dtype.kind, second.dtype.kind}
            if len(kinds) > 1 and not kinds <= set("iuf"):  # values of different kinds
                first, second = first.astype(object), second.astype(object)
            joined.append(np.concatenate([first, second]))
        return cls(X_train, X, names, joined, len(learned), rebuilder(learned, X_train))

    def places(self, rules: Rules) -> Ints:
        """The position of each feature of rules among these columns; -1 for a feature that rows do not have."""
        if not is_frame(self.X_train):
            return np.arange(len(rules.features))
        known = {name: place for place, name in enumerate(self.names)}
        return np.array([known.get(feature, -1) for feature in rules.features], np.int64)

    def rows(self, source: Ints) -> Any:
        """Rows as a model reads them, from the positions (m, d) of the rows that each value comes from."""
        drawn = [column[source[:, j]] for j, column in enumerate(self.columns)]
        if isinstance(self.X_train, np.ndarray) and self.X_train.ndim == 2 and self.X_train.dtype.kind in "biuf":
            return np.column_stack(drawn)
        rows = self.rebuild(drawn)
        for j in np.flatnonzero((source >= self.train).any(axis=0)).tolist() if is_frame(rows) else ():
            strange = missing_values(to_vector(frame_column(rows, j))) & ~missing_values(drawn[j])
            if strange.any():
                raise BadInput(
                    f"Column {self.names[j]!r} of X holds {drawn[j][strange].tolist()[0]!r}, which is none of the "
                    "categories that X_train declares for it: declare the same categories in both."
                )
        return rows


def from_training(rules: Rules, source: SourceRows, draws: int, seed: int, *, joint: bool) -> Drawer:
    """Draws from the columns of training rows: all features from one training row (`joint`), or each from its own.

    A value that breaks a condition is that of a training row that meets it. If no training row does and the condition
    asks for one value, as ``job == clerk`` does, a row that has the value keeps its own; else it has no draw.
    """
    width, train, places = len(source.names), source.train, source.places(rules)
    seeds = seeds_of(seed, source.X, lambda row: repr(rules.conjunction(row)))

    def draw(start: int, stop: int) -> Draws:
        chances = uniforms(seeds[start:stop], draws, width + 1)
        chosen = (chances[..., :1] if joint else chances[..., 1:]) * train
        values = np.broadcast_to(chosen.astype(np.int64), (stop - start, draws, width)).copy()
        possible = np.ones(stop - start, bool)
        having = conditions_of(rules, start, stop)
        for (condition, rows), meets in zip(having.items(), rules.holds(list(having), source.X_train), strict=True):
            choices = np.flatnonzero(meets)
            feature = places[condition.position] if condition.position >= 0 else 0
            if len(choices):
                known = values[rows, :, feature]
                other = choices[(chances[rows, :, 1 + feature] * len(choices)).astype(np.int64)]
                values[rows, :, feature] = np.where(meets[known], known, other) if joint else other
                continue
            own = np.zeros(len(rows), bool)
            if condition.among is not None and len(condition.among) == 1 and not condition.missing:
                own = next(iter(rules.holds([condition], take_rows(source.X, start + rows))))
            values[rows[own], :, feature] = train + start + rows[own, None]
            possible[rows[~own]] = False
        drawn = values[possible].reshape(-1, width)
        return Draws(source.rows(drawn), np.repeat(start + np.flatnonzero(possible), draws))

    return Drawer(np.full(len(rules), draws * max(FEWEST, width + 1)), draw)


def nearest_rows(rules: Rules, source: SourceRows, k: int) -> Drawer:
    """The k nearest of the training rows that each rule covers, with what it fixes as the row itself has it."""
    width, train, places = len(source.names), source.train, source.places(rules)
    names = source.names if is_frame(source.X_train) else None
    learned, measured = (Rows(rows, loose=True).measured(names) for rows in (source.X_train, source.X))
    gower = Gower.fit(learned)
    for j, (column, size) in enumerate(zip(measured, gower.ranges, strict=True)):
        if size is not None and column.dtype == object:
            raise BadInput(f"Column {j} holds numbers in X_train, and {column[0]!r} in X: convert one of them.")
    learned, measured = gower.read(learned), gower.read(measured)

    def draw(start: int, stop: int) -> Draws:
        having, codes = conditions_of(rules, start, stop), rules.codes[start:stop]
        masks = dict(zip(having, rules.holds(list(having), source.X_train), strict=True))
        near: list[Ints] = [np.empty(0, np.int64)] * (stop - start)
        for code in np.unique(codes).tolist():
            conditions = [masks[condition] for condition in rules.distinct[code]]
            covered = np.flatnonzero(np.logical_and.reduce([np.ones(train, bool), *conditions]))
            rows = np.flatnonzero(codes == code)
            step = max(1, _PAIRS // max(1, len(covered)))
            for part in np.split(rows, range(step, len(rows), step)) if len(covered) else ():
                mine = [column[start + part][:, None] for column in measured]
                distances = gower.between(mine, [column[covered][None, :] for column in learned])
                for row, line in zip(part.tolist(), distances, strict=True):
                    # The k smallest in order, without the first of those that are 0: it may be the row itself.
                    most, equal = min(k, len(line) - 1), int((line == 0).any())
                    close = np.flatnonzero(line <= np.partition(line, most)[most])
                    near[row] = covered[close[np.argsort(line[close], kind="stable")][equal : equal + k]]
        keeps = met(rules, having, take_rows(source.X, np.arange(start, stop)))
        own = np.zeros((stop - start, width), bool)
        for condition, rows in having.items():
            if condition.position >= 0:
                own[rows, places[condition.position]] = keeps[rows]
        of = np.repeat(np.arange(start, stop), [len(rows) for rows in near])
        drawn = np.where(own[of - start], train + of[:, None], np.concatenate(near)[:, None])
        return Draws(source.rows(drawn), of)

    return Drawer(np.full(len(rules), k * max(FEWEST, width)), draw)
