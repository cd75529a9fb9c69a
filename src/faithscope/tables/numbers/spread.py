"""Spread in an engine: one GROUP BY for the moments of explanations, and leave-one-out values of W, S and T."""

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from faithscope.agreements import Spread
from faithscope.counting.moments import SpreadParts
from faithscope.counting.profile import LabelPairs
from faithscope.errors import BadInput
from faithscope.tables.engine.answers import fetch
from faithscope.tables.engine.expressions import literal
from faithscope.tables.engine.protocol import Expression, Table
from faithscope.tables.numbers.counted import CountedConstant, CountedSpread, SizeSums, rows_by_size
from faithscope.tables.numbers.populations import parts_of
from faithscope.tables.numbers.sums import (
    deviation_sums,
    deviations,
    flag,
    leave_out_change,
    newly_silent,
    only,
    share,
    total,
)
from faithscope.tables.sources.snapshot import refuse_change

_TINY = 1e-60  # of the largest prediction: its square would underflow, which Postgres refuses
_NO_VARIANCE = 1e-12  # of the variance: what is left of it without a row that holds all of it, up to rounding


def count_spread(
    table: Table, columns: Sequence[str], by: Sequence[str], keys: Sequence[str], unit: float = 1.0
) -> dict[Any, CountedSpread | CountedConstant]:
    """The rows of each population, all of them under None without columns that name populations.

    Parameters
    ----------
    unit : float
        What predictions are divided by at first, if they are so large or small that their sum may not be a number.
    """
    if unit != 1:
        table = table.mutate(**{name: table[name] / literal(unit) for name in columns})
    wholes = {name: lines.to_pylist()[0] for name, lines in parts_of(fetch(_wholes(table, columns, by)), by).items()}
    if not by:
        _refuse_constant(wholes[None], columns, unit)
    sizes = parts_of(fetch(_by_size(table, columns, by, keys)), by)
    refuse_change(len(wholes), len(sizes))
    return {name: _counted(lines, wholes[name], columns, unit) for name, lines in sizes.items()}


def _counted(lines: Any, whole: dict[str, Any], columns: Sequence[str], unit: float) -> CountedSpread | CountedConstant:
    if _constant(whole, columns):
        size, rows = rows_by_size(lines)
        refuse_change(int(rows.sum()), int(whole["n"]))
        return CountedConstant(size, rows, tuple(unit * float(whole[f"low_{column}"]) for column in columns))
    sums = SizeSums.of(lines)
    refuse_change(sums.n, int(whole["n"]))
    n, square = float(sums.n), float(whole["square"])
    profile = sums.profile(agreement=Spread(), label_pairs=_label_pairs(n, whole, columns))
    within = profile.terms.agreeing
    silent = float(np.sum(lines.column("silent_square").to_numpy()))
    parts = SpreadParts(*(np.array([part]) for part in (within / n, silent / (n - 1), square / (n - 1))))
    least = float(np.min(lines.column("least_left").to_numpy(zero_copy_only=False))) if n > 2 else 0.0
    outlier = not least > _NO_VARIANCE * square / (n - 1)
    kurtosis = n * float(whole["fourth"]) / square**2
    return CountedSpread(sums, profile, parts, kurtosis, outlier, unit * float(whole["scale"]))


def _label_pairs(n: float, whole: dict[str, Any], columns: Sequence[str]) -> LabelPairs:
    """`LabelPairs.of_distances` from sums over rows."""
    square, fourth = float(whole["square"]), float(whole["fourth"])
    pairs = combinations_with_replacement(range(len(columns)), 2)
    products = sum((1 if a == b else 2) * float(whole[f"product_{a}_{b}"]) ** 2 for a, b in pairs)
    variance = square / (n - 1)
    spread = n * fourth / 2 + square**2 / 2 + products - n * square * variance
    return LabelPairs(-n * square / variance, spread / variance**2, float(whole["by_row"]) / variance**2)


def _constant(whole: dict[str, Any], columns: Sequence[str]) -> bool:
    """Whether all predictions are equal, as a single one is."""
    return all(whole[f"low_{column}"] == whole[f"high_{column}"] for column in columns)


def _refuse_constant(whole: dict[str, Any], columns: Sequence[str], unit: float) -> None:
    if whole["n"] < 2:
        raise BadInput("Spread needs at least 2 rows, since a single prediction has no variance; got 1.")
    if _constant(whole, columns):
        values = ", ".join(f"{unit * whole[f'low_{column}']:g}" for column in columns)
        raise BadInput(
            f"Predictions are all equal ({values}), so there is no variance to account for: measure "
            "agreement=fs.Close(eps) instead."
        )


def _centered(table: Table, columns: Sequence[str], by: Sequence[str]) -> Table:
    """Predictions about their mean, divided by the largest, with their square; `given` is 1, as rows are not merged."""
    table = table.mutate(given=literal(1.0))
    table = table.mutate(n=total(table["given"], by))
    for _ in range(2):  # the mean of large numbers is rounded; the second time they are small
        table = table.mutate(**{name: table[name] - total(table[name], by) / table["n"] for name in columns})
    largest = [table[name].abs() for name in columns]
    table = table.mutate(largest=_greatest(largest))
    table = table.mutate(scale=_most(table["largest"], by))
    table = table.mutate(**{name: _scaled(table[name], table["scale"]) for name in columns})
    return table.mutate(square=_dot([table[name] for name in columns], [table[name] for name in columns]))


def _scaled(value: Expression, scale: Expression) -> Expression:
    scaled = share(value, scale)
    return (scaled.abs() < literal(_TINY)).ifelse(literal(0.0), scaled)


def _about_explanation(table: Table, columns: Sequence[str], groups: Sequence[str]) -> Table:
    """The same with `size`, and predictions about the mean of their explanation as `own_…`.

    They are taken about the lowest first: then those of an explanation whose predictions are equal are 0 exactly, and
    others are not rounded, however large they are.
    """
    table = table.mutate(given=literal(1.0))
    table = table.mutate(size=total(table["given"], groups))
    lowest = {name: _least(table[name], groups) for name in columns}
    table = table.mutate(**{f"own_{name}": table[name] - lowest[name] for name in columns})
    return table.mutate(
        **{
            f"own_{name}": table[f"own_{name}"] - total(table[f"own_{name}"], groups) / table["size"]
            for name in columns
        }
    )


def _wholes(table: Table, columns: Sequence[str], by: Sequence[str]) -> Table:
    """Sums over each population, about its mean and in units of its largest deviation."""
    ends = {f"low_{name}": table[name] for name in columns}
    table = _centered(table.mutate(**ends), columns, by)
    table = table.mutate(all=total(table["square"], by))
    by_row = (table["n"] * table["square"] - table["all"]) / 2
    sums = {
        f"product_{i}_{j}": (table[columns[i]] * table[columns[j]]).sum()
        for i, j in combinations_with_replacement(range(len(columns)), 2)
    }
    sums |= {name: table[name].min() for name in ends}
    sums |= {f"high_{name}": table[f"low_{name}"].max() for name in columns}
    return (table.group_by(list(by)) if by else table).aggregate(
        n=table["given"].sum(),
        square=table["square"].sum(),
        fourth=(table["square"] * table["square"]).sum(),
        by_row=(by_row * by_row).sum(),
        scale=table["scale"].max(),
        **sums,
    )


def _by_size(table: Table, columns: Sequence[str], by: Sequence[str], keys: Sequence[str]) -> Table:
    """Sums by population and size of explanations."""
    groups = [*by, *keys]
    rows = _centered(_about_explanation(table, columns, groups), columns, by)
    own = [_scaled(rows[f"own_{name}"], rows["scale"]) for name in columns]
    rows = rows.mutate(own_square=_dot(own, own))
    rows = rows.mutate(
        within_square=total(rows["own_square"], groups),
        group_square=total(rows["square"], groups),
        **{f"group_{name}": total(rows[name], groups) for name in columns},
    )
    size = rows["size"]
    rows = rows.mutate(
        agreeing=(rows["within_square"] + size * rows["own_square"]) / 2,
        pairs=size * rows["within_square"],
        silent_square=only(size == 1, rows["square"]),
    )
    values_left = deviations(_left_out(rows, columns, by), by)
    return values_left.group_by([*by, "size"]).aggregate(
        rows=values_left["given"].sum(),
        pairs=values_left["agreeing"].sum(),
        silent_square=values_left["silent_square"].sum(),
        least_left=values_left["variance"].min(),
        **deviation_sums(values_left),
    )


def _left_out(rows: Table, columns: Sequence[str], by: Sequence[str]) -> Table:
    """The share explained, the same if silent rows were, and W / ((1 - U) T), without each row."""
    size, alone = rows["size"], flag(rows["size"] == 1)
    rows = rows.mutate(
        sum=total(share(rows["agreeing"], size - 1).coalesce(literal(0.0)), by),
        all=total(rows["square"], by),
        alone=total(alone, by),
        alone_square=total(rows["silent_square"], by),
        change=leave_out_change(rows),
        **{f"alone_{name}": total(rows[name] * alone, by) for name in columns},
    )
    n, size = rows["n"], rows["size"]
    rows = rows.mutate(
        within=share(rows["sum"] + rows["change"], n - 1),
        checked=1 - share(rows["alone"] + newly_silent(size), n - 1),
        variance=share(rows["all"] - share(rows["square"] * n, n - 1), n - 2),
        silent=share(_silent_about_mean(rows, columns), n - 2),
    )
    variance = rows["variance"]
    lost = share(rows["within"], variance)
    return rows.mutate(
        value=1 - lost - share(rows["silent"], variance),
        upper=1 - lost,
        ratio=share(lost, rows["checked"]).coalesce(literal(0.0)) * flag(rows["checked"] > 0),
    )


def _silent_about_mean(rows: Table, columns: Sequence[str]) -> Expression:
    """Squared distances of the rows that are silent without a row from the mean of all without it, ``-y / (n - 1)``."""
    own, pair = flag(rows["size"] == 1), flag(rows["size"] == 2)
    means = [-share(rows[name], rows["n"] - 1) for name in columns]
    sums = [rows[f"alone_{name}"] - own * rows[name] + pair * (rows[f"group_{name}"] - rows[name]) for name in columns]
    squares = rows["alone_square"] - own * rows["square"] + pair * (rows["group_square"] - rows["square"])
    many = rows["alone"] - own + pair
    distance = squares - 2 * _dot(sums, means) + many * _dot(means, means)
    return only(distance > 0, distance)


def _dot(a: Sequence[Expression], b: Sequence[Expression]) -> Expression:
    products = [x * y for x, y in zip(a, b, strict=True)]
    return sum(products[1:], products[0])


def _greatest(values: Sequence[Expression]) -> Expression:
    import ibis

    return ibis.greatest(*values) if len(values) > 1 else values[0]


def _most(value: Expression, by: Sequence[str]) -> Expression:
    import ibis

    return value.max().over(ibis.window(group_by=list(by)))


def _least(value: Expression, by: Sequence[str]) -> Expression:
    import ibis

    return value.min().over(ibis.window(group_by=list(by)))
