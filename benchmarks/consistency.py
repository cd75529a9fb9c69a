"""How fast `consistency` is, as ratios measured in one run on one machine.

    python benchmarks/consistency.py            # a few minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/consistency.py --quick    # seconds, on small samples; nothing is judged

1. Against Quantus 0.6.0 ``Consistency`` with ``batch_size=n``.
2. Against the bare group-by of Polars (result materialised) and DuckDB (a table in memory; counts summed inside the
   database, so no result is transferred). Ours is the complete estimate, interval included. Explanations are many, few,
   or few with ten of fourteen features the same in every row.
3. Weights by label, and clusters of five rows, against plain rows;
   numbers, nearly all different, against the labels.
4. Import time beyond NumPy's.

Times are the best of a few runs in turns, so that a busy moment of the machine hits everybody.
"""

from functools import partial

import numpy as np
from numpy.random import default_rng

import faithscope as fs
from ratios import (
    FEATURES,
    Line,
    faster,
    import_seconds,
    in_fresh_process,
    is_missing,
    quantus_value,
    race,
    run,
    slower,
)

CONSTANT = "few, constant"
SPREADS = {"few": (0.02, 0.05), "many": (0.08, 0.15)}  # of φ: rounded to a decimal, 1 row in 12 or nearly all differ


SIZES = {  # rows that each part measures, in full and quickly
    "quantus": ((1_000, 10_000, 20_000), (500, 1_000, 2_000)),
    "group_by": (1_000_000, 100_000),
    "runs": (5, 2),
}


def importances(n, spread, discretized=False, seed=0):
    """Normal importances, wider from feature to feature, and one of three labels that depends on them."""
    values = default_rng(seed).standard_normal((n, FEATURES))
    labels = np.digitize(values.sum(axis=1), [-2.0, 2.0])
    values *= np.geomspace(*SPREADS[spread], FEATURES) * (10 if discretized else 1)
    return np.floor(values, out=values) if discretized else values, labels


def explained(n, case):
    """Discretized importances and labels: explanations are "few", "many" or `CONSTANT`.

    `CONSTANT`: four features of seven values among ten that are the same in every row; 2,401 explanations, two labels.
    """
    if case != CONSTANT:
        return importances(n, case, discretized=True)
    values = np.zeros((n, FEATURES))
    values[:, ::4] = default_rng(0).integers(0, 7, (n, len(range(0, FEATURES, 4))))
    return values, (values.sum(axis=1) > 12).astype(np.int64)


def against_quantus(sizes):
    if is_missing("quantus"):
        return
    import quantus

    asked = {"discretise_func": quantus.functions.discretise_func.sign, "abs": False, "normalise": False}
    metric = partial(quantus.Consistency, **asked, disable_warnings=True)
    signs = partial(fs.consistency, discretizer=fs.Sign())
    for n in sizes.quantus:
        sample = importances(n, "few")
        work = {"faithscope": lambda sample=sample: signs(*sample).value, "Quantus": quantus_value(metric, *sample)}
        best = race(work, min(3, sizes.runs))
        bar = 100 if n == 10_000 else None
        yield faster(f"faster than Quantus, n = {n:,}", best, at_least=bar)


def polars_cells(columns):
    import polars

    frame = polars.DataFrame(columns)
    return lambda: frame.group_by(list(columns)).len().height


def duckdb_cells(columns):
    import duckdb

    database = duckdb.connect()
    database.register("arrays", columns)
    database.execute("CREATE TABLE explained AS SELECT * FROM arrays")
    # The sum keeps the database from skipping the counts.
    grouped = "SELECT *, count(*) AS given FROM explained GROUP BY ALL"
    return lambda: database.execute(f"SELECT count(*), sum(given) FROM ({grouped})").fetchone()[0]


def against_group_by(sizes):
    known = {"polars": polars_cells, "duckdb": duckdb_cells}
    rivals = {name: rival for name, rival in known.items() if not is_missing(name)}
    for case in (*SPREADS, CONSTANT) if rivals else ():
        values, labels = explained(sizes.group_by, case)
        columns = {f"phi_{j}": values[:, j].copy() for j in range(FEATURES)} | {"y": labels}
        contestants = {"faithscope": lambda v=values, y=labels: len(fs.consistency(v, y).counts.given)}
        best = race(contestants | {name: build(columns) for name, build in rivals.items()}, sizes.runs)
        note = f"{fs.consistency(values, labels).distinct:,} explanations"
        for name in rivals:
            times = {who: best[who] for who in ("faithscope", name)}
            what = f"time over {name}, n = {sizes.group_by:,}, {case}"
            yield slower(what, times, at_most=1, note=note)


def timed(*given, **how):
    """Work whose answer is told by no other, so it gives 0: nothing is compared."""
    return lambda: 0.0 * fs.consistency(*given, **how).value


def against_plain_rows(sizes):
    n = sizes.group_by
    for spread in SPREADS:
        values, labels = importances(n, spread, discretized=True)
        numbers = labels + default_rng(1).standard_normal(n)
        work = {
            "the default": timed(values, labels),
            "weights by label": timed(values, labels, weights=np.where(labels == 1, 4.0, 1.0)),
            "clusters": timed(values, labels, clusters=np.arange(n) // 5),
            "Spread": timed(values, numbers, agreement=fs.Spread()),
            "Close": timed(values, numbers, agreement=fs.Close(0.5)),
            "Tolerance": timed(values, numbers, agreement=fs.Tolerance(0.5)),
        }
        best = race(work, sizes.runs)
        plain = best.pop("the default")
        for (name, seconds), bar in zip(best.items(), (None, None, 2, 4, 4), strict=True):
            what = f"time of {name} over the default, n = {n:,}, {spread}"
            yield slower(what, {name: seconds, "the default": plain}, at_most=bar)


def import_time(sizes):
    best = min(in_fresh_process(import_seconds, "faithscope") for _ in range(sizes.runs))
    yield Line("import faithscope, beyond numpy", best, "s", at_most=0.5)


if __name__ == "__main__":
    every = (against_quantus, against_group_by, against_plain_rows, import_time)
    run(__doc__, ("faithscope", "numpy", "quantus", "polars", "duckdb"), every, SIZES)
