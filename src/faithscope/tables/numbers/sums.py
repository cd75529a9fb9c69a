"""Sums over populations and groups beside each row, and aggregates by group size, as expressions."""

from collections.abc import Sequence

from faithscope.measures.intervals.tight import POWERS
from faithscope.tables.engine.expressions import literal
from faithscope.tables.engine.protocol import Expression, Table

SERIES = ("value", "upper", "ratio")  # leave-one-out values whose deviations an interval reads


def total(value: Expression, groups: Sequence[str]) -> Expression:
    """The sum of a value over all rows of the group, beside each row; no columns for a group of all rows."""
    import ibis

    return value.sum().over(ibis.window(group_by=list(groups)))


def share(part: Expression, whole: Expression) -> Expression:
    """Part / whole; null if the whole is 0, which an engine may refuse to divide by."""
    return part / whole.nullif(literal(0.0))


def only(condition: Expression, value: Expression) -> Expression:
    """The value if a condition holds, else 0."""
    return condition.ifelse(value, literal(0.0))


def flag(condition: Expression) -> Expression:
    """1.0 if a condition holds, else 0.0."""
    return condition.ifelse(literal(1.0), literal(0.0))


def leave_out_change(table: Table) -> Expression:
    """What leaving out a row changes in the sum of M̂, from `size`, `pairs` and `agreeing` of its explanation.

    An explanation of N rows adds ``S / (N - 1)``; without the row, ``(S - 2 s) / (N - 2)``.
    """
    size, pairs = table["size"], table["pairs"]
    before = share(pairs, size - 1).coalesce(literal(0.0))
    return share(pairs - 2 * table["agreeing"], size - 2).coalesce(literal(0.0)) * flag(size > 2) - before


def newly_silent(size: Expression) -> Expression:
    """What leaving out a row of an explanation of N rows changes in the number of silent rows."""
    return flag(size == 2) - flag(size == 1)


def deviations(table: Table, by: Sequence[str]) -> Table:
    """Each of the series about its mean over the population, weighted by `given`."""
    rows = table["given"]
    means = {f"{name}_mean": share(total(rows * table[name], by), total(rows, by)) for name in SERIES}
    table = table.mutate(**means)
    return table.mutate(**{f"{name}_off": table[name] - table[f"{name}_mean"] for name in SERIES})


def deviation_sums(table: Table) -> dict[str, Expression]:
    """Aggregates of all series: the largest deviation, and the sums of its second, third and fourth powers."""
    sums: dict[str, Expression] = {}
    for name in SERIES:
        off = table[f"{name}_off"]
        squares = off * off
        sums |= {
            f"{name}_largest": off.abs().max(),
            f"{name}_second": (table["given"] * squares).sum(),
            f"{name}_third": (table["given"] * squares * off).sum(),
            f"{name}_fourth": (table["given"] * squares * squares).sum(),
        }
    return sums


def power_sums(table: Table) -> dict[str, Expression]:
    """Aggregates for the tight interval: powers of what explanations add to n·M̂, and of what is lost without a row."""
    size, rows = table["size"], table["given"]
    added = share(table["pairs"], size - 1).coalesce(literal(0.0))
    lost = literal(0.0) - table["change"]
    sums: dict[str, Expression] = {}
    weight, once = rows / size, rows * literal(1.0)
    for power in range(POWERS + 1):
        sums |= {f"added_{power}": weight.sum(), f"lost_{power}": once.sum()}
        weight, once = weight * added, once * lost
    return sums
