"""Clusters in an engine: rows are compared with rows of other clusters only, and whole clusters are left out.

Rows are grouped by explanation, label and cluster, these groups by explanation and cluster, and these by cluster; only
a line of sums per population comes back. The formulas are those of `faithscope.counting.clusters`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from faithscope.agreements import Agreement, Same
from faithscope.counting.clusters import ClusterTotals
from faithscope.counting.counts import Counts
from faithscope.counting.leave_out import Sums
from faithscope.counting.profile import Profile
from faithscope.measures.estimate import Estimate, to_estimate
from faithscope.measures.intervals.margins import Deviations, LeftOutDeviations, margins
from faithscope.measures.notes import size_notes
from faithscope.tables.engine.answers import fetch
from faithscope.tables.engine.expressions import literal
from faithscope.tables.engine.protocol import Expression, Table
from faithscope.tables.log.rows import CLUSTER, KeyedRows
from faithscope.tables.numbers.agreement_sums import VALUE, agreeing
from faithscope.tables.numbers.counted import CountedNumbers
from faithscope.tables.numbers.counts import one_text_per_rule
from faithscope.tables.numbers.populations import parts_of
from faithscope.tables.numbers.sums import SERIES, deviation_sums, deviations, flag, only, share, total
from faithscope.tables.sources.snapshot import refuse_change


@dataclass(frozen=True, eq=False)
class CountedClusters:
    """Clustered rows of one population.

    Attributes
    ----------
    counts : Counts or Profile
        The rows as they are, and what is known of their clusters.
    terms : Sums
        Of rows that are compared with rows of other clusters.
    left_out : LeftOutDeviations or None
        What the interval reads of values without each cluster; None if all rows are of one cluster.
    sizes_apart : float
        How many standard errors agreement by rows is from agreement by clusters.
    """

    counts: Counts | Profile
    terms: Sums
    left_out: LeftOutDeviations | None
    sizes_apart: float

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.counts.n

    def estimate(self, confidence: float) -> Estimate:
        """The estimate of consistency."""
        found = margins(self.left_out, self.counts.effective_n, confidence)
        notes = size_notes(self.sizes_apart)
        return to_estimate(self.counts, self.terms, found, "consistency", confidence, notes=notes)


def count_clusters(
    rows: KeyedRows, counted: Mapping[Any, Any], agreement: Agreement, by: Sequence[str] = ()
) -> dict[Any, CountedClusters]:
    """The clusters of each population, whose rows were counted as they are: `Counts`, `Profile` or `CountedNumbers`."""
    table, groups = one_text_per_rule(rows), [*by, *rows.keys]
    cells = met_strangers(table, agreement, groups)
    sums = parts_of(fetch(_population_sums(cells, by, rows.keys)), by)
    chance = parts_of(fetch(_chance(met_strangers(rows.table, agreement, by), by)), by)
    labels = met_strangers(_halves(table, by), Same(), groups) if agreement.of_numbers else cells
    apart = parts_of(fetch(_sizes_apart(labels, by, groups)), by)
    plain = {name: part.profile if isinstance(part, CountedNumbers) else part for name, part in counted.items()}
    return {
        name: _clusters(counts, _line(sums, name), _line(chance, name), _line(apart, name))
        for name, counts in plain.items()
    }


def _line(parts: Mapping[Any, Any], name: Any) -> dict[str, Any]:
    """The only line of a population; of no rows if the log no longer has it."""
    return parts[name].to_pylist()[0] if name in parts and parts[name].num_rows else {"n": 0}


def _clusters(
    counts: Counts | Profile, line: Mapping[str, Any], chance: Mapping[str, Any], apart: Mapping[str, Any]
) -> CountedClusters:
    for seen in (line, chance):
        refuse_change(counts.n, int(seen["n"] or 0))
    n, many, squares = float(line["n"]), int(line["clusters"]), float(line["squares"])
    several = many > 1
    agreed = min(1.0, float(chance["agreeing"]) / (n**2 - squares)) if several else None
    known = replace(counts, clusters=ClusterTotals(many, n**2 / squares, agreed))
    error = math.sqrt(apart.get("squares") or 0.0)
    sizes_apart = apart["sum"] / error if error > 1e-9 * n else 0.0
    terms, left_out = Sums(line["agreeing"], line["alone"], n), _left_out(line) if several else None
    return CountedClusters(known, terms, left_out, sizes_apart)


def _left_out(line: Mapping[str, Any]) -> LeftOutDeviations:
    many = float(line["clusters"])
    value, upper, ratio = (
        Deviations(many, *(line[f"{name}_{part}"] for part in Deviations._fields[1:])) for name in SERIES
    )
    heaviest = line["largest"] * line["n"] / line["squares"]
    return LeftOutDeviations(value, upper, ratio, line["checked"] / many, heaviest=float(heaviest))


def met_strangers(table: Table, agreement: Agreement, groups: Sequence[str]) -> Table:
    """Rows by group, prediction and cluster (`given`), and how much each agrees with rows of other clusters.

    Parameters
    ----------
    groups : sequence of str
        The columns whose values two rows must share to be compared.

    Returns
    -------
    Table
        The columns of the groups, `cluster`, the prediction, `given`, and per row `agreeing`.
    """
    if agreement.of_numbers:
        return _met_numbers(table, agreement, groups)
    cells = table.group_by([*groups, "label", CLUSTER]).aggregate(given=table.count().cast("float64"))
    return cells.mutate(agreeing=total(cells["given"], [*groups, "label"]) - cells["given"])


def _met_numbers(table: Table, agreement: Agreement, groups: Sequence[str]) -> Table:
    """The same of numbers: the agreement with all rows of the group less that with rows of the own cluster."""
    import ibis

    known = [*groups, VALUE]
    every = agreeing(table.select(*known), agreement, groups)
    own = agreeing(table.select(*known, CLUSTER), agreement, [*groups, CLUSTER])
    nobody = ibis.null(table[CLUSTER].type())
    lines = ibis.union(
        own.select(*known, CLUSTER, given=own["given"], own=own["agreeing"], every=literal(0.0), clustered=literal(1)),
        every.select(
            *known,
            **{CLUSTER: nobody},
            given=every["given"],
            own=literal(0.0),
            every=every["agreeing"],
            clustered=literal(0),
        ),
    )
    strangers = total(lines["every"], known) - lines["own"]
    lines = lines.mutate(agreeing=only(strangers > 0, strangers))  # not below 0 by rounding
    return lines.filter(lines["clustered"] == 1)


def _chance(cells: Table, by: Sequence[str]) -> Table:
    lines = cells.group_by(list(by)) if by else cells
    return lines.aggregate(n=cells["given"].sum(), agreeing=(cells["given"] * cells["agreeing"]).sum())


def stranger_parts(cells: Table, groups: Sequence[str]) -> Table:
    """One line per explanation and cluster: its `rows` and `agreeing` pairs, and those of the explanation.

    The explanation has `size` rows of `held` clusters, and `agreed` of its `strangers`, the ordered pairs of rows of
    different clusters, agree.
    """
    pairs = (cells["given"] * cells["agreeing"]).sum()
    parts = cells.group_by([*groups, CLUSTER]).aggregate(rows=cells["given"].sum(), agreeing=pairs)
    rows, everyone = parts["rows"], list(groups)
    parts = parts.mutate(
        size=total(rows, everyone),
        squares=total(rows * rows, everyone),
        held=total(flag(rows > 0), everyone),
        agreed=total(parts["agreeing"], everyone),
    )
    return parts.mutate(strangers=parts["size"] * parts["size"] - parts["squares"])


def _halves(table: Table, by: Sequence[str]) -> Table:
    """Rows with a number, labeled by whether it is above the mean of its population."""
    value = table[VALUE].cast("float64")
    return table.mutate(label=value > share(total(value, by), total(value * 0 + 1, by)))


def _sizes_apart(cells: Table, by: Sequence[str], groups: Sequence[str]) -> Table:
    """One line per population: what `Strangers.sizes_apart` sums, and the sum of its squares."""
    part = share(cells["given"], total(cells["given"], [*groups, CLUSTER]))
    cells = cells.mutate(part=part)
    cells = cells.mutate(even=cells["part"] * (total(cells["part"], [*groups, "label"]) - cells["part"]))
    agreeing = (cells["given"] * cells["agreeing"]).sum()
    parts = cells.group_by([*groups, CLUSTER]).aggregate(
        rows=cells["given"].sum(), agreeing=agreeing, even=cells["even"].sum()
    )
    rows = parts["rows"]
    sums = {name: parts[name].sum() for name in ("rows", "agreeing", "even")}
    each = parts.group_by(list(groups)).aggregate(**sums, squares=(rows * rows).sum(), held=parts.count())
    each = each.filter(each["held"] > 2)
    size, held = each["rows"], each["held"].cast("float64")
    by_rows = share(each["agreeing"], size * size - each["squares"])
    each = each.mutate(apart=size * (by_rows - share(each["even"], held * (held - 1))))
    lines = each.group_by(list(by)) if by else each
    return lines.aggregate(sum=each["apart"].sum(), squares=(each["apart"] * each["apart"]).sum())


def _population_sums(cells: Table, by: Sequence[str], keys: Sequence[str]) -> Table:
    """One line per population: the sums of M̂ and U, of clusters, and of values without each cluster."""
    parts = _without_cluster(stranger_parts(cells, [*by, *keys]))
    clusters = parts.group_by([*by, CLUSTER]).aggregate(
        **{name: parts[name].sum() for name in ("rows", "sum", "alone", "change", "silenced")}
    )
    clusters = deviations(_left_out_values(clusters, by), by)
    lines = clusters.group_by(list(by)) if by else clusters
    return lines.aggregate(
        n=clusters["rows"].sum(),
        clusters=clusters.count(),
        squares=(clusters["rows"] * clusters["rows"]).sum(),
        largest=clusters["rows"].max(),
        agreeing=clusters["sum"].sum(),
        alone=clusters["alone"].sum(),
        checked=(1 - clusters["silent"]).sum(),
        **deviation_sums(clusters),
    )


def _without_cluster(parts: Table) -> Table:
    """What each part adds to the sums of M̂ and U (`sum`, `alone`), and how these change without its cluster."""
    rows, size, held = parts["rows"], parts["size"], parts["held"]
    left = size - rows
    before = _term(held > 1, size, parts["agreed"], parts["strangers"])
    after = _term(held > 2, left, parts["agreed"] - 2 * parts["agreeing"], parts["strangers"] - 2 * rows * left)
    return parts.mutate(
        sum=share(before * rows, size),
        alone=only(held == 1, rows),
        change=after - before,
        silenced=only(held == 2, left) - only(held == 1, size),
    )


def _term(checked: Expression, size: Expression, agreeing: Expression, pairs: Expression) -> Expression:
    """What an explanation adds to the sum of M̂, ``N P / D``; 0 if its rows are of one cluster."""
    return only(checked, (size * share(agreeing, pairs)).coalesce(literal(0.0)))


def _left_out_values(clusters: Table, by: Sequence[str]) -> Table:
    """M̂, M̂ + U and M̂ / (1 - U) without each cluster, each of which counts once."""
    left = total(clusters["rows"], by) - clusters["rows"]
    value = share(total(clusters["sum"], by) + clusters["change"], left)
    silent = share(total(clusters["alone"], by) + clusters["silenced"], left)
    clusters = clusters.mutate(value=value, silent=silent, given=literal(1.0))
    checked = 1 - clusters["silent"]
    return clusters.mutate(
        upper=clusters["value"] + clusters["silent"],
        ratio=share(clusters["value"], checked).coalesce(literal(0.0)) * flag(checked > 0),
    )
