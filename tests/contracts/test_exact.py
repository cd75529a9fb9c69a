"""What every engine keeps exact: numbers of every type in rules, and words that hold whatever separates words."""

import itertools
import random
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import faithscope as fs
from contracts.test_engines import assert_same
from faithscope.tables.audit import audit
from faithscope.tables.log.writing import to_log
from laws.test_exact_columns import COLUMNS, conditions_on, rows_of
from tables import engines

ENGINES = pytest.mark.parametrize("engine", engines.NAMES)
NAMES = [name for name in COLUMNS if name not in ("uint", "small", "single", "date")]  # those that all engines have
PARTS = ["a", "b", "\x1f", '"', "\\", ",", ":", "\n", "é", "'", "2:"]
HOSTILE = ["".join(parts) for many in (1, 2, 3) for parts in itertools.product(PARTS[:3], repeat=many)] + PARTS


@ENGINES
def test_rules_on_columns_of_all_types_cover_the_same_rows_as_in_memory(engine):
    chosen, n = random.Random(4), 60
    cells = {name: [chosen.choice(rows_of(name)) for _ in range(n)] for name in NAMES}
    X = pa.table({name: pa.array(cells[name], COLUMNS[name][0]) for name in NAMES})
    pool = [condition for name in NAMES for condition in chosen.sample(conditions_on(name), 6)]
    rules = fs.Rules.from_conditions([chosen.sample(pool, 1 + row % 2) for row in range(n)], features=NAMES)
    labels = np.arange(n) % 3
    audited = audit(**engines.put(engine, "exact", to_log(rules, labels, X)), **settings_of(engine, "rules", "rule"))
    assert_same(audited.sufficiency, fs.sufficiency(rules, labels, X))


@ENGINES
def test_words_that_hold_separators_are_told_apart(engine):
    chosen, n = random.Random(5), 200
    documents = [sorted(set(chosen.sample(HOSTILE, 4))) for _ in range(n)]
    words = fs.Highlights([set(chosen.sample(document, row % 3)) for row, document in enumerate(documents)])
    labels = np.arange(n) % 2
    audited = audit(
        **engines.put(engine, "hostile", to_log(words, labels, documents)), **settings_of(engine, "words", "words")
    )
    assert audited.consistency.distinct == words.group()[1].size
    assert_same(audited.sufficiency, fs.sufficiency(words, labels, documents))


def settings_of(engine, kind, column):
    """A file says itself what it holds."""
    if engine == "duckdb":
        return {}
    return {"prediction": "prediction", "explanation": column, "kind": kind}


@ENGINES
def test_decimals_as_explanations_and_predictions_are_equal_by_value(engine):
    values = [Decimal(text) for text in ("0.3", "0.30", "0.31", "1", "1.0", "0.31")]
    table = pa.table({"key": pa.array(values, pa.decimal128(10, 2)), "y": pa.array(values[::-1], pa.decimal128(10, 2))})
    audited = audit(**engines.put(engine, "decimals", table), prediction="y", explanation="key", kind="keys")
    assert_same(audited.consistency, fs.consistency(values, values[::-1]))
