"""What every engine satisfies: the same counts and estimates as in memory, for every discretizer and measure.

The log is hostile: quotes, semicolons, blanks and reserved words in names, labels in Unicode, ties, and -0.0.
"""

import datetime
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import faithscope as fs
from faithscope.counting.counts import count
from faithscope.discretizers import discretize
from faithscope.errors import BadInput
from faithscope.explanations.keys import Plain
from faithscope.inputs.frames import frame
from faithscope.measures.comparing.populations import measure_groups
from faithscope.measures.consistency import measure_consistency
from faithscope.measures.counterexamples import counterexamples
from faithscope.measures.local import per_explanation
from faithscope.sample import Sample
from faithscope.tables.audit import audit
from faithscope.tables.log.writing import to_log
from faithscope.tables.scoped.encoding import encoding
from faithscope.tables.scoped.measures import scoped_measures
from tables import engines

ROWS = 240
FEATURES = ['a "quoted" b', "select", "semi;colon -- x", "Größe", "group by"]
LABEL, POPULATION, MOMENT = 'y"hat; DROP TABLE', "order", "when?"
DISCRETIZERS = [
    None,
    fs.Floor(1),
    fs.Floor(0),
    fs.Truncate(0),
    fs.Sign(),
    fs.Rank(),
    fs.SignOfTop(2),
    fs.SignOfTop(9),
    fs.TopFeatures(2),
    fs.TopFeatures(9),
    fs.ReasonCodes(2),
    fs.ReasonCodes(9),
    fs.ReasonCodes(2, against="ja", ordered=True),
    fs.Floor(0) | fs.ReasonCodes(3, ordered=True),
    fs.Floor(0) | fs.Rank(),
]
CHANGES = [None, fs.Delta(), fs.DeltaSign(), fs.Modified(), fs.Delta() | fs.Floor(0)]
ENGINES = pytest.mark.parametrize("engine", engines.NAMES)


def _values(rng):
    values = np.round(rng.normal(size=(ROWS, len(FEATURES))), 1)
    values[::5] = np.round(values[::5])  # ties
    values[::7, 1] = -0.0
    values[1::7, 1] = 0.0
    values[: ROWS // 2] = values[ROWS // 2 :]
    return values


RNG = np.random.default_rng(7)
VALUES = _values(RNG)
LABELS = RNG.choice(["ja", "nein", 'it\'s \\ "ü"', "ナ\n"], ROWS, p=[0.5, 0.3, 0.1, 0.1])
POPULATIONS = RNG.choice(["north", "sö'uth"], ROWS)
MOMENTS = [
    datetime.datetime(1969, 12, 28, 23) + datetime.timedelta(hours=int(h)) for h in RNG.integers(0, 24 * 30, ROWS)
]
INPUTS = pd.DataFrame(
    {
        "age": np.where(RNG.random(ROWS) < 0.1, np.nan, RNG.integers(20, 60, ROWS)),
        "select": RNG.choice(["clerk", "cook", "né'"], ROWS),
        'q";x': RNG.normal(size=ROWS),
        "whole": RNG.integers(0, 5, ROWS),
    }
)
GAPS = np.random.default_rng(8)
INPUTS["town"] = pd.Series(GAPS.choice(["missing", "o'x", None], ROWS), dtype=object)
INPUTS["when"] = pd.Series(
    [None if gap < 0.1 else datetime.datetime(2024, 3, 1, 0, 0, 0, int(50 * gap)) for gap in GAPS.random(ROWS)]
).astype("datetime64[us]")
INPUTS["utc"] = INPUTS["when"].dt.tz_localize("UTC")
NEAR = np.datetime64("2024-03-01T00:00:00.000025")
POOL = [
    [],
    [("age", "<=", 37.5)],
    [("age", ">", 30), ("select", "==", "né'")],
    [("select", "not in", ["cook"]), ('q";x', "<", 0.1)],
    [("age", "in", [None, 41.0]), ("whole", "between", (1, 3))],
    [("whole", "!=", 2), ("select", "in", ["unheard of", "clerk"])],
    [("age", "!=", None)],
    [("whole", "in", [])],
    [("age", "<= or missing", 37.5), ("town", "!=", "missing")],
    [("age", "between or missing", (25, 50)), ("town", "!= or missing", "o'x")],
    [("town", "==", None), ("whole", "<=", 3)],
    [("town", "in", ["missing", None])],
    [("when", "<=", NEAR)],
    [("when", ">= or missing", NEAR), ("whole", "!=", 1)],
    [("when", ">", NEAR + np.timedelta64(1, "ns")), ("town", "==", "missing")],
    [("when", "in", [None, NEAR, datetime.date(2024, 3, 1)])],
    [("when", "!=", NEAR)],
    [("utc", "<", pd.Timestamp(NEAR, tz="UTC").tz_convert("Asia/Tokyo"))],
    [("utc", "not in", [pd.Timestamp(NEAR, tz="UTC")])],
]
RULES = fs.Rules.from_conditions([POOL[i] for i in RNG.integers(0, len(POOL), ROWS)], features=list(INPUTS.columns))
DOCUMENTS = [sorted(set(RNG.choice(["a", "b", "né", "it's", "ü b"], 4))) for _ in range(ROWS)]
WORDS = fs.Highlights([set(RNG.choice(document, 2)) if i % 9 else set() for i, document in enumerate(DOCUMENTS)])
PROTOTYPES = fs.Prototypes([RNG.choice(6, 2).tolist() for _ in range(ROWS)])
KEYS = Plain([f"leaf {i}'" for i in RNG.integers(0, 9, ROWS)])


def _log(columns):
    more = {LABEL: pa.array(LABELS.tolist()), POPULATION: pa.array(POPULATIONS.tolist()), MOMENT: pa.array(MOMENTS)}
    return pa.table({**columns, **more})


def assert_same(estimate, expected):
    """Counts exactly, estimates to 1e-12."""
    assert (estimate.n, estimate.distinct) == (expected.n, expected.distinct)
    profile, wanted = estimate.counts.profile(), expected.counts.profile()
    assert _cells(profile) == _cells(wanted)
    assert (profile.modal, sorted(profile.label_rows)) == (wanted.modal, sorted(wanted.label_rows))
    for name in ("value", "low", "high", "unverifiable", "verified", "chance"):
        assert getattr(estimate, name) == pytest.approx(getattr(expected, name), abs=1e-12), name


def _cells(profile):
    cells = {}
    for *kind, rows in zip(profile.others, profile.agreeing, profile.pairs, profile.rows, strict=True):
        cells[tuple(map(int, kind))] = cells.get(tuple(map(int, kind)), 0) + int(rows)
    return cells


def assert_same_populations(populations, expected):
    assert list(populations.estimates) == list(expected.estimates)
    for name, estimate in populations.estimates.items():
        assert_same(estimate, expected.estimates[name])
    assert populations.differences().round(12).equals(expected.differences().round(12))


def by_group(explanations, labels, groups):
    return measure_groups(Sample.of(explanations, labels), groups, measure_consistency)


def assert_same_worst(audited, explanations, labels, k=5):
    counts = count(explanations, labels)
    expected = frame(per_explanation(counts, 0.95, k))
    worst = audited.table(k)
    for name in ("disagreeing_pairs", "n"):
        assert worst[name].tolist() == expected[name].tolist()
    every = frame(per_explanation(counts, 0.95))
    names = ["explanation", "n", "labels", "label", "purity", "purity_low", "consistency", "disagreeing_pairs"]
    lines = [table[names].sort_values(names).round(12).to_numpy().tolist() for table in (audited.table(None), every)]
    assert repr(lines[0]) == repr(lines[1])


def assert_contradicts(audited, explanations, labels):
    pairs = audited.counterexamples(4)
    worst = counterexamples(count(explanations, labels), Sample(explanations, np.asarray(labels)), k=4)
    assert pairs.disagreeing_pairs.tolist() == worst["disagreeing_pairs"].tolist()
    assert (pairs.prediction_a != pairs.prediction_b).all()
    described = {explanations.describe(row) for row in range(len(explanations))}
    assert set(pairs.explanation) <= described
    places = audited._counterexamples(4)
    assert (places.explanation == pairs.explanation).all()
    assert len(audited.X) > places[["row_a", "row_b"]].to_numpy().max()


@ENGINES
def test_importances_give_the_same_for_every_discretizer(engine):
    columns = {f"phi_{name}": pa.array(VALUES[:, j]) for j, name in enumerate(FEATURES)}
    log = engines.put(engine, "imp", _log(columns))
    importances = fs.Importances(VALUES, names=FEATURES)
    for discretizer in DISCRETIZERS:
        audited = audit(**log, prediction=LABEL, explanation="phi_*", discretizer=discretizer)
        coarse = discretize(importances, discretizer)
        assert_same(audited.consistency, fs.consistency(coarse, LABELS))
        assert audited.uniqueness == pytest.approx(fs.evaluate(LABELS, coarse, VALUES).uniqueness, abs=1e-12)
        assert audited.sufficiency is None
    assert_same_populations(audited.by(POPULATION), by_group(coarse, LABELS, POPULATIONS))
    assert_same_worst(audited, coarse, LABELS)
    assert_contradicts(audited, coarse, LABELS)
    proven = audit(**log, prediction=LABEL, explanation="phi_*", interval="mcdiarmid", discretizer=fs.Sign())
    assert_same(proven.consistency, fs.consistency(fs.Sign()(importances), LABELS, interval="mcdiarmid"))


@pytest.mark.parametrize(("engine", "width"), [("duckdb", 14), ("postgres", 14), ("duckdb", 33)])
def test_many_features_give_the_same(engine, width):
    rng = np.random.default_rng(width)
    values = np.tile(np.round(rng.normal(size=(ROWS // 4, width)), 1), (4, 1))
    values[::3, 3] = np.nan
    log = engines.put(engine, f"wide{width}", _log({f"phi_{j:02}": pa.array(values[:, j]) for j in range(width)}))
    for discretizer in (fs.Sign(), fs.SignOfTop(5), fs.Rank()):
        audited = audit(**log, prediction=LABEL, explanation="phi_*", discretizer=discretizer, nulls="key")
        known = np.nan_to_num(values, nan=1e9 if discretizer == fs.Rank() else 0.0)  # last, or smallest
        keys = np.column_stack([discretize(fs.Importances(known), discretizer).values, np.isnan(values[:, 3])])
        if discretizer == fs.Rank():
            keys = keys[:, :-1]  # a missing number has a rank like any other
        elif discretizer == fs.SignOfTop(5):
            keys[:, -1] = 0  # it is never among the largest
        assert_same(audited.consistency, fs.consistency(keys, LABELS))


def _tied(width):
    """Rows with ties, -0.0 and 0.0, a few explanations given often."""
    rng = np.random.default_rng(width)
    values = np.round(rng.normal(size=(ROWS // 8, width)), 1)
    values[::2] = np.round(values[::2])
    values[::3, ::5] = -0.0
    values[1::3, ::5] = 0.0
    return values[rng.integers(0, len(values), ROWS)]


@pytest.mark.parametrize("form", ["columns", "lists"])
@ENGINES
def test_any_number_of_features_gives_the_same(engine, form):
    width = 70
    values = _tied(width)
    columns = {f"phi_{j}": pa.array(values[:, j]) for j in range(width)}
    lists = {"phi": pa.array(values.tolist(), pa.list_(pa.float64()))}
    log = engines.put(engine, f"any_{form}", _log(columns if form == "columns" else lists))
    how = {**log, "prediction": LABEL, "explanation": "phi*"}
    names = [str(j) for j in range(width)] if form == "columns" else None
    importances = fs.Importances(values, names=names)
    weeks = [str(estimate) for estimate in pd.Series(MOMENTS).dt.to_period("W").dt.start_time]
    for discretizer in (fs.SignOfTop(5), fs.Rank(), fs.Floor(0) | fs.SignOfTop(3)):
        audited = audit(**how, discretizer=discretizer, by=POPULATION, time=MOMENT, every="1w")
        coarse = discretize(importances, discretizer)
        assert_same(audited.consistency, fs.consistency(coarse, LABELS))
        assert_same_populations(audited.populations, by_group(coarse, LABELS, POPULATIONS))
        assert_same_populations(audited.by(LABEL), by_group(coarse, LABELS, LABELS))
        expected = by_group(coarse, LABELS, weeks).estimates
        assert {str(start) for start in audited.windows.estimates} == set(expected)
        for start, estimate in audited.windows.estimates.items():
            assert_same(estimate, expected[str(start)])
        assert_same_worst(audited, coarse, LABELS)
        assert_contradicts(audited, coarse, LABELS)


@pytest.mark.parametrize("form", ["columns", "lists"])
def test_two_thousand_features_give_the_same(form):
    values = _tied(2000)
    columns = {f"phi_{j}": pa.array(values[:, j]) for j in range(2000)}
    lists = {"phi": pa.array(values.tolist(), pa.list_(pa.float64()))}
    log = engines.put("duckdb", f"most_{form}", _log(columns if form == "columns" else lists))
    for discretizer in (None, fs.Floor(0), fs.Sign(), fs.SignOfTop(5), fs.Rank()):
        audited = audit(**log, prediction=LABEL, explanation="phi*", discretizer=discretizer)
        assert_same(audited.consistency, fs.consistency(values, LABELS, discretizer=discretizer))


@pytest.mark.parametrize("form", ["columns", "lists"])
@pytest.mark.parametrize("width", [7, 110])
def test_missing_values_of_many_features_are_refused_dropped_or_a_value(width, form):
    values = _tied(width)
    values[::9, 2] = np.nan
    values[4, :] = np.nan  # all of a row
    columns = {f"phi_{j}": pa.array(values[:, j], from_pandas=j % 2 == 0) for j in range(width)}
    rows = [None if i == 4 else [None if x != x else x for x in row] for i, row in enumerate(values.tolist())]
    lists = {"phi": pa.array(rows, pa.list_(pa.float64()))}
    log = engines.put("duckdb", f"holes_{form}", _log(columns if form == "columns" else lists))
    how = {**log, "prediction": LABEL, "explanation": "phi*"}
    whole = ~np.isnan(values).any(axis=1)
    tops = ((fs.SignOfTop(width - 1), _signs), (fs.SignOfTop(2), _top_two), (fs.Rank(), _rank))
    codes = ((fs.ReasonCodes(2), _codes), (fs.ReasonCodes(width, ordered=True), _ordered_codes))
    for discretizer, brute in (*tops, *codes):
        second = "phi_2" if form == "columns" else "phi[2]"
        with pytest.raises(BadInput, match=re.escape(f"{second!r} in {np.isnan(values[:, 2]).sum()}")):
            audit(**how, discretizer=discretizer)
        dropped = audit(**how, discretizer=discretizer, nulls="drop").consistency
        assert_same(dropped, fs.consistency(values[whole], LABELS[whole], discretizer=discretizer))
        assert f"{(~whole).sum()} rows were dropped: values missing" in dropped.notes
        kept = audit(**how, discretizer=discretizer, nulls="key").consistency
        assert_same(kept, fs.consistency(Plain([brute(row) for row in values]), LABELS))


def _signs(row):
    """The signs of all but the smallest in size, None where a missing number is among them."""
    return _top(row, len(row) - 1)


def _ordered_codes(row, k=None):
    """The places of the k most negative, the earlier first; a missing number is None if there is room for it."""
    order = sorted((j for j in range(len(row)) if row[j] < 0), key=lambda j: (row[j], j))[:k]
    room = (len(row) if k is None else k) - len(order)
    missing = [j for j in range(len(row)) if row[j] != row[j]][:room]
    return tuple(None if j in missing else order.index(j) + 1 if j in order else 0 for j in range(len(row)))


def _codes(row):
    return tuple(place and 1 for place in _ordered_codes(row, 2))


def _top_two(row):
    return _top(row, 2)


@ENGINES
def test_codes_in_columns_and_in_joined_texts_give_the_same(engine):
    rng = np.random.default_rng(5)
    sets = [rng.choice(["R01", "it's", "né", "14"], rng.integers(0, 4), replace=False).tolist() for _ in range(ROWS)]
    cells = [[row[j] if j < len(row) else None for row in sets] for j in range(3)]
    numbers = pa.array([14.0 if "14" in row else None for row in sets])  # once more, in a column of floats
    columns = {f"code_{j}": pa.array(cell, pa.string()) for j, cell in enumerate(cells)} | {"code_3": numbers}
    texts = {"joined": pa.array([" | ".join(row[::-1]) for row in sets])}
    log = engines.put(engine, "codes", _log(columns | texts))
    codes = fs.Codes(sets)
    expected = fs.consistency(codes, LABELS)
    for names in ("code_*", "joined"):
        audited = audit(**log, prediction=LABEL, explanation=names, kind="codes")
        assert_same(audited.consistency, expected)
    assert_same_populations(audited.by(POPULATION), by_group(codes, LABELS, POPULATIONS))
    assert_same_worst(audited, codes, LABELS)
    assert_contradicts(audited, codes, LABELS)


@ENGINES
def test_a_list_column_and_many_labels_give_the_same(engine):
    labels = np.random.default_rng(1).integers(-3, 30, ROWS)
    table = _log({"phi": pa.array(VALUES.tolist(), pa.list_(pa.float64())), "n": pa.array(labels)})
    log = engines.put(engine, "lists", table)
    coarse = fs.Sign()(fs.Importances(VALUES))
    audited = audit(**log, prediction="n", explanation="phi", discretizer=fs.Sign(), by=[POPULATION, LABEL])
    assert_same(audited.consistency, fs.consistency(coarse, labels))
    pairs = [f"{a}|{b}" for a, b in zip(POPULATIONS, LABELS, strict=True)]
    expected = by_group(coarse, labels, pairs).estimates
    assert {"|".join(name): estimate.value for name, estimate in audited.populations.estimates.items()} == {
        name: pytest.approx(estimate.value, abs=1e-12) for name, estimate in expected.items()
    }


@ENGINES
def test_changes_of_counterfactuals_give_the_same(engine):
    rng = np.random.default_rng(2)
    old = pd.DataFrame({"x": np.round(rng.normal(size=ROWS), 1), "job": rng.choice(["a", "b'"], ROWS)})
    new = pd.DataFrame(
        {"x": np.where(rng.random(ROWS) < 0.5, old.x, old.x + 0.5), "job": rng.choice(["a", "b'"], ROWS)}
    )
    mixed, numbers = fs.Counterfactuals(new, old), fs.Counterfactuals(new[["x"]], old[["x"]])
    columns = {"cf_x": new.x, "cf_job": new.job, "original_x": old.x, "job": old.job}
    log = engines.put(engine, "cf", _log({name: pa.array(column.tolist()) for name, column in columns.items()}))
    for discretizer in CHANGES:
        given, wanted = (numbers, "cf_x") if isinstance(discretizer, type(CHANGES[-1])) else (mixed, "cf_*")
        audited = audit(**log, prediction=LABEL, explanation=[wanted], discretizer=discretizer)
        assert_same(audited.consistency, fs.consistency(given, LABELS, discretizer=discretizer))


@ENGINES
def test_keys_sets_and_rules_give_the_same(engine):
    for name, explanations in {"keys": KEYS, "protos": PROTOTYPES}.items():
        table = to_log(explanations, LABELS, INPUTS)
        log = engines.put(engine, name, table.replace_schema_metadata())
        column, kind = table.column_names[0], "prototypes" if name == "protos" else None
        audited = audit(**log, prediction="prediction", explanation=column, kind=kind)
        assert_same(audited.consistency, fs.consistency(explanations, LABELS))
        assert_contradicts(audited, explanations, LABELS)
        assert audited.sufficiency is None


@ENGINES
def test_rules_and_words_are_as_sufficient_as_in_memory(engine):
    for name, explanations, rows in (("rules", RULES, INPUTS), ("words", WORDS, DOCUMENTS)):
        table = to_log(explanations, LABELS, rows).append_column(POPULATION, pa.array(POPULATIONS.tolist()))
        log = engines.put(engine, name, table.replace_schema_metadata())
        audited = audit(**log, prediction="prediction", explanation=table.column_names[0], by=POPULATION)
        expected = fs.evaluate(LABELS, explanations, rows)
        assert_same(audited.consistency, expected.consistency)
        assert_same_populations(audited.populations, by_group(explanations, LABELS, POPULATIONS))
        assert_same(audited.sufficiency, expected.sufficiency)
        assert audited.sufficiency.notes == expected.sufficiency.notes
        assert_same_worst(audited, explanations, LABELS)
        blocks = scoped_measures(audited._measured, exact=0).sufficiency
        assert blocks.counts == expected.sufficiency.counts
        assert blocks.low <= blocks.value <= blocks.high


@ENGINES
def test_rules_and_words_are_as_necessary_as_in_memory(engine):
    for name, explanations, rows in (("rules", RULES, INPUTS), ("words", WORDS, DOCUMENTS)):
        table = to_log(explanations, LABELS, rows).replace_schema_metadata()
        log = engines.put(engine, f"necessary {name}", table)
        audited = audit(**log, prediction="prediction", explanation=table.column_names[0])
        expected = fs.necessity(explanations, LABELS, rows)
        blocks = scoped_measures(audited._measured, exact=0).necessity
        for measure in ("value", "unverifiable", "verified", "chance"):
            assert getattr(audited.necessity, measure) == pytest.approx(getattr(expected, measure), abs=1e-12)
            assert getattr(blocks, measure) == pytest.approx(getattr(expected, measure), abs=1e-12)
        for measure in ("low", "high", "verified_low", "verified_high"):
            assert getattr(audited.necessity, measure) == pytest.approx(getattr(expected, measure), abs=1e-12)
        assert audited.necessity.above_chance == expected.above_chance
        assert audited.necessity.notes == expected.notes
        assert blocks.low <= blocks.value <= blocks.high


@ENGINES
def test_rules_and_words_encode_as_in_memory(engine):
    for name, explanations, rows in (("rules_e", RULES, INPUTS), ("words_e", WORDS, DOCUMENTS)):
        table = to_log(explanations, LABELS, rows)
        log = engines.put(engine, name, table.replace_schema_metadata())
        audited = audit(**log, prediction="prediction", explanation=table.column_names[0])
        assert_encodes_alike(audited.encoding(), fs.encoding(explanations, LABELS, rows))
        blocks = encoding(audited._measured, exact=0)
        assert_encodes_alike(blocks, fs.encoding(explanations, LABELS, rows), interval=False)


@ENGINES
def test_numbers_encode_as_in_memory(engine):
    numbers = np.random.default_rng(3).normal(size=ROWS).round(2)
    table = to_log(RULES, numbers, INPUTS)
    log = engines.put(engine, "rules_n", table.replace_schema_metadata())
    how = {"prediction": "prediction", "explanation": table.column_names[0], "agreement": fs.Close(0.5)}
    assert_encodes_alike(audit(**log, **how).encoding(), fs.encoding(RULES, numbers, INPUTS, agreement=fs.Close(0.5)))


def assert_encodes_alike(audited, expected, interval=True):
    """The same numbers and the same table; `interval` is whether the same rows were left out."""
    names = ("value", "unverifiable", "alone", "exclusive", "n", "distinct", "tested", "flagged")
    for name in (*names, *(("low", "high", "encodes") if interval else ())):
        assert getattr(audited, name) == pytest.approx(getattr(expected, name), abs=1e-9), name
    ours, theirs = audited.table(), expected.table()
    assert set(ours.explanation) == set(theirs.explanation)
    ours, theirs = (table.sort_values("explanation").reset_index(drop=True) for table in (ours, theirs))
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)


@ENGINES
def test_windows_of_time_are_the_same(engine):
    log = engines.put(engine, "time", _log({"key": pa.array(KEYS.values.tolist())}))
    how = {"prediction": LABEL, "explanation": "key", "time": MOMENT}
    week = pd.Series(MOMENTS).dt.to_period("W").dt.start_time
    for every, starts in {
        "1w": week.tolist(),
        "6h": pd.Series(MOMENTS).dt.floor("6h").tolist(),
        "1mo": pd.Series(MOMENTS).dt.to_period("M").dt.start_time.tolist(),
    }.items():
        windows = audit(**log, **how, every=every).windows
        expected = by_group(KEYS, LABELS, [str(estimate) for estimate in starts]).estimates
        assert {str(start): estimate.value for start, estimate in windows.estimates.items()} == {
            start: pytest.approx(estimate.value, abs=1e-12) for start, estimate in expected.items()
        }
    assert windows.table().differ.tolist()[0] is False
    assert next(iter(windows.estimates)) not in windows.changes


@ENGINES
def test_missing_values_are_refused_dropped_or_a_value(engine):
    values, labels = VALUES[:60].copy(), LABELS[:60].astype(object)
    values[3, 0] = values[5, 0] = np.nan
    labels[[7, 8]] = None
    columns = {
        f"v{j}": pa.array([None if x != x and i == 3 else x for i, x in enumerate(values[:, j])]) for j in range(3)
    }
    log = engines.put(engine, "holes", pa.table({**columns, "y": pa.array(labels.tolist())}))
    how = {"prediction": "y", "explanation": "v*"}
    with pytest.raises(BadInput, match=r"2 of the used columns: 'y' in 2, 'v0' in 2 of 60 rows"):
        audit(**log, **how)
    whole = ~np.isnan(values[:, 0]) & np.array([label is not None for label in labels])
    present = np.where(labels == None, "missing", labels)  # noqa: E711
    for discretizer in (None, fs.Floor(0), fs.Truncate(0), fs.Sign()):
        dropped = audit(**log, **how, nulls="drop", discretizer=discretizer).consistency
        expected = fs.consistency(values[whole][:, :3], labels[whole], discretizer=discretizer)
        assert dropped.value == pytest.approx(expected.value, abs=1e-12)
        assert "4 rows were dropped: values missing" in dropped.notes
        kept = audit(**log, **how, nulls="key", discretizer=discretizer).consistency
        coarse = discretize(fs.Importances(np.nan_to_num(values[:, :3])), discretizer).values
        keys = [(*map(float, row), bool(hole)) for row, hole in zip(coarse, np.isnan(values[:, 0]), strict=True)]
        assert_same(kept, fs.consistency(Plain(keys), present))
    for discretizer, brute in ((fs.Rank(), _rank), (fs.SignOfTop(1), _top_one)):
        kept = audit(**log, **how, nulls="key", discretizer=discretizer).consistency
        assert_same(kept, fs.consistency(Plain([brute(row[:3]) for row in values]), present))


def _rank(row):
    return tuple(np.argsort(row, kind="stable").tolist())  # NaN last


def _top(row, k):
    """The signs of the k largest in size, the earlier first; a missing number is the smallest and has no sign."""
    order = sorted(range(len(row)), key=lambda j: (row[j] != row[j], 0 if row[j] != row[j] else -abs(row[j]), j))
    return tuple((None if x != x else float(np.sign(x))) if j in order[:k] else 0.0 for j, x in enumerate(row))


def _top_one(row):
    return _top(row, 1)


@pytest.mark.engine
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


def test_counts_of_parts_add_up_to_the_whole():
    log = engines.put("duckdb", "parts", _log({"key": pa.array(KEYS.values.tolist())}))
    audited = audit(**log, prediction=LABEL, explanation="key", by=POPULATION)
    n = sum(estimate.n for estimate in audited.populations.estimates.values())
    assert n == audited.consistency.n == count(KEYS, LABELS).n
