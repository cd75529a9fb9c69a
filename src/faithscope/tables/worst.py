"""Where an explanation fails: the explanations with most disagreeing pairs, and pairs of rows that contradict them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from faithscope.counting.counts import Counts
from faithscope.inputs.checks import check_whole
from faithscope.measures.counterexamples import disagreeing_pairs
from faithscope.tables.counts import cells, counts_of_cells
from faithscope.tables.engine.calls import fetch, in_fixed_order
from faithscope.tables.log.kinds import Texts
from faithscope.tables.log.rows import Rows

_EXAMPLES = 50  # rows of each label of an explanation that are fetched to be shown


def _worst(rows: Rows, k: int) -> Any:
    """The keys of the k explanations with most disagreeing pairs of rows, then most rows, as an expression."""
    import ibis

    found = cells(rows)
    sums = found.group_by(list(rows.keys)).aggregate(
        rows=found["given"].sum().cast("int64"),
        same=(found["given"] * (found["given"] - 1)).sum().cast("int64"),
    )
    ranked = sums.mutate(disagreeing=sums["rows"] * (sums["rows"] - 1) - sums["same"])
    return ranked.order_by([ibis.desc("disagreeing"), ibis.desc("rows"), *rows.keys]).limit(check_whole(k, "k"))


def worst_keys(rows: Rows, k: int) -> Any:
    """The keys of the k worst explanations, as an Arrow table."""
    return fetch(_worst(rows, k).select(*rows.keys))


def worst_counts(rows: Rows, k: int | None) -> Counts:
    """Counts of the k worst explanations; of all without k, and of all rules, since two texts may be one rule."""
    found = cells(rows)
    if k is not None and not isinstance(rows.kind, Texts):
        chosen = _worst(rows, k)
        found = found.semi_join(chosen, [found[key].identical_to(chosen[key]) for key in rows.keys])
    found = in_fixed_order(fetch(found))
    given = found.column("given").to_numpy().astype(np.int64)
    return counts_of_cells(rows.read(found), found.column("label").to_pylist(), given)


def candidates(rows: Rows, k: int, columns: Sequence[str]) -> Any:
    """Some rows of each label of the k worst explanations: key columns, `label`, and the columns asked for."""
    import ibis

    table = rows.table
    if isinstance(rows.kind, Texts):
        chosen = table.filter(table["k0"].isin(_worst_texts(rows, k)))
    else:
        ranked = _worst(rows, k)
        chosen = table.semi_join(ranked, [table[key].identical_to(ranked[key]) for key in rows.keys])
    window = ibis.window(group_by=[*rows.keys, "label"], order_by=list(columns) or ["label"])
    numbered = chosen.mutate(number=ibis.row_number().over(window))
    order = [*rows.keys, "label", "number"]
    return fetch(numbered.filter(numbered["number"] < _EXAMPLES).order_by(order))


def _worst_texts(rows: Rows, k: int) -> list[str]:
    """The texts of the k worst rules, of which several may be one rule."""
    found = in_fixed_order(fetch(cells(rows)))
    explanations, texts = rows.read(found), found.column("k0").to_pylist()
    codes, _ = explanations.group()
    given = found.column("given").to_numpy().astype(np.int64)
    counts = counts_of_cells(explanations, found.column("label").to_pylist(), given)
    worst = set(np.argsort(-disagreeing_pairs(counts), kind="stable")[:k].tolist())
    return sorted({text for text, code in zip(texts, codes.tolist(), strict=True) if code in worst})
