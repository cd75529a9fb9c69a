"""What each parameter of the public surface is given, by its name: hostile, yet good often enough to go on."""

import math
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import faithscope as fs
from faithscope import testing
from fuzz.hostile import MISPLACED, SCALARS, SIZES, TEXTS, columns, foreign, lists, matrices, tables
from fuzz.kinds import (
    CONDITIONS,
    EVALUATIONS,
    FAST,
    KINDS,
    LOG,
    SCOPES,
    SIMULATED,
    SIZED,
    TRAIN,
    TRAINING,
    about,
    comparisons,
    conditions,
    explanations,
    grid,
    labels,
    linear,
    marks,
    of_any_kind,
    predict,
    proba,
    reasons,
    some_rows,
    tree,
    with_words,
)


def any_of(*choices):
    return st.sampled_from(choices)


SEEDS = any_of(0, 0, 1, -1, 2**31, 2**32, 2**64, 2**127, 2**200, -(2**200), 1.5, math.nan, None, "0", True, np.int64(3))
SHARES = any_of(
    *(0.95, 0.95, 0.5, 0, 1, -1, 2, math.nan, math.inf, 1e-300, 5e-324, 1 - 1e-16, "0.95", None, True),
    *(np.float32(0.9), np.float16(0.5), Decimal("0.9"), Fraction(9, 10), 10**400, 1j, [0.9], np.array(0.9), np.nan),
)
COUNTS = any_of(
    *(1, 1, 2, 10, 0, -1, 2**31, 2**63, 10**400, 1.5, 3.0, math.nan, math.inf, "3", None, True, [1], np.int8(2))
)
DISTANCES = any_of(
    *(0, 0.5, 1.0, 3, -1, -0.0, math.nan, math.inf, 1e308, 5e-324, 2**70, 10**400, "1", None, True, [1.0]),
    *(Decimal(1), np.float32(0.5)),
)
WORDS = any_of(
    *("proven", "mcdiarmid", "bootstrap", "auto", "cpu", "cuda", "tpu", "error", "drop", "key", "1d", "0d", "1mo"),
    *("-1d", "", None, 3, b"cpu", ["jackknife"], "x" * 5000, "\0", "consistency", "sufficiency"),
    *MISPLACED.values(),
)
METRICS = any_of(
    *("euclidean", "euclidean", "manhattan", "cosine", "hamming", "chebyshev", "canberra", "correlation", "jaccard"),
    *("haversine", "minkowski", "gower", "mahalanobis", "seuclidean", "nan_euclidean", "precomputed", "nonsense", ""),
    *(None, 3, "x" * 5000, lambda a, b: 0.0, lambda a, b: math.nan, dict),
    *MISPLACED.values(),
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
    *(fs.Judged({"row": [0, 1], "explanation": [0, 0], "applies": [True, None]}), fs.Judged),
    *(lambda X, e: np.ones(len(X), bool), lambda X, e: [1], lambda X, e: None, lambda X, e: [True] * len(X)),
    *MISPLACED.values(),
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
    *MISPLACED.values(),
)
MODELS = any_of(
    *(predict, proba, lambda X: proba(X)[:, 1] * 3.5, about, None, 3, "model", object()),
    *(lambda X: None, lambda X: [1], lambda X: X),
)
TOKENIZERS = any_of(str.split, list, None, 3, "split", lambda text: None, lambda text: [1], *MISPLACED.values())
CACHES = any_of(None, 3, "\0", ["here"])
FIELDS = any_of(
    *("input", "answer", "explanation", "id", "value", "rationale", "name", "scores", "epoch", "label", "score"),
    *("comment", "traceId", "messages", "custom_id", "response", "assessments", "a_score", "output"),
)
TOLD = st.one_of(FIELDS, any_of("value.a", ".", "..", ""), SCALARS)
COLUMNS = st.one_of(
    any_of("yhat", "phi_*", "phi_a", "g", "when", "*", "?", "[", "nothing"), st.lists(SCALARS, max_size=2), SCALARS
)
FEATURES = st.one_of(st.just(["a", "b"]), st.just(["x0", "x1"]), st.lists(SCALARS, max_size=3), SCALARS)
CATEGORICAL = st.one_of(st.just([0]), st.just(["x1"]), st.lists(SCALARS, max_size=2), SCALARS)
UNREADABLE = any_of("error", "uncovered", "uncovered", None, 3)
PATTERNS = st.one_of(any_of("a", r"(a+)+$", "", "(", ".*.*.*.*.*x", r"\bnot\b", "n't", "."), st.text(), SCALARS)
PLACES = any_of("new", "new", "deep/er", ".", "a\0b", "x" * 300, None, 3, b"x")


class Written(NamedTuple):
    """Stands for a path at which this is to be read."""

    content: bytes


def mixed(*parts):
    """Any of these strategies; functions of a number of rows give theirs for that number."""
    return lambda n: st.one_of(*(part(n) if callable(part) else part for part in parts))


def per_row(values):
    return lambda n: lists(n, values)


def weights(n):
    given = lists(n, any_of(0, 1, 0.5, 3, -1, math.nan, math.inf, 1e300, "1", None))
    return st.one_of(st.just([1.0] * n), st.just(list(range(1, n + 1))), given, columns(n))


clusters = mixed(lambda n: st.just(list(range(n))), lambda n: st.just([row // 2 for row in range(n)]), columns)


some_table = mixed(grid, lambda n: grid(n).map(with_words), tables)


def training(_):
    return st.one_of(st.just(TRAIN), any_of(0, 1, 5).flatmap(some_table))


documents = mixed(per_row(any_of(*(text[:50] for text in TEXTS))), tables)


def model(of):
    """A model or an explainer as a caller has it: its answers, or a function that gives them to any rows."""
    return lambda n: of(n).flatmap(lambda answers: any_of(answers, lambda X: answers))


def per_name(n):
    """A discretizer, or one for each of some names."""
    return st.one_of(DISCRETIZERS, st.dictionaries(any_of(*TEXTS[:9], "a"), DISCRETIZERS, max_size=2))


def by_name(n):
    """Explanations of several explainers, by names of which some are none."""
    return st.dictionaries(any_of(*TEXTS[:9], 3, None), explanations(n), max_size=3)


def log(n):
    return st.one_of(st.just(LOG), st.just(LOG), tables(min(n, 4)), SCALARS)


@st.composite
def runs(draw, n):
    """Explanations of several runs, as a caller may have them."""
    alike = draw(st.booleans())
    first = draw(of_any_kind(n)) if n and alike else draw(explanations(n))
    all_runs = [first, *draw(st.lists(st.just(first) if alike else explanations(n), min_size=1, max_size=2))]

    def seeded(seed):
        return all_runs[seed % len(all_runs)]

    makers = [all_runs, tuple(all_runs), dict(enumerate(all_runs)), all_runs[:1], first, seeded, 3, None]
    return draw(st.sampled_from([*makers, lambda seed: lambda X: seeded(seed), lambda X: X[:, 0], fs.explainers.Lime]))


@st.composite
def records(draw, _):
    """Records with fields of several libraries, as dicts, objects or tables, and their content hostile."""
    simple = st.one_of(any_of(*TEXTS, "yes", "no"), SCALARS, CONDITIONS)
    nested = st.one_of(st.lists(simple, max_size=2), st.dictionaries(FIELDS, simple, max_size=3))
    fields = draw(st.lists(FIELDS, unique=True, max_size=6))
    content = st.fixed_dictionaries({name: st.one_of(simple, simple, nested) for name in fields})
    held = draw(st.lists(content, max_size=4))
    whole = any_of(list, tuple, pd.DataFrame, lambda held: {"data": held}, lambda held: held[0] if held else None)
    return draw(whole)([SimpleNamespace(**one) for one in held] if draw(st.booleans()) else held)


def written_rules(n):
    odd = st.tuples(SCALARS, st.one_of(any_of("<=", "in", "between", "not in", "=="), SCALARS), SCALARS)
    condition = st.one_of(conditions(), conditions(), odd, SCALARS)
    return st.one_of(lists(n, st.one_of(st.lists(condition, max_size=3), SCALARS)), SCALARS)


def rules_in_words(_):
    piece = any_of("x0 <= 1", "2 < x1 <= 3.50", "x0 == a", "x0 in {1, b}", "and", "or missing", "(", '"', "x")
    text = st.one_of(piece, st.lists(piece, max_size=4).map(" and ".join), st.text(max_size=12), SCALARS)
    row = st.one_of(text, text, st.lists(st.one_of(text, st.tuples(text, SCALARS)), max_size=3))
    return st.one_of(st.lists(row, max_size=4), SCALARS)


def judgments(n):
    good, cells = (lists(n, lists(n, cell)) for cell in (any_of(0, 1, None), any_of(0, 1, True, None, 0.5, "1", 2)))
    column = st.one_of(lists(n, st.integers(0, n)), columns(n))
    long = st.fixed_dictionaries(dict.fromkeys(("row", "explanation", "applies", "text"), column))
    return st.one_of(good, cells, good.map(np.array), long, matrices(n), SCALARS)


@st.composite
def pipelines(draw, _):
    from sklearn.compose import ColumnTransformer
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    part = draw(any_of(OneHotEncoder(), StandardScaler(), PCA(1), "passthrough", "drop"))
    encoder = ColumnTransformer(
        [("part", part, draw(st.lists(any_of(0, 1), unique=True)))], remainder=draw(any_of("drop", "passthrough"))
    )
    fitted = make_pipeline(encoder).fit([[0.0, 1.0], [1.0, 3.0], [1.0, 0.0]])
    return draw(st.one_of(any_of(fitted, fitted[0], encoder, part, make_pipeline(part)), SCALARS))


def shap_explanations(_):
    import shap

    return st.one_of(
        matrices(3), any_of(shap.Explanation(np.zeros((3, 2, 2))), shap.Explanation(np.zeros((3, 2)))), SCALARS
    )


rows_or_texts = mixed(matrices, tables, columns, SCALARS)


def shares_that_add_up(_):
    return st.one_of(st.just([0.5, 0.5]), columns(2), st.lists(any_of(0, 1, 0.5, math.nan, -1), max_size=3))


def positions(n):
    masks, places = lists(n, st.booleans()), st.lists(st.integers(0, n - 1), max_size=5)
    return st.one_of(masks, places, st.just(slice(0, 1)))


drawn_rows = mixed(per_row(st.one_of(matrices(2), tables(2), columns(2))), some_rows, TRAINING)


WHATEVER = st.one_of(COUNTS, SCALARS)
# A strategy, or a function from a number of rows to one.
PARAMETERS = {
    "explanations": explanations,
    "predictions": labels,
    "X": some_rows,
    "weights": weights,
    "clusters": clusters,
    "groups": labels,
    "askers": mixed(lambda n: lists(n, st.booleans()), labels, SCALARS),
    "agreement": AGREEMENTS,
    "discretizer": DISCRETIZERS,
    "discretizers": st.one_of(DISCRETIZERS, st.lists(DISCRETIZERS, max_size=3), SCALARS),
    "confidence": SHARES,
    "interval": WORDS,
    "relation": RELATIONS,
    "population": POPULATIONS,
    "device": WORDS,
    "seed": SEEDS,
    "metric": METRICS,
    "cache": CACHES,
    "progress": any_of(None, True, False, 3, "yes", lambda *_: None),
    "output": st.one_of(WORDS, any_of("label", "probability")),
    "measure": st.one_of(WORDS, any_of(None, "consistency", "sufficiency", "necessity", "", 3, ["consistency"])),
    "bound": st.one_of(WORDS, any_of("low", "value", "verified", "adjusted", "sufficiency")),
    **dict.fromkeys(("tau", "eps", "epsilon", "range_size"), st.one_of(DISTANCES, SCALARS)),
    "bins": WHATEVER,
    **dict.fromkeys(
        ("k", "most", "rows", "group", "per_explanation", "budget", "draws", "steps", "max_leaf_nodes"), WHATEVER
    ),
    "decimals": st.one_of(st.integers(-320, 320), WHATEVER),
    **dict.fromkeys(("at_least", "unverifiable", "threshold", "delta", "keep"), SHARES),
    "unseen": SCALARS,
    **dict.fromkeys(("deep", "own", "top", "of", "simultaneous", "unknown", "offset", "baseline", "against"), SCALARS),
    **dict.fromkeys(("batch", "prediction", "explanation", "folded"), SCALARS),
    **dict.fromkeys(("ordered", "minimal", "widen", "discretize"), st.one_of(st.booleans(), SCALARS)),
    **dict.fromkeys(("only_covered", "as_vectors"), any_of(True, False, 1, None)),
    **dict.fromkeys(("method", "algorithm", "every", "nulls", "kind"), WORDS),
    **dict.fromkeys(("names", "features"), FEATURES),
    **dict.fromkeys(("other", "wanted"), SIZED.flatmap(of_any_kind)),
    **dict.fromkeys(("by", "time", "id", "column"), COLUMNS),
    **dict.fromkeys(("name", "answer", "input"), TOLD),
    **dict.fromkeys(("a", "b"), st.one_of(any_of("a", "b", "c"), SCALARS)),
    **dict.fromkeys(("p", "q"), shares_that_add_up),
    **dict.fromkeys(("lower", "upper"), mixed(some_table, lambda n: st.just(np.full((n, 2), -np.inf)))),
    **dict.fromkeys(("X_train", "X_background"), training),
    "predict": st.one_of(any_of(predict, predict), MODELS),
    **dict.fromkeys(("model", "predict_proba"), st.one_of(any_of(proba, proba), MODELS, SCALARS)),
    "module": st.one_of(MODELS, SCALARS),
    **dict.fromkeys(("values", "matrix"), mixed(marks, matrices, tables, columns)),
    "columns": COLUMNS,
    "reference": st.one_of(st.just(LOG), st.just(LOG[:1]), WHATEVER),
    "connect": any_of("", "duckdb://", "nonsense://x", "postgres://a:secret@localhost:1/x", "\0", 3),
    "when": st.one_of(any_of("2026-03-01", "x", None, [None] * 4, [3] * 4, "when"), SCALARS),
    "estimate": st.one_of(st.none(), EVALUATIONS, EVALUATIONS.map(lambda ev: ev.consistency), SCALARS),
    "n": COUNTS,
    "rng": st.just(np.random.default_rng(0)),
    "row": lambda n: st.integers(-n, n - 1),
    "order": st.none(),
    "path": PLACES,
    "run_id": any_of(None, None, None, "nowhere", "", 3),
    "prefix": any_of("faithscope", "a.b", "", "a/b", "..", "x" * 300, None, 3),
    "words": st.one_of(SCALARS, st.lists(any_of(*TEXTS, 3, None), max_size=3)),
    "unreadable": UNREADABLE,
    "tokenizer": TOKENIZERS,
    "categorical": CATEGORICAL,
    "class_index": st.one_of(any_of(None, 0, 1, 2, -1, "predicted"), SCALARS),
    "separator": st.one_of(any_of(";", "", " "), SCALARS),
    "counts": st.one_of(EVALUATIONS, SCALARS),
}


# What single functions are given instead.
OWN = {
    "sufficiency": {"predictions": mixed(labels, labels, model(labels), st.just(lambda X: X))},
    "drawn": {
        "rows": drawn_rows,
        "predictions": mixed(st.none(), labels, per_row(labels(2)), SCALARS, st.just(about)),
        "of": mixed(columns, lambda n: st.just(list(range(n))), SCALARS),
    },
    "within": {"explanations": mixed(grid, explanations)},
    "within_curve": {
        "explanations": mixed(grid, explanations),
        "taus": st.one_of(st.just([0.0, 1.0]), st.lists(DISTANCES, max_size=3), SCALARS),
    },
    "direction": {"importances": mixed(grid, explanations), "tiny": st.one_of(any_of(0.0, 0.001), SCALARS)},
    "explainer_agreement": {
        "explanations": mixed(
            lambda n: grid(n).map(lambda matrix: {"a": matrix, "b": -matrix, "c": matrix[::-1]}), by_name, explanations
        ),
        "discretizer": per_name,
    },
    "tolerance_curve": {
        "eps": st.one_of(st.none(), st.just([0.5, 2.0]), st.lists(DISTANCES, max_size=3), SCALARS),
        "agreement": any_of(fs.Close, fs.Tolerance, "close", "tolerance", fs.Spread, fs.Close(1.0)),
    },
    "evaluate": {
        "by": labels,
        "model": model(labels),
        "explainer": model(explanations),
        "discretizer": st.one_of(DISCRETIZERS, st.builds(fs.Best)),
    },
    "compare": {
        "by": labels,
        "model": labels,
        "explainers": mixed(by_name, by_name, explanations),
        "discretizer": mixed(per_name, st.builds(fs.Best)),
    },
    "repeatability": {
        "explain": runs,
        "X": mixed(st.none(), some_rows),
        # No more are made than these, however many are asked for.
        "runs": st.one_of(any_of(2, 3), SCALARS).map(lambda k: 4 if isinstance(k, int | float) and k > 9 else k),
    },
    "local": {
        "x": st.one_of(grid(1), grid(1).map(lambda m: m[0]), SCALARS, columns(1), tables(1)),
        "model": lambda n: labels(n).flatmap(
            lambda y: any_of(lambda X: y[: len(X)] if isinstance(y, list) else y, 3, y)
        ),
        "explainer": lambda n: of_any_kind(n or 1).flatmap(
            lambda e: any_of(lambda X: e.take(np.arange(min(len(e), len(X)))), e, None)
        ),
    },
    "sample_until": {
        "source": mixed(
            lambda n: st.lists(
                st.one_of(st.tuples(explanations(n), labels(n)), SCALARS, st.tuples(SCALARS, SCALARS)), max_size=3
            ),
            SCALARS,
        ),
        "explanation": st.one_of(of_any_kind(1), SCALARS, grid(1)),
        "epsilon": st.one_of(any_of(0.1, 0.3, 0.9), SHARES),
        "budget": st.one_of(any_of(1, 5, 100), COUNTS),
    },
    **{name: {"by": labels} for name in ("consistency", "sufficiency", "necessity", "Evaluation.to_html")},
    "assert_faithful": {
        "result": st.one_of(
            EVALUATIONS,
            EVALUATIONS.map(lambda ev: ev.consistency),
            comparisons(),
            EVALUATIONS.map(lambda ev: ev.by([0] * len(ev.predictions))),
            SCALARS,
        ),
        "by": labels,
        "explainers": st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.just("a")),
    },
    "sklearn.scorer": {
        "explainer": st.one_of(
            SIZES.flatmap(explanations).map(lambda given: lambda model: given),
            any_of(fs.explainers.TreePath, None, len),
            SCALARS,
        )
    },
    "read": {"thing": mixed(rows_or_texts, foreign)},
    "read_rationales": {
        "thing": mixed(records, records, rows_or_texts, foreign),
        "explanation": TOLD,
        "id": TOLD,
        "nulls": any_of("error", "drop", "key", "drop", None, 3),
    },
    "Highlights": {
        "words": mixed(per_row(st.one_of(st.sets(any_of(*TEXTS)), SCALARS)), columns, tables),
        "vocabulary": st.one_of(
            SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(any_of(*TEXTS), SCALARS, max_size=2)
        ),
    },
    "Reasons": dict.fromkeys(("texts", "inputs"), mixed(per_row(any_of(*TEXTS)), columns, tables, SCALARS)),
    "Reasons.to_rules": {"features": st.one_of(FEATURES, tables(3))},
    "leakage": {"reasons": mixed(reasons, explanations)},
    "Codes": {
        "codes": mixed(
            st.lists(st.one_of(st.lists(st.one_of(any_of(*TEXTS), SCALARS), max_size=3), SCALARS)), rows_or_texts
        )
    },
    "Prototypes": {
        "indices": mixed(
            lambda n: st.just(np.zeros((n, 2), int)),
            per_row(st.one_of(st.sets(st.integers(-1, 4), max_size=3), SCALARS)),
            columns,
            tables,
        ),
        "points": st.one_of(grid(3), tables(3)),
    },
    "Counterfactuals": dict.fromkeys(("points", "originals"), some_table),
    "Rules.from_conditions": {"conditions": written_rules},
    "Rules.parse": {"texts": rules_in_words},
    "Rules.from_tree": {"tree": st.one_of(st.builds(tree), SCALARS), "X": st.one_of(grid(3), tables(3))},
    "Codebook": {"patterns": st.dictionaries(any_of("g", "other", "", 1), PATTERNS)},
    "Codebook.load": {
        "path": st.one_of(
            st.builds(Written, st.one_of(st.binary(max_size=40), any_of(b'{"a": "b"}', b"[]", b'{"a": "(a+)+"}'))),
            PLACES,
            SCALARS,
        )
    },
    "Phrases": {"phrases": st.one_of(st.lists(any_of(*TEXTS, 3), max_size=3), SCALARS)},
    "Template": {"labels": st.one_of(st.none(), st.lists(SCALARS, max_size=3), SCALARS)},
    "Clusters": {"embeddings": st.one_of(grid(3), tables(3))},
    "Grouped": {
        "groups": st.one_of(st.dictionaries(any_of("g", "a", 1), st.lists(any_of("a", "b", "x0", "x1", 2))), SCALARS)
    },
    "Grouped.from_pipeline": {"pipe": pipelines},
    "Pool": {
        "grid": st.one_of(WHATEVER, st.lists(st.one_of(st.integers(0, 3), COUNTS), max_size=4).map(tuple)),
        "shape": any_of(None, None, 2, (2,), (1, 2), (2, 1), (3, 3), (), "2", (2, math.nan)),
        "channels": any_of(None, None, "first", "last", "middle", 1),
    },
    "Judged": {"answers": judgments},
    **{key: {"X_train": TRAINING} for key in ("Perturbed", "Product", "Conditional", "Alike", "Importances.to_rules")},
    "Log": {
        "table": log,
        "prediction": COLUMNS,
        "explanation": COLUMNS,
        "clusters": COLUMNS,
        "weights": COLUMNS,
        "kind": st.one_of(any_of("importances", "keys", "rules", "words", "prototypes", "counterfactuals"), WORDS),
    },
    "Log.only": {
        "where": st.one_of(any_of("g = 1", "yhat = 'a' or g > 1", "g = ", "nothing > 3"), SCALARS),
        "since": st.one_of(any_of("2026-01-02", "2026-01-02T12:00", "soon"), SCALARS),
    },
    "audit": {
        "table": log,
        "prediction": COLUMNS,
        "explanation": COLUMNS,
        "clusters": COLUMNS,
        "kind": st.one_of(any_of("importances", "keys", "rules", "words", "prototypes", "counterfactuals"), WORDS),
    },
    "Monitor": {
        "store": PLACES,
        "scopes": st.one_of(SCALARS, st.just(["a <= 3", "b == 1"]), explanations(3), st.lists(SCALARS)),
    },
    "Monitor.add": {
        "explanations": mixed(explanations, per_row(any_of(*SCOPES))),
        "by": labels,
        "clusters": labels,
    },
    "Monitor.add_log": {
        "table": log,
        "prediction": COLUMNS,
        "explanation": COLUMNS,
        "clusters": COLUMNS,
        "when": COLUMNS,
    },
    # Methods of kinds take positions that exist, as indexing does; everything else about them is hostile.
    **{f"{kind}.take": {"rows": positions} for kind in KINDS},
    **{
        f"{kind}.{method}": {"conditions": st.nothing()}  # those that they are made of
        for kind in ("Concepts", "Highlights", "Rules")
        for method in ("holds", "masks", "postings")
    },
    "Prototypes.nearest": {"X": some_rows(3), "k": st.integers(1, 3)},
    "Prototypes.within": {"indices": st.just([0, 1]), "X": some_rows(3), "tau": st.just(1.0)},
    "explainers.TreePath": {"tree": SCALARS},
    "explainers.SufficientReason": {
        "model": st.one_of(st.builds(tree), MODELS, SCALARS),
        "order": st.one_of(any_of("importance", "coverage", [0], ["x1"], [0, 0]), WORDS, SCALARS),
        "eps": SCALARS,
    },
    "explainers.TopCoefficient": {
        "model": st.one_of(st.builds(linear).map(lambda pair: pair[0]), SCALARS),
        "vectorizer": st.one_of(st.builds(linear).map(lambda pair: pair[1]), SCALARS),
        "by": st.one_of(any_of("absolute", "favor"), WORDS),
    },
    "explainers.Lime": {
        "mode": st.one_of(any_of("classification", "regression"), WORDS),
        "draws": st.one_of(any_of("shared", "own"), WORDS),
    },
    "explainers.Counterfactual": {"candidates": any_of(1, 3, 0, -1, 1.5, "1", None)},
    "explainers.Shap": {"output": WORDS, "evaluations": any_of(10, 0, -1, "1")},
    "explainers.Anchors": {"tau": SHARES},
    "explainers.TextAnchors": {"predict": st.one_of(any_of(about, about), MODELS)},
    "explainers.Anchors.explain_at": {"thresholds": st.just([0.5, 0.95])},
    **{f"explainers.{name}.explain": {"X": documents} for name in ("AllWords", "FirstWord", "TopCoefficient")},
    **{f"explainers.TextAnchors.{how}": {"X": documents} for how in ("explain", "explain_with_precision")},
    **{f"explainers.{how}": {"X": st.one_of(SCALARS, columns(2))} for how in ("Dice.explain", "Dice.find")},
    "explainers.Gradient.explain": {"X": st.one_of(SCALARS, columns(2))},
    **{
        f"testing.check_{measure}{of}": {"measure": SCALARS.map(lambda answer: lambda *_: answer)}
        for measure in ("consistency", "sufficiency")
        for of in ("", "_of_numbers")
    },
    "testing.hard_systems": {"n": st.one_of(SCALARS, st.integers(0, 200))},
    **{f"testing.{system}.draw": {"n": st.integers(0, 50)} for system in SIMULATED},
    "testing.ReasonSystem.draw": {"n": SCALARS, "seed": SCALARS},
    "testing.System.expected": {"n": st.integers(1, 50)},
}


# What is passed along where nothing else is drawn for it.
USUAL = {
    **{f"explainers.{name}": settings for name, settings in FAST.items()},
    **{name: {"progress": False} for name in ("evaluate", "compare", "repeatability")},
    **{name: {"prediction": "yhat", "explanation": "phi_*"} for name in ("Log", "audit")},
    "explainers.Anchors.explain_with_precision": {"samples": 10},
    "explainers.TextAnchors.explain_with_precision": {"samples": 10},
    "testing.check_consistency": {"cases": testing.CASES[:5]},
    "testing.check_consistency_of_numbers": {"cases": testing.NUMBER_CASES[:5]},
}


def discretized(n):
    """What a discretizer is used on: explanations of any kind, or wild numbers."""
    wild = matrices(n).map(lambda values: lambda: fs.Importances(values))
    return st.one_of(of_any_kind(n or 1).map(lambda given: lambda: given), wild).map(
        lambda make: lambda discretizer, _: discretizer(make())
    )


def explained(_):
    return st.just(lambda explainer, given: explainer.explain(given.get("X_train", given.get("X_background", TRAIN))))


def explained_texts(n):
    return documents(n).map(lambda X: lambda explainer, _: explainer.explain(X))


# What is done with what a constructor or function gave, and with what that was given: lazily made things say what is
# wrong only then.
USED = {
    **{name: lambda n: st.just(lambda log, _: fs.consistency(log)) for name in ("Log", "Log.only")},
    "Best": lambda n: st.tuples(labels(n), explanations(n), some_rows(n)).map(
        lambda rows: lambda best, _: fs.evaluate(*rows, discretizer=best, progress=False)
    ),
    "Judged": lambda n: st.tuples(
        st.one_of(st.just([f"reason {row}" for row in range(n)]), explanations(n)), labels(n)
    ).map(lambda rows: lambda judged, _: fs.sufficiency(*rows, relation=judged)),
    "drawn": lambda n: labels(n).map(
        lambda own: lambda population, given: fs.sufficiency(given["explanations"], own, population=population)
    ),
    "sklearn.scorer": lambda n: st.tuples(labels(n), some_rows(n)).map(
        lambda rows: lambda scored, given: scored if given["explainer"] is len else scored(lambda X: rows[0], rows[1])
    ),
    **{
        f"explainers.{name}": explained
        for name in fs.explainers.__all__
        if name not in ("AllWords", "FirstWord", "TextAnchors", "TopCoefficient", "Dice", "Gradient")
    },
    **{f"explainers.{name}": explained_texts for name in ("AllWords", "FirstWord", "TextAnchors", "TopCoefficient")},
}
