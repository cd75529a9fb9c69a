"""Hostile input: every kind of value, column, table and setting that a caller might hand over by mistake."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from scipy import sparse

import faithscope as fs
from faithscope.explanations.keys import Plain, Records

TEXTS = (
    *("", "a", "b", " ", "\0", "a\0b", "😀", "\u202eright to left", "</script><script>alert(1)</script>"),
    *("x" * 5000, "\ud800", "two\nlines", "nan", "None", "'; DROP TABLE log; --", "{{7*7}}", "[bold]", "%s", "é"),
)
WHOLE = (0, 1, -1, 2, 7, True, False, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64, 10**400, np.int8(-1))
FRACTIONS = (
    *(0.0, -0.0, 0.5, -1.5, 1e308, -1e308, 5e-324, 1e-300, math.nan, math.inf, -math.inf),
    *(np.float16(0.1), np.float32(0.1), np.longdouble(1) / 3),
)
DATES = (
    *(datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)),
    *(datetime.timedelta(1), datetime.time(1), np.datetime64("2026-01-01"), np.datetime64("NaT")),
    *(np.timedelta64(1, "D"), pd.Timestamp("2026-01-01 00:00:00.000000001"), pd.Period("2026-01"), pd.Interval(0, 1)),
)
ODD = (
    *(None, pd.NA, pd.NaT, Decimal("0.1"), Decimal("NaN"), Decimal("sNaN"), Fraction(1, 3), 1 + 2j, b"", b"\xff\0"),
    *((), (1, 2), ("a", None), (math.nan,), frozenset(), frozenset({"a", "b"}), range(3), Ellipsis),
    *([], [1], [1, [2]], {}, {"a": 1}, {1, 2}, np.array(3), np.zeros(2), np.array([]), np.str_("s"), np.bytes_(b"s")),
    *(object, len, lambda X: X, object(), np.ma.masked, NotImplemented, np.dtype("f8"), MappingProxyType({})),
)


class Raising:
    """Whatever is asked of it raises."""

    def __eq__(self, other):
        raise RuntimeError("no comparing")

    __hash__ = None


# What is put by mistake where a word, a function or a number belongs.
MISPLACED = (
    *(np.array([1.0, 2.0]), np.array([1]), np.array([]), np.array(1), np.array(["jackknife", "cpu"]), np.zeros((2, 2))),
    *(pd.Series(["jackknife", "a"]), pd.DataFrame({"a": [1, 2]}), pl.Series([1, 2]), pl.DataFrame({"a": [1, 2]})),
    *(pa.array([1, 2]), pa.table({"a": [1, 2]}), ["jackknife"], [[1, 2], [3]], {"cpu"}, {"kind": "rules"}),
    *(lambda *args: 0, partial(len), dict, np, Raising(), b"cpu", "nonsense"),
)


SCALARS = st.sampled_from([*TEXTS, *WHOLE, *FRACTIONS, *DATES, *ODD])


def lists(n, values):
    return st.lists(values, min_size=n, max_size=n)


@cache
def clean_lists(n):
    """Lists of one type each, from few values, so that rows agree now and then."""
    families = (
        [0, 1],
        [True, False],
        ["a", "b", ""],
        [0.5, -0.0, 0.0],
        [2**63, 2**64],
        [(1, 2), (1, 3)],
        [frozenset({"a"}), frozenset()],
        [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)],
        [Decimal("0.1"), Decimal("0.10")],
        ["😀", "</script>", "\u202e", "\0"],
    )
    return st.sampled_from(families).flatmap(lambda family: lists(n, st.sampled_from(family)))


def tried(make):
    """What a library makes of some items; what it refuses itself never reaches us, and they stay as they are."""

    def made(items):
        try:
            return make(items)
        except (Exception, pl.exceptions.PanicException):  # polars' errors share no base class
            return items

    return made


def _polars(items):
    if any(isinstance(item, Decimal) and item.is_snan() for item in items):
        return items  # polars panics, and says so at length
    return pl.Series(items, strict=False)


WRAPPERS = (
    *(list, list, tuple, iter, lambda items: np.fromiter(items, object, len(items)), tried(np.array), tried(_polars)),
    tried(lambda items: pd.Series(items, index=[0] * len(items))),
    tried(lambda items: pd.Series(pd.Categorical(items))),
    tried(pa.array),
    tried(lambda items: pa.chunked_array([pa.array(items), pa.array(items)[:0]])),
    tried(lambda items: pa.array(items).dictionary_encode()),
)


@cache
def typed_columns(n):
    """Columns that libraries type: nullable, with time zones, sparse, nested, with nulls."""
    numbers = list(range(n))
    holes = [None if number % 2 else number for number in numbers]
    return st.sampled_from(
        [
            pd.Series(holes, dtype="Int64"),
            pd.Series(pd.array([bool(number % 2) for number in numbers], "boolean")),
            pd.Series(pd.date_range("2026-01-01", periods=n, tz="UTC")),
            pd.Series(pd.period_range("2026-01", periods=n, freq="M")),
            pd.Series(pd.arrays.SparseArray([0.0] * n)),
            pd.Series(["a"] * n, dtype="category").cat.add_categories(["unseen"]),
            pd.MultiIndex.from_arrays([numbers, numbers]),
            pl.Series("p", holes),
            pl.Series("p", ["a"] * n, dtype=pl.Categorical),
            pa.array(holes),
            pa.array(["a"] * n).dictionary_encode(),
            pa.array([[number] for number in numbers], pa.list_(pa.int64())),
            pa.array([{"a": number} for number in numbers], pa.struct([("a", pa.int64())])),
            pa.array([Decimal(number) for number in numbers], pa.decimal128(5, 1)),
            pa.array([None] * n, pa.null()),
            pa.chunked_array([], pa.int64()) if n == 0 else pa.chunked_array([numbers[:1], numbers[1:]], pa.int64()),
            np.arange(n, dtype=np.uint64) + np.uint64(2**63),
            np.arange(n).astype("datetime64[D]"),
            np.zeros(n, [("a", "f8"), ("b", "i4")]),
            np.zeros(n, np.complex128),
            np.ma.masked_array(np.zeros(n), mask=[number % 2 == 1 for number in numbers]),
            np.zeros((n, 1)),
            np.zeros((n, 1, 2)),
            np.array(3.0),
        ]
    )


ATTRIBUTES = (
    ("base_values", "output_names", "feature_names", "values", "data"),
    ("local_exp", "domain_mapper"),
    ("local_exp", "segments"),
    ("explanation_type", "selector", "data"),
    ("seq_attr", "input_tokens"),
    ("tokens", "scores", "explainer"),
    ("elements", "attributions"),
    ("source_attributions", "target_attributions", "source", "target", "attr_pos_start"),
)


@cache
def columns(n):
    """One value per row, mostly; clean, typed, mixed, or no column at all."""
    wrapped, mixed, alike = (
        st.tuples(st.sampled_from(WRAPPERS), items).map(lambda pair: pair[0](pair[1]))
        for items in (clean_lists(n), lists(n, SCALARS), SCALARS.map(lambda value: [value] * n))
    )
    odd = [None, 3, "text", b"bytes", {}, {1, 2}, {"a": [1]}, object(), pd.DataFrame(), [[1], [1, 2]], [[]], []]
    return st.one_of(wrapped, wrapped, wrapped, typed_columns(n), mixed, alike, st.sampled_from(odd))


@cache
def matrices(n):
    """Rows of numbers: tame, extreme, with holes, of odd types and shapes."""
    small = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5])
    wild = st.sampled_from([0.0, 1.0, 1e308, -1e308, 5e-324, math.nan, math.inf, 2.0**53, 1e-300])
    widths = st.integers(1, 3)

    def filled(values):
        return widths.flatmap(lambda d: lists(n * d, values).map(lambda v: np.array(v, float).reshape(n, d)))

    shaped = st.sampled_from(
        (
            *(np.zeros((n, 0)), np.zeros((n, 2, 2)), np.zeros(n), np.zeros((n, 2), bool), np.full((n, 1), 2**60)),
            *(
                np.zeros((n, 1), np.float16),
                np.zeros((n, 1), np.complex64),
                np.full((n, 2), None),
                np.full((n, 1), "a"),
            ),
        )
    )
    as_lists = filled(small).map(lambda m: m.tolist())
    ragged = st.just([[0.0] * (1 + row % 2) for row in range(n)])
    masked = filled(small).map(lambda m: np.ma.masked_array(m, mask=m > 0.9))
    return st.one_of(filled(small), filled(small), filled(wild), shaped, as_lists, ragged, masked)


@cache
def foreign(n):
    """What other libraries make, with hostile content: dicts, pairs, and objects with a library's attributes."""
    names, numbers = st.one_of(st.sampled_from(TEXTS), SCALARS), st.one_of(st.sampled_from([0.5, -1.0]), SCALARS)
    pairs = st.lists(st.tuples(names, numbers), max_size=3)
    hashable = st.one_of(st.sampled_from(TEXTS), st.integers(0, 3))
    dicts = st.dictionaries(hashable, st.one_of(numbers, pairs), max_size=3)
    attributes = st.sampled_from(ATTRIBUTES)
    contents = st.one_of(SCALARS, pairs, dicts, st.lists(names, max_size=3), matrices(n), columns(n))
    objects = attributes.flatmap(lambda held: st.fixed_dictionaries(dict.fromkeys(held, contents)))
    made = objects.map(lambda held: SimpleNamespace(**held))
    texts = dicts.map(lambda held: str(held).replace("'", '"'))
    return st.one_of(lists(n, pairs), lists(n, dicts), lists(n, made), made, lists(n, texts), lists(n, numbers))


FRAMES = (
    lambda m: pd.DataFrame(m, columns=["same"] * m.shape[1]),
    lambda m: pd.DataFrame(m, columns=pd.MultiIndex.from_tuples([("a", j) for j in range(m.shape[1])])),
    lambda m: pd.DataFrame(m, columns=list(TEXTS[: m.shape[1]]), index=[0] * len(m)),
    lambda m: pd.DataFrame(m).astype("Float64"),
    lambda m: pd.DataFrame(m).astype(str).astype("category"),
    lambda m: pd.DataFrame(m).astype(object).assign(word="x"),
    lambda m: pd.DataFrame(m).assign(day=pd.Timestamp("2026-01-01"), hole=None),
    lambda m: pl.DataFrame(m, schema=[f"c{j}" for j in range(m.shape[1])]),
    lambda m: pa.table([pa.array(c) for c in m.T], ["same"] * m.shape[1]),
    lambda m: pa.table({"a": pa.array(["x"] * len(m)).dictionary_encode(), "b": pa.array([None] * len(m))}),
    lambda m: sparse.csr_array(m),
)


@cache
def tables(n):
    """Rows of any kind: matrices, frames of three libraries, sparse matrices, columns, documents."""
    frames = st.tuples(st.sampled_from(FRAMES), matrices(n)).map(lambda pair: tried(pair[0])(pair[1]))
    documents = lists(n, st.sampled_from(TEXTS))
    return st.one_of(matrices(n), frames, frames, columns(n), documents)


def any_of(*choices):
    return st.sampled_from(choices)


NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5])
OPERATORS = ("<=", "<", ">=", ">", "==", "!=", "in", "not in", "between")


@cache
def grid(n, d=2):
    """Rows of tame numbers."""
    return lists(n * d, NUMBERS).map(lambda values: np.array(values).reshape(n, d))


@cache
def marks(n):
    return lists(2 * n, st.sampled_from([0, 1])).map(lambda values: np.array(values).reshape(n, 2))


@st.composite
def conditions(draw):
    """A condition on x0 or x1 that can be true."""
    operator = draw(st.sampled_from(OPERATORS))
    value = draw(NUMBERS)
    value = (value, value + 1) if operator == "between" else (value, 0.5) if "in" in operator else value
    return draw(st.sampled_from(["x0", "x1"])), operator, value


def reasons(n):
    texts = lists(n, st.sampled_from([*TEXTS, "yes", "It is NOT so, no.", "not so", "x" * 5000]))
    return st.builds(fs.Reasons, texts, st.one_of(st.none(), texts))


KINDS = {
    "Importances": lambda n: grid(n).map(fs.Importances),
    "Plain": lambda n: clean_lists(n).map(Plain),
    "Records": lambda n: st.builds(Records, st.tuples(clean_lists(n), clean_lists(n)), st.just(["a", "b"])),
    "Rules": lambda n: lists(n, st.lists(conditions(), max_size=3)).map(
        partial(fs.Rules.from_conditions, features=["x0", "x1"])
    ),
    "Highlights": lambda n: lists(n, st.sets(st.sampled_from(TEXTS[1:9]), max_size=2)).map(fs.Highlights),
    "Concepts": lambda n: st.builds(fs.Concepts, marks(n), st.just(["x0", "x1"])),
    "Codes": lambda n: lists(n, st.lists(st.sampled_from([*TEXTS[1:9], 14, None]), max_size=3)).map(fs.Codes),
    "Reasons": reasons,
    "Prototypes": lambda n: lists(n, st.sets(st.integers(0, 2), min_size=1, max_size=2)).map(
        partial(fs.Prototypes, points=np.array([[0.0, 0.0], [1.0, 1.0], [0.5, -1.0]]))
    ),
    "Counterfactuals": lambda n: st.builds(fs.Counterfactuals, grid(n), grid(n)),
}


@cache
def of_any_kind(n):
    rankings = grid(n).map(fs.Importances).map(fs.Rank())
    return st.one_of(rankings, *(kind(n) for kind in KINDS.values()))


@cache
def explanations(n):
    """What a caller may hand over as explanations."""
    good = of_any_kind(n) if n else st.nothing()
    return st.one_of(good, good, clean_lists(n), matrices(n), tables(n), columns(n))


@cache
def labels(n):
    """Predictions: mostly clean."""
    return st.one_of(clean_lists(n), clean_lists(n), columns(n), columns(n + 1))


@cache
def some_rows(n):
    """Rows that kinds apply to, mostly."""
    return st.one_of(grid(n), grid(n), lists(n, st.sampled_from(TEXTS)), tables(n))


METRICS = any_of(
    *("euclidean", "euclidean", "manhattan", "cosine", "hamming", "chebyshev", "canberra", "correlation", "jaccard"),
    *("haversine", "minkowski", "gower", "mahalanobis", "seuclidean", "nan_euclidean", "precomputed", "nonsense", ""),
    *(None, 3, "x" * 5000, lambda a, b: 0.0, lambda a, b: math.nan, dict),
)
DISCRETIZERS = any_of(
    *(None, None, fs.Sign(), fs.Floor(1), fs.Truncate(2), fs.Floor(300), fs.Floor(-300), fs.Rank(), fs.SignOfTop(2)),
    *(fs.TopFeatures(2), fs.ReasonCodes(2, against="a"), fs.ReasonCodes(1, ordered=True), fs.Pool(2), fs.Template()),
    *(fs.Pool((1, 2)) | fs.TopRegions(1), fs.Grouped({"g": ["a", "b"]}), fs.CommonPhrases(2), fs.Phrases(["not so"])),
    *(fs.Codebook({"not": r"\bnot?\b", "long": "x.{0,9}x"}), fs.Template() | fs.CommonPhrases(1)),
    *(fs.Clusters([[0.0], [1.0], [5.0]], 2), fs.Delta(), fs.DeltaSign(), fs.Modified(), fs.Delta() | fs.Floor(1)),
    *(fs.Sign() | fs.Rank(), fs.Rank() | fs.Sign(), fs.Sign, "sign", 3, []),
    *(lambda e: e, lambda e: [1], lambda e: None, lambda e: [[]] * len(e)),
)
RELATIONS = any_of(
    *(None, None, fs.Alike(), fs.Alike(1, 2, [[0.0, 1.0], [2.0, 0.5]]), fs.Alike),
    *(fs.Nearest(), fs.Ball(1.0), fs.Nearest, "nearest", 3),
    *(fs.Judged(pd.DataFrame({"row": [0, 1], "explanation": [0, 0], "applies": [True, None]})), fs.Judged),
    *(lambda X, e: np.ones(len(X), bool), lambda X, e: [1], lambda X, e: None, lambda X, e: [True] * len(X)),
)
POPULATIONS = any_of(
    *(fs.RealRows(), fs.RealRows, fs.Perturbed, "real", 3, fs.Perturbed(draws=2), fs.Perturbed(draws=1, keep=0)),
    *(fs.Perturbed([[0.0, 1.0], [2.0, 0.5]], draws=3), fs.Perturbed([[1.0]], 2), fs.Perturbed(["a not b", ""], 2)),
    *(fs.Product([[0.0, 1.0], [math.nan, 0.5]], draws=3), fs.Product(["not so", "x"], draws=2), fs.Product([], 2)),
    *(fs.Conditional([[0.0, 1.0], [2.0, math.nan]], k=1), fs.Conditional(["not so", "a b"]), fs.Conditional(None)),
    fs.Perturbed([[0.0, 1.0]], draws=2, model=lambda rows: ["a"] * len(rows)),
    fs.Product([["a", "b"], [None, "c"]], draws=2, model=lambda rows: [1] * len(rows)),
    fs.drawn(["a"], [[0.0]], ["a"]),
)
AGREEMENTS = any_of(
    *(fs.Same(), fs.Spread(), fs.Close(1.0), fs.Close(1e-300), fs.Close(1e300), fs.Tolerance(0.5)),
    *(None, "spread", "close:0.5", "tolerance:", "close:nan", "", fs.Close, 3, [], math.nan),
    *(lambda a, b: a == b, lambda a, b: 2.0, lambda a, b: a - b),
)
FIELDS = any_of(
    *("input", "answer", "explanation", "id", "value", "rationale", "name", "scores", "epoch", "label", "score"),
    *("comment", "traceId", "messages", "custom_id", "response", "assessments", "a_score", "output"),
)
CONDITIONS = st.fixed_dictionaries(
    {"feature": st.one_of(any_of("a", 0), SCALARS), "op": st.one_of(any_of("<", "is"), SCALARS)},
    optional={"value": SCALARS, "low": SCALARS, "high": SCALARS, "not": SCALARS},
)


@st.composite
def records(draw):
    """Records with fields of several libraries, as dicts, objects or tables, and their content hostile."""
    simple = st.one_of(any_of(*TEXTS, "yes", "no"), SCALARS, CONDITIONS)
    nested = st.one_of(st.lists(simple, max_size=2), st.dictionaries(FIELDS, simple, max_size=3))
    fields = draw(st.lists(FIELDS, unique=True, max_size=6))
    content = st.fixed_dictionaries({name: st.one_of(simple, simple, nested) for name in fields})
    held = draw(st.lists(content, max_size=4))
    whole = any_of(list, tuple, pd.DataFrame, lambda held: {"data": held}, lambda held: held[0] if held else None)
    return draw(whole)([SimpleNamespace(**one) for one in held] if draw(st.booleans()) else held)


N = 4  # rows of a good call
GENERAL = st.one_of(SCALARS, SCALARS, any_of(*MISPLACED), columns(N), tables(N))
# What comes nearer to what a parameter takes, by its name.
LIKELY = {
    **dict.fromkeys(("explanations", "explainer", "importances", "reasons"), explanations(N)),
    **dict.fromkeys(("predictions", "model", "by", "groups", "clusters", "askers"), labels(N)),
    **dict.fromkeys(("X", "X_train", "X_background", "points", "originals", "values", "matrix"), some_rows(N)),
    "weights": lists(N, any_of(0, 1, 0.5, 3, -1, math.nan, math.inf, 1e300, "1", None)),
    **dict.fromkeys(("discretizer", "discretizers"), DISCRETIZERS),
    **{"metric": METRICS, "relation": RELATIONS, "population": POPULATIONS, "agreement": AGREEMENTS},
    "thing": st.one_of(foreign(N), records()),
    "conditions": lists(
        2, st.lists(st.one_of(conditions(), st.tuples(SCALARS, any_of("<=", "in"), SCALARS)), max_size=3)
    ),
    "texts": st.lists(
        st.one_of(any_of("x0 <= 1", "2 < x1 <= 3.50", "x0 in {1, b}", "and", "("), any_of(*TEXTS)), max_size=4
    ),
    "patterns": st.dictionaries(any_of("g", "other", ""), any_of("a", r"(a+)+$", "", "(", ".*.*.*.*x"), max_size=2),
    "path": any_of("new", "deep/er", ".", "a\0b", "x" * 300, None, 3, b"x"),
}


def drawn_for(parameter):
    """Hostile values of a parameter."""
    return st.one_of(LIKELY[parameter], GENERAL) if parameter in LIKELY else GENERAL
