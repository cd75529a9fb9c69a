"""Every engine, type and extreme, in every part that a column may play in an audit: a right answer, or one sentence."""

from functools import cache

import ibis
import pytest

from faithscope.tables.audit import audit
from fuzz.engine_types import TYPES
from fuzz.outcomes import ENGINES, MORE, REFUSED, survives
from tables import engines

ROWS = 12
ODD = 5  # rows that hold the extreme
ROLES = {
    "prediction": {"prediction": "odd", "explanation": "leaf"},
    "explanation": {"prediction": "yhat", "explanation": "odd", "kind": "keys"},
    "importance": {"prediction": "yhat", "explanation": ["odd", "number"], "kind": "importances"},
    "by": {"prediction": "yhat", "explanation": "leaf", "by": "odd"},
    "time": {"prediction": "yhat", "explanation": "leaf", "time": "odd", "every": "1mo"},
    "id": {"prediction": "yhat", "explanation": "leaf", "id": "odd"},
    "clusters": {"prediction": "yhat", "explanation": "leaf", "clusters": "odd"},
    "shown": {"prediction": "yhat", "explanation": "leaf"},
}
IN_SPARK = ("explanation", "importance", "shown", "time")  # where a question takes a second
NOT_NUMBERS = ("NaN", "infinite", "minus infinite", "null")


def cases():
    """Every engine, type and extreme, in two parts of eight, which take turns; in DuckDB the others come later."""
    types = [(engine, kind, extreme) for engine in TYPES for kind, held in TYPES[engine].items() for extreme in held]
    for place, (engine, kind, extreme) in enumerate(types):
        timely = kind.startswith(("date", "time"))
        parts = [role for role in ROLES if engine != "spark" or (role in IN_SPARK and (role != "time" or timely))]
        first = parts if MORE > 1 else parts[place % min(4, len(parts)) :: 4]
        turns = [(first, pytest.mark.thorough)]
        if engine == "duckdb":
            turns = [(first, ()), ([role for role in parts if role not in first], pytest.mark.thorough)]
        for roles, marks in turns[: 1 if first == parts else 2]:
            yield pytest.param(engine, kind, extreme, roles, marks=marks, id=f"{engine}-{kind}-{extreme}-{roles[0]}")


duckdb = cache(ibis.duckdb.connect)


def log_of(engine, odd, usual):
    """A log of which ODD rows hold the extreme, and the rest a usual value."""
    columns = f"CASE WHEN i < {ODD} THEN {odd} ELSE {usual} END AS odd, i % 2 AS leaf, i % 3 AS yhat, i * 1.0 AS number"
    if engine == "duckdb":
        own = duckdb()
        own.raw_sql(f"CREATE OR REPLACE TABLE log AS SELECT {columns} FROM range({ROWS}) AS t(i)").fetchall()
        return {"table": own.table("log")}
    if engine == "postgres":
        return engines.run_postgres(
            "odd", f"CREATE TABLE odd AS SELECT {columns} FROM generate_series(0, {ROWS - 1}) i"
        )
    own = engines.spark()
    own.raw_sql(f"CREATE OR REPLACE TEMP VIEW odd AS SELECT {columns} FROM (SELECT id AS i FROM range({ROWS}))")
    return {"table": own.table("odd")}


def ask(log, role):
    audited = audit(**log, **ROLES[role])
    audited.to_dict(), audited.table(2)
    if role in ("id", "shown", "clusters"):
        assert len(audited.counterexamples(2)) == 2
    return audited


@pytest.mark.parametrize(("engine", "kind", "extreme", "roles"), list(cases()))
def test_a_column_of_any_type_gives_a_right_answer_or_one_sentence(engine, kind, extreme, roles):
    log = log_of(engine, *TYPES[engine][kind][extreme])
    for role in roles:
        audited = survives(f"columns in {engine}", f"{kind} as {role}", lambda role=role: ask(log, role))
        ENGINES[kind, extreme, engine][role] = audited is not REFUSED
        if audited is REFUSED:
            assert role != "shown", "what is only shown is never refused"
            continue
        dated = role == "clusters" and extreme in ("infinite", "minus infinite") and kind.startswith(("date", "time"))
        taken = role in ("shown", "id", "time") or dated  # clusters are told apart, and never read
        assert taken or extreme not in NOT_NUMBERS, "an engine that takes it for a number"
        assert audited.consistency.n == ROWS
        if role == "prediction":
            assert sorted(audited.consistency.counts.profile().label_rows) == [ODD, ROWS - ODD]
        elif role == "explanation":
            assert audited.consistency.distinct == 2
        elif role == "clusters":
            assert audited.consistency.clusters == 2
        elif role == "by":
            assert sorted(estimate.n for estimate in audited.populations.estimates.values()) == [ODD, ROWS - ODD]
        elif role == "time":
            assert [estimate.n for estimate in audited.windows.estimates.values()] in (
                [ODD, ROWS - ODD],
                [ROWS - ODD, ODD],
            )
