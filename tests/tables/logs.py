"""A hostile log of every kind of explanation, in memory and as columns; what it is for an engine to give the same.

Quotes, semicolons, blanks and reserved words in names, labels in Unicode, ties, and -0.0.
"""

import datetime
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.agreements import Same
from faithscope.explanations.keys import Plain
from faithscope.measures.comparing.populations import Populations
from faithscope.measures.consistency import measure_by
from faithscope.tables.writing import to_log

ROWS = 240
FEATURES = ["Größe", 'a "quoted" b', "group by", "select", "semi;colon -- x"]
LABEL, POPULATION, MOMENT, CUSTOMER = 'y"hat; DROP TABLE', "order", "when?", "customer's"
RNG = default_rng(7)


def tied(width, rows=ROWS // 8):
    """Rows with ties, -0.0 and 0.0, a few explanations given often."""
    rng = default_rng(width)
    values = np.round(rng.normal(size=(rows, width)), 1)
    values[::2] = np.round(values[::2])
    values[::3, ::5] = -0.0
    values[1::3, ::5] = 0.0
    return values[rng.integers(0, rows, ROWS)]


VALUES = tied(len(FEATURES), ROWS // 2)
LABELS = RNG.choice(["ja", "nein", 'it\'s \\ "ü"', "ナ\n"], ROWS, p=[0.5, 0.3, 0.1, 0.1])
MANY_LABELS = np.array([f"label {label}" for label in RNG.integers(-3, 30, ROWS)])
NUMBERS = np.round(VALUES[:, 1] + 0.3 * RNG.normal(size=ROWS), 1)
POPULATIONS, HALVES = RNG.choice(["north", "sö'uth"], ROWS), np.arange(ROWS) % 2
CUSTOMERS = RNG.integers(0, 60, ROWS)
WEIGHT, WEIGHTS = "how much", default_rng(3).uniform(0.5, 2, ROWS).round(2)
WEIGHTS[1:4] = 0  # rows that do not count
MOMENTS = [
    datetime.datetime(1969, 12, 28, 23) + datetime.timedelta(hours=int(h)) for h in RNG.integers(0, 24 * 30, ROWS)
]
INPUTS = pd.DataFrame(
    {
        "age": np.where(RNG.random(ROWS) < 0.1, np.nan, RNG.integers(20, 60, ROWS)),
        "select": RNG.choice(["clerk", "cook", "né'"], ROWS),
        'q";x': RNG.normal(size=ROWS),
        "whole": RNG.integers(0, 5, ROWS),
        "town": pd.Series(RNG.choice(["missing", "o'x", None], ROWS), dtype=object),
        "when": pd.Series(
            [None if gap < 0.1 else datetime.datetime(2024, 3, 1, 0, 0, 0, int(50 * gap)) for gap in RNG.random(ROWS)]
        ).astype("datetime64[us]"),
    }
)
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
CODES = [RNG.choice(["R01", "it's", "né", "14"], RNG.integers(0, 4), replace=False).tolist() for _ in range(ROWS)]
OLD = pd.DataFrame({"x": np.round(RNG.normal(size=ROWS), 1), "job": RNG.choice(["a", "b'"], ROWS)})
NEW = OLD.assign(x=np.where(RNG.random(ROWS) < 0.5, OLD.x, OLD.x + 0.5), job=RNG.choice(["a", "b'"], ROWS))
CHANGED = {"cf_x": NEW.x, "cf_job": NEW.job.tolist(), "original_x": OLD.x, "job": OLD.job.tolist()}
TEXTS = ["He is old.", "he is  OLD", "She is young", "No: he runs", "", "yes he runs fast", "He sleeps, yes!", "?"]
WRITTEN, ABOUT = (RNG.choice(np.array(texts, object), ROWS).tolist() for texts in (TEXTS, ["a man runs", "an old dog"]))
CODEBOOK = {"old": "old", "run": r"\brun", "no": r"\bno\b", "never": "zzz"}
WIDE = tied(70)


def in_columns(values, names):
    return {f"phi_{name}": values[:, j] for j, name in enumerate(names)}


def as_json(without_zeros):
    rows = ({name: row[name] for name in RNG.permutation(FEATURES)} for row in map(dict, _named(VALUES)))
    return [json.dumps({name: value for name, value in row.items() if value or not without_zeros}) for row in rows]


def _named(values):
    return (zip(FEATURES, row, strict=True) for row in values.tolist())


def written(explanations, X):
    log = to_log(explanations, LABELS, X).drop_columns("prediction")
    return dict(zip(log.column_names, log.columns, strict=True))


# The explanations in memory, as columns of a log, how an audit is told of them, and the rows they speak of.
KINDS = {
    "columns": (fs.Importances(VALUES, FEATURES), in_columns(VALUES, FEATURES), {"explanation": "phi_*"}, None),
    "lists": (fs.Importances(VALUES), {"phi": VALUES.tolist()}, {"explanation": "phi"}, None),
    "wide": (
        fs.Importances(WIDE, [str(j) for j in range(70)]),
        in_columns(WIDE, range(70)),
        {"explanation": "phi_*"},
        None,
    ),
    "wide lists": (fs.Importances(WIDE), {"phi": WIDE.tolist()}, {"explanation": "phi"}, None),
    "JSON": (fs.Importances(VALUES, FEATURES), {"phi": as_json(False)}, {"explanation": "phi"}, None),
    "JSON without zeros": (fs.Importances(VALUES, FEATURES), {"phi": as_json(True)}, {"explanation": "phi"}, None),
    "JSON lists": (
        fs.Importances(VALUES),
        {"phi": list(map(json.dumps, VALUES.tolist()))},
        {"explanation": "phi"},
        None,
    ),
    "codes": (
        fs.Codes(CODES),
        {f"code_{j}": [row[j] if j < len(row) else None for row in CODES] for j in range(3)}
        | {"code_3": [14.0 if "14" in row else None for row in CODES]},  # once more, in a column of floats
        {"explanation": "code_*", "kind": "codes"},
        None,
    ),
    "joined codes": (
        fs.Codes(CODES),
        {"joined": [" | ".join(row[::-1]) for row in CODES]},
        {"explanation": "joined", "kind": "codes"},
        None,
    ),
    "counterfactuals": (fs.Counterfactuals(NEW, OLD), CHANGED, {"explanation": ["cf_*"]}, None),
    "changed numbers": (fs.Counterfactuals(NEW[["x"]], OLD[["x"]]), CHANGED, {"explanation": ["cf_x"]}, None),
    "keys": (Plain(keys := [f"leaf {i}'" for i in RNG.integers(0, 9, ROWS)]), {"k": keys}, {"explanation": "k"}, None),
    "prototypes": (
        fs.Prototypes(nearest := [RNG.choice(6, 2).tolist() for _ in range(ROWS)]),
        {"near": nearest},
        {"explanation": "near", "kind": "prototypes"},
        None,
    ),
    "reasons": (
        fs.Reasons(WRITTEN, ABOUT),
        {"why": WRITTEN, "about": ABOUT},
        {"explanation": "why", "kind": "reasons", "inputs": "about"},
        None,
    ),
    "rules": (RULES, written(RULES, INPUTS), {"explanation": "rule"}, INPUTS),
    "words": (WORDS, written(WORDS, DOCUMENTS), {"explanation": "words"}, DOCUMENTS),
}
IMPORTANCES = [
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
    fs.Floor(0) | fs.ReasonCodes(3, ordered=True),
    fs.Floor(0) | fs.Rank(),
    fs.Grouped({"both": FEATURES[:2]}),
    fs.Grouped({"both": FEATURES[1:3]}) | fs.SignOfTop(2),
    fs.TopRegions(2),
]
WIDELY = [fs.SignOfTop(5), fs.Rank(), fs.Floor(0) | fs.SignOfTop(3)]
DISCRETIZERS = {
    "columns": IMPORTANCES,
    "lists": [fs.Sign(), fs.SignOfTop(2), fs.Pool((1, 2), shape=(1, 5))],
    "wide": WIDELY,
    "wide lists": WIDELY,
    "JSON": [None, fs.SignOfTop(2)],
    "JSON without zeros": [fs.SignOfTop(2), None],
    "JSON lists": [None, fs.SignOfTop(2)],
    "counterfactuals": [None, fs.Delta(), fs.DeltaSign(), fs.Modified()],
    "changed numbers": [fs.Delta() | fs.Floor(0)],
    "reasons": [
        None,
        fs.Codebook(CODEBOOK),
        fs.Codebook(CODEBOOK, folded=False),
        fs.Phrases(["he runs", "old", "yes"]),
        fs.Template(),
        fs.Template() | fs.Codebook(CODEBOOK),
    ],
}


def table(columns, predictions=LABELS, customers=CUSTOMERS):
    """A log of these columns, with populations, moments and customers beside them."""
    more = {LABEL: list(predictions), POPULATION: POPULATIONS, "half": HALVES, MOMENT: MOMENTS, CUSTOMER: customers}
    return pa.table({name: pa.array(column) for name, column in {**columns, **more}.items()})


def assert_same_groups(populations, sample, groups, interval=None):
    """Populations or windows, by what memory measures in each group; groups are told by their names as texts."""
    expected = measure_by(sample, groups, method=interval)
    if isinstance(populations, Populations) and expected.among is not None:
        for estimate, wanted in zip(populations.estimates.values(), expected.estimates.values(), strict=True):
            ours, theirs = ({**each.to_dict(), "notes": None} for each in (estimate, wanted))
            assert (ours.pop("gap", None) or 0.0) == pytest.approx(theirs.pop("gap", None) or 0.0, rel=1e-9)
            assert ours == pytest.approx(theirs, abs=1e-9)
        ours, theirs = (
            [(pair.value, pair.low, pair.high) for pair in each._differences()] for each in (populations, expected)
        )
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs), abs=1e-9)
    populations, expected = populations.among or populations, expected.among or expected
    names = ["|".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in populations.estimates]
    assert names == list(expected.estimates)
    for estimate, wanted in zip(populations.estimates.values(), expected.estimates.values(), strict=True):
        assert_same(estimate, wanted, unsaid=("reasons are empty", "matches no reason", "of weight 0 left out"))


def assert_same(estimate, expected, unsaid=()):
    """Counts, facts and notes exactly; numbers to 1e-12, or to 1e-9 if predictions are numbers or rows clustered."""
    ours, theirs = estimate.to_dict(), expected.to_dict()
    # What importances speak of is told by their sums in memory, which an engine does not add up.
    left_out = ("repeat an earlier row", "dropped: values missing", "reason codes count against", *unsaid)
    notes = [
        {note for note in told.pop("notes") if not any(words in note for words in left_out)} for told in (ours, theirs)
    ]
    assert notes[0] == notes[1], notes[0] ^ notes[1]
    if expected.chance is not None and expected.chance > 1 - 1e-6:  # then rounding alone says what is beyond chance
        for name in ("adjusted", "above_chance"):
            ours.pop(name), theirs.pop(name)
    if expected.gap is not None:
        assert ours.pop("gap") ** 2 == pytest.approx(theirs.pop("gap") ** 2, rel=1e-9, abs=1e-12)
    counted = expected.agreement == Same() and expected.clusters is None and expected.counts.weight is None
    assert ours == pytest.approx(theirs, abs=1e-12 if counted else 1e-9)
    if counted and expected.measure != "necessity":
        profile, wanted = estimate.counts.profile(), expected.counts.profile()
        assert _cells(profile) == _cells(wanted)
        assert (profile.modal, sorted(profile.label_rows)) == (wanted.modal, sorted(wanted.label_rows))


def _cells(profile):
    cells = {}
    for *kind, rows in zip(profile.others, profile.agreeing, profile.pairs, profile.rows, strict=True):
        cells[tuple(map(int, kind))] = cells.get(tuple(map(int, kind)), 0) + int(rows)
    return cells
