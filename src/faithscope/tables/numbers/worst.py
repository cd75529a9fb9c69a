"""Where explanations of numbers fail: those whose rows disagree most, and the rows that are farthest apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Agreement, Spread, Tolerance
from faithscope.explanations.arrow.columns import to_objects
from faithscope.explanations.base import Explanations
from faithscope.explanations.distances.metrics import Gower, columns_of
from faithscope.inputs.checks import check_whole
from faithscope.measures.counterexamples import share_out
from faithscope.tables.engine.answers import fetch
from faithscope.tables.engine.expressions import literal
from faithscope.tables.engine.protocol import Expression, Table
from faithscope.tables.log.rows import CLUSTER, KeyedRows
from faithscope.tables.numbers.agreement_sums import agreeing
from faithscope.tables.numbers.counts import Numbers, one_text_per_rule
from faithscope.tables.numbers.sums import only, share, total

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def worst_numbers(rows: KeyedRows, numbers: Numbers, agreement: Agreement, k: int | None) -> dict[str, Any]:
    """The k explanations whose rows disagree most, or all: how their predictions spread.

    Returns
    -------
    dict of columns
        ``n`` rows, their ``mean``, ``spread`` (the standard deviation), ``lowest``, ``highest`` (of one output) and
        ``largest_gap``, ``consistency`` (the mean agreement of two rows; NaN for a single row), and ``disagreement``
        (``1 - K`` summed over pairs; for `Spread`, their squared distances).
    """
    ranked = ranked_explanations(rows, numbers, agreement)
    answer = fetch(ranked if k is None else ranked.limit(check_whole(k, "k")))

    def column(name: str) -> Floats:
        return np.asarray(answer.column(name).to_numpy(zero_copy_only=False), np.float64)

    size, apart = column("size"), column("disagreement")
    means = [column(f"mean_{name}") for name in numbers.columns]
    several = len(means) > 1
    ends = {} if several else {"lowest": column("low_y0"), "highest": column("high_y0")}
    pairs = size * (size - 1) / 2
    whole = 2 * sum(part.variance for part in numbers.ranges) if isinstance(agreement, Spread) else 1.0
    return {
        "explanation": _described(rows.read(answer)),
        "n": size.astype(np.int64),
        "mean": to_objects(list(zip(*(mean.tolist() for mean in means), strict=True))) if several else means[0],
        "spread": np.sqrt(np.divide(column("squares"), size - 1, out=np.full(len(size), np.nan), where=size > 1)),
        **ends,
        "largest_gap": column("gap"),
        "consistency": 1 - np.divide(apart, pairs, out=np.full(len(size), np.nan), where=pairs > 0) / whole,
        "disagreement": apart,
    }


def _described(explanations: Explanations) -> list[str]:
    return [explanations.describe(row) for row in range(len(explanations))]


def ranked_explanations(rows: KeyedRows, numbers: Numbers, agreement: Agreement) -> Table:
    """One line per explanation, most disagreement first, then most rows."""
    import ibis

    keys, columns = list(rows.keys), numbers.columns
    table = one_text_per_rule(rows).select(*keys, *columns)
    spread = isinstance(agreement, Spread)
    cells = table.mutate(given=literal(1.0), agreeing=literal(0.0)) if spread else agreeing(table, agreement, keys)
    cells = _about_mean(cells.mutate(size=total(cells["given"], keys)), numbers, keys)
    cells = _about_end(cells, columns, keys)
    lines = cells.group_by(keys).aggregate(
        size=cells["size"].max(),
        agreeing=(cells["given"] * cells["agreeing"]).sum(),
        squares=(cells["given"] * cells["square"]).sum(),
        gap=cells["from_end"].max() if len(columns) > 1 else cells["y0"].max() - cells["y0"].min(),
        **{f"mean_{name}": cells[f"mean_{name}"].max() for name in columns},
        **{f"low_{name}": cells[name].min() for name in columns},
        **{f"high_{name}": cells[name].max() for name in columns},
    )
    size = lines["size"]
    apart = size * lines["squares"] if spread else (size * (size - 1) - lines["agreeing"]) / 2
    lines = lines.mutate(disagreement=only((lines["gap"] > 0) & (apart > 0), apart))
    return lines.order_by([ibis.desc("disagreement"), ibis.desc("size"), *keys])


def _about_mean(cells: Table, numbers: Numbers, keys: Sequence[str]) -> Table:
    """The mean of each explanation, and the squared distance of each row from it."""
    middles = {name: literal(part.mean) for name, part in zip(numbers.columns, numbers.ranges, strict=True)}
    means = {
        f"mean_{name}": middle + share(total(cells["given"] * (cells[name] - middle), keys), cells["size"])
        for name, middle in middles.items()
    }
    cells = cells.mutate(**means)
    return cells.mutate(square=_squared([cells[name] - cells[f"mean_{name}"] for name in numbers.columns]))


def _about_end(cells: Table, columns: Sequence[str], keys: Sequence[str]) -> Table:
    """Of vectors, the distance of each row from the row of its explanation that is farthest from the mean."""
    import ibis

    if len(columns) == 1:
        return cells
    window = ibis.window(group_by=list(keys), order_by=[ibis.desc("square"), *columns])
    cells = cells.mutate(**{f"end_{name}": cells[name].first().over(window) for name in columns})
    return cells.mutate(from_end=_squared([cells[name] - cells[f"end_{name}"] for name in columns]).sqrt())


def _squared(differences: Sequence[Expression]) -> Expression:
    squares = [difference * difference for difference in differences]
    return sum(squares[1:], squares[0])


def rows_at_ends(rows: KeyedRows, numbers: Numbers, chosen: Table, some: int, columns: Sequence[str]) -> Any:
    """Some rows at both ends of the chosen explanations: lowest and highest, or farthest from the mean and from these.

    The Arrow table has the key columns, the predictions, and the columns that are asked for. If rows are clustered, it
    has clusters as text, and a row of each cluster is chosen before any cluster's second.
    """
    import ibis

    keys, clusters = list(rows.keys), [CLUSTER] if rows.clustered else []
    table = one_text_per_rule(rows).select(*keys, *numbers.columns, *columns, *clusters)
    table = table.semi_join(chosen, [table[key].identical_to(chosen[key]) for key in keys])
    if len(numbers.columns) > 1:
        cells = table.mutate(given=literal(1.0))
        cells = _about_mean(cells.mutate(size=total(cells["given"], keys)), numbers, keys)
        table = _about_end(cells, numbers.columns, keys)
    several = len(numbers.columns) > 1
    ties = [*(numbers.columns if several else ()), *columns]
    ends = (ibis.desc("square"), ibis.desc("from_end")) if several else (ibis.desc("y0"), ibis.asc("y0"))
    table = table.mutate(**{name: table[name].cast("string") for name in clusters})
    for place, end in zip(("place", "other"), ends, strict=True):
        window = ibis.window(group_by=[*keys, *clusters], order_by=[end, *ties])
        table = table.mutate(turn=ibis.row_number().over(window) if clusters else ibis.literal(0, "int64"))
        window = ibis.window(group_by=keys, order_by=["turn", end, *ties])
        table = table.mutate(**{place: ibis.row_number().over(window)})
    kept = table.filter((table["place"] < some) | (table["other"] < some))
    wanted = [*keys, *numbers.columns, *columns, *clusters]
    return fetch(kept.order_by(wanted).select(*wanted))


def farthest_rows(
    worst: Explanations,
    disagreement: Floats,
    examples: Explanations,
    values: Floats,
    compared: Any,
    clusters: Ints,
    k: int,
    how: Agreement,
) -> dict[str, Any]:
    """Up to k pairs of rows that are farthest apart: worst explanations first, each gives one before any a second.

    Parameters
    ----------
    worst, disagreement
        The explanations whose rows disagree, most first, and how much.
    examples, values : Explanations and (n,) or (n, k) array
        Rows at the ends of these.
    compared : pyarrow.Table or None
        The columns that say how near two rows are.
    clusters : (n,) array
        The cluster of each row by number: both rows of a pair are of different clusters.
    """
    codes = worst.locate(examples)
    pairs = [_pairs_apart(np.flatnonzero(codes == code), values, clusters, how) for code in range(len(worst))]
    quota = share_out(np.array([len(rows) for rows in pairs], np.int64), k)
    chosen = [rows[:wanted] for rows, wanted in zip(pairs, quota.tolist(), strict=True)]
    a, b = np.concatenate([np.empty((0, 2), np.int64), *chosen]).T
    which = np.repeat(np.arange(len(worst)), quota)
    return {
        "row_a": a,
        "row_b": b,
        "prediction_a": _shown(values[a]),
        "prediction_b": _shown(values[b]),
        "gap": _gap(values[a], values[b]),
        "distance": _distance(compared, a, b),
        "explanation": [worst.describe(int(code)) for code in which],
        "disagreement": disagreement[which],
    }


def _pairs_apart(rows: Ints, values: Floats, clusters: Ints, agreement: Agreement) -> Ints:
    """Pairs of these rows that disagree and are of different clusters, largest gap first."""
    a, b = (rows[side] for side in np.triu_indices(len(rows), 1))
    gaps = _gap(values[a], values[b])
    apart = gaps > (agreement.eps if isinstance(agreement, Tolerance) else 0.0)
    apart &= clusters[a] != clusters[b]
    order = np.lexsort((b[apart], a[apart], -gaps[apart]))
    return np.column_stack([a[apart], b[apart]])[order]


def _gap(a: Floats, b: Floats) -> Floats:
    apart = np.abs(a - b)
    return np.asarray(apart if apart.ndim == 1 else np.sqrt((apart**2).sum(axis=1)))


def _shown(values: Floats) -> NDArray[Any]:
    return values if values.ndim == 1 else to_objects([tuple(vector) for vector in values.tolist()])


def _distance(compared: Any, a: Ints, b: Ints) -> Floats:
    """Gower's distance of two rows; NaN if there are no columns to compare."""
    columns = [] if compared is None else columns_of(compared)
    if not columns or not len(a):
        return np.full(len(a), np.nan)
    metric = Gower.fit(columns)
    read = metric.read(columns)
    return np.asarray(metric.between([column[a] for column in read], [column[b] for column in read]))
