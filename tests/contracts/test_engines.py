"""What every engine satisfies: a log gives what memory gives, whatever its explanations, discretizer and measure."""

import itertools
import random
import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import faithscope as fs
from faithscope.agreements import Same
from faithscope.counting.counts import count
from faithscope.discretizers import discretize
from faithscope.errors import BadInput
from faithscope.explanations.keys import Plain
from faithscope.inputs.frames import frame
from faithscope.measures.counterexamples import counterexamples
from faithscope.measures.local import per_explanation
from faithscope.sample import Sample
from faithscope.tables import source
from faithscope.tables.audit import audit
from faithscope.tables.connections import kept
from faithscope.tables.writing import to_log
from laws.test_exact_columns import COLUMNS, conditions_on, rows_of
from refused import refused
from tables import engines
from tables.logs import (
    CUSTOMER,
    CUSTOMERS,
    DISCRETIZERS,
    HALVES,
    INPUTS,
    KINDS,
    LABEL,
    LABELS,
    MANY_LABELS,
    MOMENT,
    MOMENTS,
    NUMBERS,
    POPULATION,
    POPULATIONS,
    ROWS,
    RULES,
    VALUES,
    WEIGHT,
    WEIGHTS,
    assert_same,
    assert_same_groups,
    table,
    tied,
)

FACTORS = {
    "agreement": [None, "close:0.3", "tolerance:0.3", "spread"],
    "clustered": [False, True],
    "weighted": [False, True],
    "nulls": ["error", "drop", "key"],
    "where": [None, f"\"{POPULATION}\" <> 'north'"],
    "interval": [None, "proven"],
    "within": ["populations", "crossed", "windows"],
    "engine": engines.NAMES,
}
WEEKS = np.array([str(week) for week in pd.Series(MOMENTS).dt.to_period("W").dt.start_time])


def can_meet(agreement, clustered, weighted, nulls, where, interval, within, engine):
    """What is refused is tested where it is refused."""
    if agreement == "spread" and (clustered or interval):
        return False
    return not ((clustered or weighted) and interval) and not (agreement and nulls == "key")


def covering():
    """Settings in which every pair of values occurs that can meet, greedily."""
    rows = {row: list(itertools.combinations(enumerate(row), 2)) for row in itertools.product(*FACTORS.values())}
    rows = {row: pairs for row, pairs in rows.items() if can_meet(*row)}
    missing = dict.fromkeys(pair for pairs in rows.values() for pair in pairs)
    while missing:
        (i, one), (j, other) = next(iter(missing))
        candidates = [row for row in rows if (row[i], row[j]) == (one, other)]
        yield (best := max(candidates, key=lambda row: sum(pair in missing for pair in rows[row])))
        for pair in rows[best]:
            missing.pop(pair, None)


# Every kind in DuckDB, by all of these settings in turn; the settings in other engines, of kinds in turn, but for JSON,
# whose moments are left to DuckDB.
SETTINGS = list(covering())
ELSEWHERE = [row for row in SETTINGS if row[-1] != "duckdb"]
ARRAY = [(kind, *row[:-1], "duckdb") for kind, row in zip(KINDS, itertools.cycle(SETTINGS), strict=False)]
ARRAY += zip([kind for kind in KINDS if not kind.startswith("JSON")], *zip(*ELSEWHERE, strict=True), strict=False)
ARRAY += [  # what explanations cover is counted in other ways
    ("rules", None, True, False, "error", None, None, "populations", "duckdb"),
    ("rules", None, False, True, "error", None, None, "populations", "duckdb"),
    ("words", "spread", False, False, "drop", None, None, "populations", "duckdb"),
    ("words", None, True, True, "error", None, None, "populations", "duckdb"),
    ("rules", None, False, False, "drop", FACTORS["where"][1], None, "crossed", "postgres"),
    ("words", None, False, True, "error", None, None, "windows", "spark"),
]
AT_ONCE = [*ARRAY[: len(KINDS)], *(next(row for row in ARRAY if row[-1] == engine) for engine in engines.NAMES[1:])]


@pytest.mark.parametrize(
    ("kind", *FACTORS), [pytest.param(*row, marks=[pytest.mark.thorough] * (row not in AT_ONCE)) for row in ARRAY]
)
def test_a_log_gives_what_memory_gives(kind, agreement, clustered, weighted, nulls, where, interval, within, engine):
    place = ARRAY.index((kind, agreement, clustered, weighted, nulls, where, interval, within, engine))
    explanations, columns, how, X = KINDS[kind]
    chosen = DISCRETIZERS.get(kind, [None])
    discretizer = chosen[place % len(chosen)]
    labels, customers = NUMBERS if agreement else [LABELS, MANY_LABELS][place % 2], CUSTOMERS
    silent, nobody = (np.arange(ROWS) % k == (0 if nulls != "error" else k) for k in (11, 13))
    given, owners = (np.where(holes, None, a) for holes, a in ((silent, labels), (nobody, customers)))
    log = engines.put(engine, "whole", table({**columns, WEIGHT: WEIGHTS}, given, owners))
    kept = (POPULATIONS != "north") | (where is None)
    if nulls == "drop":
        kept &= ~(silent | nobody & clustered)
    if nulls == "key":
        labels, customers = np.where(silent, "missing", labels.astype(str)), np.where(nobody, -1, customers)
    weights = WEIGHTS if weighted else None
    sample = Sample.of(explanations, labels, X, weights, agreement, customers if clustered else None)
    sample = sample.take(np.flatnonzero(kept))
    raw, labels, coarse = sample.explanations, labels[kept], sample.discretized(discretizer)
    how = {**how, "prediction": LABEL, "nulls": nulls}
    options = {"agreement": agreement, "interval": interval, "discretizer": discretizer}
    given = {"clusters": customers[kept] if clustered else None, "weights": sample.weights}
    expected = fs.consistency(raw, labels, **given, **options)
    columns_of = {"clusters": CUSTOMER if clustered else None, "weights": WEIGHT if weighted else None}
    declared = fs.Log(**log, **how, **columns_of).only(where)
    assert_same(replace(fs.consistency(declared, **options), notes=expected.notes), expected)
    asked = {"populations": {"by": POPULATION}, "crossed": {"by": [POPULATION, "half"]}}
    parts_of = asked.get(within, {"time": MOMENT, "every": "1w"})
    audited = audit(**log, **how, **columns_of, where=where, **options, **parts_of)
    assert_same(audited.consistency, expected)
    crossed = [f"{population}|{half}" for population, half in zip(POPULATIONS, HALVES, strict=True)]
    groups = np.array({"populations": POPULATIONS, "crossed": crossed, "windows": WEEKS}[within])[kept].tolist()
    parts = audited.windows if within == "windows" else audited.populations
    assert_same_groups(parts, coarse, groups, interval)
    if agreement is None and not weighted and "cf_x" not in columns:  # changes are written in other digits
        assert_same_worst(audited, coarse)
    if X is not None and interval is None:  # which is proven for consistency alone
        assert_same_scopes(audited, declared, sample)
        if within != "windows":
            assert_same_scopes_of_groups(audited, sample, groups)
    if agreement is None and not clustered and not weighted and nulls != "key":
        monitor = fs.Monitor(by=POPULATION)
        moments = pd.Series(MOMENTS)[kept].tolist()
        added = monitor.add(raw, labels, discretizer=discretizer, when=moments, by=POPULATIONS[kept])
        with pytest.warns(UserWarning, match="added before"):
            logged = monitor.add_log(**log, **how, where=where, discretizer=discretizer, by=POPULATION, when=MOMENT)
        assert (logged.batch, logged.rows, logged.counted) == (added.batch, len(labels), False)


def assert_same_worst(audited, sample):
    """The explanations that disagree most, and pairs of rows that do."""
    counts = count(sample.explanations, sample.labels)
    codes = counts.explanations.locate(sample.explanations)
    clustered = None if sample.clusters is None else (codes, sample)
    expected, worst = frame(per_explanation(counts, 0.95, 5, clustered)), audited.table(5)
    for name in ("disagreeing_pairs", "n"):
        assert worst[name].tolist() == expected[name].tolist()
    names = ["explanation", "n", "labels", "purity", "purity_low", "consistency", "disagreeing_pairs"]
    names += ["label"] * ("missing" not in sample.labels)  # which of the commonest comes first is another matter
    every = (audited.table(None), frame(per_explanation(counts, 0.95, None, clustered)))
    ours, theirs = (repr(lines[names].sort_values(names).round(12).to_numpy().tolist()) for lines in every)
    assert ours == theirs
    pairs = audited.counterexamples(4)
    assert len(pairs) == 4
    assert (pairs.prediction_a != pairs.prediction_b).all()
    assert set(pairs.explanation) <= {sample.explanations.describe(row) for row in range(sample.n)}
    if clustered:
        assert (pairs[f"{CUSTOMER}_a"] != pairs[f"{CUSTOMER}_b"]).all()
        return
    assert pairs.disagreeing_pairs.tolist() == counterexamples(counts, sample, k=4)["disagreeing_pairs"].tolist()
    places = audited._counterexamples(4)
    assert (places.explanation == pairs.explanation).all()
    assert len(audited.X) > places[["row_a", "row_b"]].to_numpy().max()


def assert_same_scopes(audited, declared, sample):
    """Sufficiency and necessity, of the rows that were fetched, and encoding."""
    given = (sample.explanations, sample.labels, sample.X)
    options = {"agreement": sample.agreement, "clusters": sample.clusters, "weights": sample.weights}
    plain = sample.clusters is None and sample.weights is None  # others are left out in blocks
    for measure in (fs.sufficiency, fs.necessity):
        ours = getattr(audited, measure.__name__)
        if measure is fs.necessity and sample.agreement == fs.Spread():
            assert ours is None
            continue
        theirs, told = measure(*given, **options), measure(declared, agreement=sample.agreement)
        for each in (ours, told):
            assert (each.value, each.unverifiable) == pytest.approx((theirs.value, theirs.unverifiable), abs=1e-9)
        if plain and (measure is fs.sufficiency or sample.agreement == Same()):
            assert_same(ours, theirs)
    if sample.agreement == Same():
        assert fs.encoding(declared).value == pytest.approx(fs.encoding(*given, **options).value, abs=1e-9)
        if plain:
            assert audited.sufficiency.counts == fs.sufficiency(*given).counts


def assert_same_scopes_of_groups(audited, sample, groups):
    """Sufficiency and necessity by population; intervals leave out blocks of rows."""
    given = (sample.explanations, sample.labels, sample.X)
    for measure in (fs.sufficiency, fs.necessity):
        parts = getattr(audited, f"{measure.__name__}_populations")
        if getattr(audited, measure.__name__) is None:
            assert parts is None
            continue
        options = {"clusters": sample.clusters, "weights": sample.weights, "agreement": sample.agreement}
        theirs = measure(*given, **options, by=groups)
        for ours, other in ((parts, theirs), (parts.among, theirs.among)):
            told = [
                sorted((each.n, each.value, each.unverifiable) for each in part.estimates.values())
                for part in (ours, other)
            ]
            assert np.allclose(*told, rtol=0, atol=1e-9)
        assert all(each.low <= each.value + each.unverifiable <= 1 for each in parts.estimates.values())


FURTHER = {  # those that speak of a label, and those that learn from one half of the rows
    "columns": [fs.ReasonCodes(2, against="ja", ordered=True)],
    "reasons": [fs.CommonPhrases(3), fs.Template() | fs.CommonPhrases(2)],
}


@engines.EACH
@pytest.mark.parametrize("kind", ["columns", "counterfactuals", "reasons"])
def test_every_discretizer_gives_what_it_gives_in_memory(engine, kind):
    explanations, columns, how, _ = KINDS[kind]
    log = engines.put(engine, "discretized", table(columns))
    for discretizer in DISCRETIZERS[kind] + FURTHER.get(kind, []):
        audited = audit(**log, prediction=LABEL, **how, discretizer=discretizer)
        expected = fs.consistency(explanations, LABELS, discretizer=discretizer)
        assert_same(audited.consistency, expected, unsaid=("reason codes are against label",))
        assert audited.sufficiency is None
        if kind == "columns":
            coarse = discretize(explanations, discretizer)
            assert audited.uniqueness == pytest.approx(fs.evaluate(LABELS, coarse, VALUES).uniqueness, abs=1e-12)


def test_two_thousand_features_give_the_same():
    values = tied(2000)
    log = engines.put("duckdb", "most", table({"phi": values.tolist()}))
    for discretizer in (None, fs.Floor(0), fs.Sign(), fs.SignOfTop(5), fs.Rank()):
        audited = audit(**log, prediction=LABEL, explanation="phi*", discretizer=discretizer)
        assert_same(audited.consistency, fs.consistency(values, LABELS, discretizer=discretizer))


def one_by_one(discretizer):
    """The key of a row whose numbers are discretized alone; a missing one is a value."""

    def key(row):
        values = discretize(fs.Importances(np.nan_to_num(row)[None]), discretizer).values[0]
        return tuple(None if x != x else float(value) for x, value in zip(row, values, strict=True))

    return key


@pytest.mark.parametrize(
    ("engine", "width", "form"),
    [
        ("duckdb", 7, "columns"),
        ("duckdb", 110, "lists"),
        pytest.param("postgres", 14, "columns", marks=pytest.mark.thorough),
        pytest.param("spark", 3, "columns", marks=pytest.mark.thorough),
    ],
)
def test_missing_values_are_refused_dropped_or_a_value(engine, width, form):
    values, labels = tied(width), LABELS.astype(object)
    values[::9, 2] = np.nan
    values[4] = np.nan  # all of a row
    labels[[7, 8]] = None
    rows = [[None if x != x and i % 2 else x for x in row] for i, row in enumerate(values.tolist())]
    lists = {"phi": [None if i == 4 else [None if x != x else x for x in row] for i, row in enumerate(rows)]}
    columns = {f"phi_{j}": [row[j] for row in rows] for j in range(width)}  # nulls and NaN
    log = engines.put(engine, "holes", table(columns if form == "columns" else lists, labels))
    how = {**log, "prediction": LABEL, "explanation": "phi*"}
    whole = ~np.isnan(values).any(axis=1) & (labels != None)  # noqa: E711
    alone, together = [None, fs.Floor(0), fs.Sign()], [fs.Truncate(0), fs.Rank(), fs.SignOfTop(2), fs.ReasonCodes(2)]
    second = "phi_2" if form == "columns" else "phi[2]"
    told = f"{re.escape(repr(LABEL))} in 2, .*{re.escape(repr(second))} in {np.isnan(values[:, 2]).sum()}"
    for discretizer in alone + together:
        refused(BadInput, told, audit, **how, discretizer=discretizer)
        dropped = audit(**how, discretizer=discretizer, nulls="drop").consistency
        assert_same(dropped, fs.consistency(values[whole], LABELS[whole], discretizer=discretizer))
        assert f"{(~whole).sum()} rows were dropped: values missing" in dropped.notes
        if discretizer in together:
            refused(
                BadInput,
                r'for which .* has no place: say nulls="drop"',
                audit,
                **how,
                discretizer=discretizer,
                nulls="key",
            )
            continue
        kept, key = audit(**how, discretizer=discretizer, nulls="key").consistency, one_by_one(discretizer)
        present = np.where(labels == None, "missing", labels)  # noqa: E711
        assert_same(kept, fs.consistency(Plain([key(row) for row in values]), present))


@engines.EACH
def test_lines_that_are_equal_travel_once_and_count_as_often_as_they_occur(engine, monkeypatch):
    values, travelled = tied(6), []
    labels = LABELS.astype(object)
    values[5, 1], labels[7] = np.nan, None
    columns = {f"phi_{j}": values[:, j] for j in range(6)}
    rows = pa.table({"row": np.arange(ROWS), LABEL: pa.array(labels.tolist()), "half": POPULATIONS, **columns})
    log = fs.Log(**engines.put(engine, "once", rows), prediction=LABEL, explanation="phi_*", nulls="drop")
    whole = ~np.isnan(values).any(axis=1) & (labels != None)  # noqa: E711
    monkeypatch.setattr(source, "kept", lambda lines, *to: kept((travelled.append(len(b)) or b for b in lines), *to))
    for where, chosen in ((None, whole), ("half = 'north'", whole & (POPULATIONS == "north"))):
        told = fs.consistency(log.only(where), discretizer="sign")
        expected = fs.consistency(values[chosen], labels[chosen], discretizer="sign")
        assert_same(told, expected, unsaid=("half = 'north'", "rows of the log"))
    coarse = Sample.of(fs.Importances(values[whole]), labels[whole]).discretized("sign")
    assert_same_groups(fs.consistency(log, discretizer="sign", by="half"), coarse, POPULATIONS[whole].tolist())
    if engine != "duckdb":
        signs = [*zip(*np.sign(values[:, :6] + 0.0).T, labels, strict=True)]
        assert travelled[0] == len({repr(line) for line in signs}) < ROWS / 2
    plain = fs.consistency(log)  # floats as they are
    assert_same(plain, fs.consistency(values[whole], labels[whole]), unsaid=("rows of the log",))
    infinite = rows.set_column(3, "phi_0", pa.array(np.where(np.arange(ROWS) == 9, -np.inf, values[:, 0])))
    log = fs.Log(**engines.put(engine, "endless", infinite), prediction=LABEL, explanation="phi_*", nulls="drop")
    refused(BadInput, "holds an infinite number in 1 rows", fs.consistency, log, discretizer="sign")


@pytest.mark.engine
def test_texts_that_a_collation_takes_for_equal_are_told_apart():
    server = engines.server()
    import psycopg

    keys, labels = ["Yes", "yes"] * 30, [int(j % 7 < 3) for j in range(60)]
    texts = pa.table({"key": keys, "y": labels})
    log = engines.put("postgres", "collated", texts)
    with psycopg.connect(server.owner, autocommit=True) as connection:
        connection.execute("CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
        connection.execute("ALTER TABLE collated ALTER COLUMN key TYPE text COLLATE blind")
    assert_same(fs.consistency(fs.Log(**log, prediction="y", explanation="key")), fs.consistency(keys, labels))


@pytest.mark.engine
@pytest.mark.thorough
def test_a_role_that_may_only_read_is_enough_and_nothing_is_left_behind():
    server = engines.server()
    import psycopg

    log = engines.put("postgres", "readonly", to_log(RULES, LABELS, INPUTS).replace_schema_metadata())
    with psycopg.connect(server.owner) as connection:
        before = connection.execute("SELECT count(*), max(oid::int8) FROM pg_class").fetchone()
    audited = audit(**log, prediction="prediction", explanation="rule")
    audited.table(3), audited.counterexamples(3), audited.by("select")
    with psycopg.connect(server.owner) as connection:
        assert connection.execute("SELECT count(*), max(oid::int8) FROM pg_class").fetchone() == before
    with psycopg.connect(server.url()) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("CREATE TEMP TABLE t (a int)")


SHARED = [name for name in COLUMNS if name not in ("uint", "small", "single", "date")]  # those that all engines have
PARTS = ["a", "b", "\x1f", '"', "\\", ",", ":", "\n", "é", "'", "2:"]
HOSTILE = ["".join(parts) for many in (1, 2, 3) for parts in itertools.product(PARTS[:3], repeat=many)] + PARTS


@engines.EACH
def test_rules_on_columns_of_all_types_cover_the_same_rows_as_in_memory(engine):
    chosen, n = random.Random(4), 60
    X = pa.table({name: pa.array(chosen.choices(rows_of(name), k=n), COLUMNS[name][0]) for name in SHARED})
    pool = [condition for name in SHARED for condition in chosen.sample(conditions_on(name), 6)]
    rules = fs.Rules.from_conditions([chosen.sample(pool, 1 + row % 2) for row in range(n)], features=SHARED)
    log = engines.put(engine, "exact", to_log(rules, np.arange(n) % 3, X).replace_schema_metadata())
    audited = audit(**log, prediction="prediction", explanation="rule", kind="rules")
    assert_same(audited.sufficiency, fs.sufficiency(rules, np.arange(n) % 3, X))


@engines.EACH
def test_words_that_hold_separators_are_told_apart(engine):
    chosen, n = random.Random(5), 200
    documents = [sorted(set(chosen.sample(HOSTILE, 4))) for _ in range(n)]
    words = fs.Highlights([set(chosen.sample(document, row % 3)) for row, document in enumerate(documents)])
    log = engines.put(engine, "hostile", to_log(words, np.arange(n) % 2, documents).replace_schema_metadata())
    audited = audit(**log, prediction="prediction", explanation="words", kind="words")
    assert audited.consistency.distinct == words.group()[1].size
    assert_same(audited.sufficiency, fs.sufficiency(words, np.arange(n) % 2, documents))


@engines.EACH
def test_decimals_as_explanations_and_predictions_are_equal_by_value(engine):
    values = [Decimal(text) for text in ("0.3", "0.30", "0.31", "1", "1.0", "0.31")]
    columns = {"key": pa.array(values, pa.decimal128(10, 2)), "y": pa.array(values[::-1], pa.decimal128(10, 2))}
    log = engines.put(engine, "decimals", pa.table(columns))
    audited = audit(**log, prediction="y", explanation="key", kind="keys")
    assert_same(audited.consistency, fs.consistency(values, values[::-1]))
