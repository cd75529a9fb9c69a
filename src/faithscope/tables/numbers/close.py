"""Close and Tolerance in an engine: rows counted by the size of their explanation, with leave-one-out values."""

from collections.abc import Sequence
from typing import Any

from faithscope.agreements import Agreement
from faithscope.counting.profile import LabelPairs
from faithscope.tables.engine.answers import fetch
from faithscope.tables.engine.expressions import literal
from faithscope.tables.engine.protocol import Table
from faithscope.tables.numbers.agreement_sums import agreeing
from faithscope.tables.numbers.counted import CountedNumbers, SizeSums, read_power_sums
from faithscope.tables.numbers.populations import parts_of
from faithscope.tables.numbers.sums import (
    deviation_sums,
    deviations,
    flag,
    leave_out_change,
    newly_silent,
    only,
    power_sums,
    share,
    total,
)
from faithscope.tables.sources.snapshot import refuse_change


def count_close(
    table: Table, agreement: Agreement, by: Sequence[str], keys: Sequence[str]
) -> dict[Any, CountedNumbers]:
    """The rows of each population, all of them under None without columns that name populations."""
    sizes = parts_of(fetch(_by_size(table, agreement, by, keys)), by)
    pairs = parts_of(fetch(_pairs(table, agreement, by)), by)
    counted = {}
    for name, lines in sizes.items():
        sums = SizeSums.of(lines)
        line = pairs[name].to_pylist()[0] if name in pairs else {"n": 0}
        refuse_change(sums.n, int(line["n"]))
        known = LabelPairs(*(float(line[column] or 0) for column in ("agreeing", "spread", "by_row")))
        profile = sums.profile(agreement=agreement, label_pairs=known)
        counted[name] = CountedNumbers(profile, sums.left_out(), read_power_sums(lines))
    return counted


def _by_size(table: Table, agreement: Agreement, by: Sequence[str], keys: Sequence[str]) -> Table:
    """Sums by population and size of explanations."""
    groups = [*by, *keys]
    cells = agreeing(table, agreement, groups)
    cells = cells.mutate(size=total(cells["given"], groups), pairs=total(cells["given"] * cells["agreeing"], groups))
    values = deviations(_left_out(cells, by), by)
    return values.group_by([*by, "size"]).aggregate(
        rows=values["given"].sum(),
        pairs=(values["given"] * values["agreeing"]).sum(),
        **deviation_sums(values),
        **power_sums(values),
    )


def _left_out(cells: Table, by: Sequence[str]) -> Table:
    """M̂, M̂ + U and M̂ / (1 - U) without each row."""
    rows, size = cells["given"], cells["size"]
    cells = cells.mutate(
        n=total(rows, by),
        sum=total(share(rows * cells["agreeing"], size - 1).coalesce(literal(0.0)), by),
        alone=total(only(size == 1, rows), by),
        change=leave_out_change(cells),
    )
    left = cells["n"] - 1
    cells = cells.mutate(
        value=share(cells["sum"] + cells["change"], left),
        silent=share(cells["alone"] + newly_silent(cells["size"]), left),
    )
    checked = 1 - cells["silent"]
    return cells.mutate(
        upper=cells["value"] + cells["silent"],
        ratio=share(cells["value"], checked).coalesce(literal(0.0)) * flag(checked > 0),
    )


def _pairs(table: Table, agreement: Agreement, by: Sequence[str]) -> Table:
    """How much any two rows of a population agree, whatever their explanations: what `LabelPairs` holds."""
    cells = agreeing(table, agreement, by)
    rows = cells["given"]
    cells = cells.mutate(n=total(rows, by), all=total(rows * cells["agreeing"], by))
    mean = share(cells["all"], cells["n"] * (cells["n"] - 1)).coalesce(literal(0.0))
    cells = cells.mutate(mean=mean, off=cells["agreeing"] - mean * (cells["n"] - 1))
    rows = cells["given"]
    lines = cells.group_by(list(by)) if by else cells
    return lines.aggregate(
        n=rows.sum(),
        agreeing=(rows * cells["agreeing"]).sum(),
        spread=(rows * (cells["squares"] - cells["agreeing"] * cells["mean"])).sum(),
        by_row=(rows * cells["off"] * cells["off"]).sum(),
    )
