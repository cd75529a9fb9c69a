"""Calls of the public functions and constructors with hostile input."""

import json
import math
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import faithscope as fs
import faithscope.testing
from faithscope.evaluation.assertions import Unfaithful
from faithscope.integrations.sklearn import scorer
from fuzz import hostile
from fuzz.choices import (
    AGREEMENTS,
    COUNTS,
    DISCRETIZERS,
    DISTANCES,
    METRICS,
    POPULATIONS,
    RELATIONS,
    SEEDS,
    SHARES,
    WORDS,
)
from fuzz.hostile import SCALARS, SIZES
from fuzz.kinds import (
    comparisons,
    conditions,
    evaluations,
    explanations,
    grid,
    labels,
    marks,
    of_any_kind,
    options,
    reasons,
    some_rows,
    with_words,
)
from fuzz.registry import target

MEASURES, KINDS, DISCRETE, PLANS = "measures", "explanations", "discretizers", "plans and bounds"
WHOLE, TESTING, AUDITS = "evaluate and compare", "faithscope.testing", "audits"


def weights(n):
    given = st.lists(st.sampled_from([0, 1, 0.5, 3, -1, math.nan, math.inf, 1e300, "1", None]), min_size=n, max_size=n)
    return st.one_of(st.just([1.0] * n), st.just(list(range(1, n + 1))), given, hostile.columns(n))


def clusters(n):
    return st.one_of(st.just(list(range(n))), st.just([row // 2 for row in range(n)]), hostile.columns(n))


@target("consistency", MEASURES, 120)
def _(draw):
    n = draw(SIZES)
    given = draw(explanations(n)), draw(labels(n))
    choices = {"discretizer": DISCRETIZERS, "confidence": SHARES, "interval": WORDS, "agreement": AGREEMENTS}
    how = draw(options(**choices, weights=weights(n), clusters=clusters(n)))
    return lambda: fs.consistency(*given, **how)


@target("count", MEASURES, 40)
def _(draw):
    n = draw(SIZES)
    given, how = (draw(explanations(n)), draw(labels(n))), draw(options(weights=weights(n), agreement=AGREEMENTS))
    return lambda: fs.count(*given, **how)


@target("Sample.of", MEASURES, 40)
def _(draw):
    n = draw(SIZES)
    given = draw(explanations(n)), draw(labels(n)), draw(some_rows(n)), draw(weights(n)), draw(AGREEMENTS)
    return lambda: fs.Sample.of(*given)


@target("sufficiency", MEASURES, 80)
def _(draw):
    n = draw(SIZES)
    given = draw(explanations(n)), draw(labels(n)), draw(some_rows(n))
    choices = {"relation": RELATIONS, "confidence": SHARES, "device": WORDS, "agreement": AGREEMENTS}
    how = draw(options(**choices, weights=weights(n), clusters=clusters(n), population=POPULATIONS))
    if "population" in how and draw(st.booleans()):
        answers = given[1]
        model = draw(st.sampled_from([lambda rows: answers, lambda rows: ["a"] * len(rows), lambda rows: rows]))
        given = given[0], model, given[2]
    return lambda: fs.sufficiency(*given, **how)


def _training():
    texts = st.lists(st.sampled_from(hostile.TEXTS), max_size=3)
    return st.one_of(
        SIZES.flatmap(hostile.matrices), SIZES.flatmap(hostile.tables), SIZES.flatmap(grid), texts, SCALARS
    )


@target("RealRows", MEASURES, 1)
def _(draw):
    return lambda: fs.RealRows()


@target("Perturbed", MEASURES, 40)
def _(draw):
    words = st.one_of(WORDS, SCALARS)
    how = draw(options(draws=COUNTS, seed=SEEDS, keep=SHARES, unknown=words))
    X_train = draw(_training())
    return lambda: repr(fs.Perturbed(X_train, **how))


@target("Product", MEASURES, 40)
def _(draw):
    X_train, how = draw(_training()), draw(options(draws=COUNTS, seed=SEEDS))
    return lambda: repr(fs.Product(X_train, **how))


@target("Conditional", MEASURES, 40)
def _(draw):
    X_train, how = draw(_training()), draw(options(k=COUNTS))
    return lambda: repr(fs.Conditional(X_train, **how))


def _drawing(kind, **few):
    @target(f"{kind.__name__}.draw", MEASURES, 60)
    def _(draw):
        n = draw(SIZES)
        given, X, X_train = draw(explanations(n)), draw(some_rows(n)), draw(_training())
        return lambda: kind(X_train, **few).draw(given, X)


for _kind, _few in ((fs.Perturbed, {"draws": 2}), (fs.Product, {"draws": 2}), (fs.Conditional, {"k": 2})):
    _drawing(_kind, **_few)


@target("drawn", MEASURES, 100)
def _(draw):
    n = draw(SIZES)
    given = draw(explanations(n))
    nested = st.lists(st.one_of(hostile.matrices(2), hostile.tables(2), hostile.columns(2)), min_size=n, max_size=n)
    rows = draw(st.one_of(nested, some_rows(n), _training()))
    answers = st.lists(labels(2), min_size=n, max_size=n)
    predictions = draw(st.one_of(st.none(), labels(n), answers, SCALARS, st.just(lambda rows: ["a"] * len(rows))))
    of = st.one_of(hostile.columns(n), st.just(list(range(n))), SCALARS)
    how = draw(options(of=of, only_covered=st.sampled_from([True, False, 1, None])))
    own = draw(labels(n))
    return lambda: fs.sufficiency(given, own, population=fs.drawn(given, rows, predictions, **how))


@target("necessity", MEASURES, 80)
def _(draw):
    n = draw(SIZES)
    given = draw(explanations(n)), draw(labels(n)), draw(some_rows(n))
    choices = {"relation": RELATIONS, "confidence": SHARES, "interval": WORDS, "agreement": AGREEMENTS}
    how = draw(options(**choices, weights=weights(n), clusters=clusters(n)))
    return lambda: fs.necessity(*given, **how)


@target("encoding", MEASURES, 80)
def _(draw):
    n = draw(SIZES)
    given = draw(explanations(n)), draw(labels(n)), draw(some_rows(n))
    choices = {"relation": RELATIONS, "confidence": SHARES, "agreement": AGREEMENTS}
    how = draw(options(**choices, weights=weights(n), clusters=clusters(n)))
    return lambda: fs.encoding(*given, **how)


@target("within", MEASURES, 50)
def _(draw):
    n = draw(SIZES)
    given = draw(st.one_of(grid(n), explanations(n))), draw(labels(n)), draw(DISTANCES)
    how = draw(options(metric=METRICS, confidence=SHARES, device=WORDS, agreement=AGREEMENTS))
    return lambda: fs.within(*given, **how)


@target("within_curve", MEASURES, 30)
def _(draw):
    n = draw(SIZES)
    taus = draw(st.one_of(st.just([0.0, 1.0]), st.lists(DISTANCES, max_size=3), SCALARS))
    given = draw(st.one_of(grid(n), explanations(n))), draw(labels(n)), taus
    how = draw(options(metric=METRICS, confidence=SHARES, device=WORDS))
    return lambda: fs.within_curve(*given, **how)


@target("explainer_agreement", MEASURES, 60)
def _(draw):
    n = draw(SIZES)
    named = st.dictionaries(st.sampled_from([*hostile.TEXTS[:6], 3, None]), explanations(n), max_size=3)
    alike = grid(n).map(lambda matrix: {"a": matrix, "b": -matrix, "c": matrix[::-1]})
    given = draw(st.one_of(alike, named, named, explanations(n), SCALARS))
    per_name = st.dictionaries(st.sampled_from([*hostile.TEXTS[:3], "a"]), DISCRETIZERS, max_size=2)
    chosen = st.one_of(DISCRETIZERS, per_name)
    how = draw(options(discretizer=chosen, k=COUNTS, confidence=SHARES, weights=weights(n), clusters=clusters(n)))
    return lambda: fs.explainer_agreement(given, **how)


@target("Close", MEASURES, 20)
def _(draw):
    eps = draw(st.one_of(DISTANCES, SCALARS))
    return lambda: fs.Close(eps)


@target("Tolerance", MEASURES, 20)
def _(draw):
    eps = draw(st.one_of(DISTANCES, SCALARS))
    return lambda: fs.Tolerance(eps)


@target("Spread", MEASURES, 1)
def _(draw):
    return lambda: fs.Spread()


@target("Same", MEASURES, 1)
def _(draw):
    return lambda: fs.Same()


@target("tolerance_curve", MEASURES, 30)
def _(draw):
    n = draw(SIZES)
    eps = draw(st.one_of(st.none(), st.just([0.5, 2.0]), st.lists(DISTANCES, max_size=3), SCALARS))
    given = draw(explanations(n)), draw(labels(n)), eps
    kinds = st.sampled_from([fs.Close, fs.Tolerance, "close", "tolerance", fs.Spread, fs.Close(1.0)])
    how = draw(
        options(
            agreement=kinds,
            discretizer=DISCRETIZERS,
            X=some_rows(n),
            relation=RELATIONS,
            confidence=SHARES,
            weights=weights(n),
        )
    )
    return lambda: fs.tolerance_curve(*given, **how)


@target("certify", MEASURES, 30)
def _(draw):
    n = draw(SIZES)
    given = draw(explanations(n)), draw(labels(n))
    several = st.one_of(DISCRETIZERS, st.lists(DISCRETIZERS, max_size=3))
    choices = {"discretizers": several, "confidence": SHARES, "interval": WORDS, "agreement": AGREEMENTS}
    how = draw(options(**choices, clusters=clusters(n)))
    return lambda: fs.certify(*given, **how)


@target("evaluate", WHOLE, 70)
def _(draw):
    n = draw(SIZES)
    predict, explainer = draw(labels(n)), draw(explanations(n))
    predict = draw(st.sampled_from([predict, lambda X: predict]))
    explainer = draw(st.sampled_from([explainer, lambda X: explainer]))
    how = draw(
        options(
            discretizer=st.one_of(DISCRETIZERS, st.builds(fs.Best)),
            confidence=SHARES,
            interval=WORDS,
            weights=weights(n),
            relation=RELATIONS,
            agreement=AGREEMENTS,
            output=st.one_of(WORDS, st.sampled_from(["label", "probability"])),
            seed=SEEDS,
            cache=st.sampled_from([None, 3, "\0", ["here"]]),
            progress=st.sampled_from([None, True, False, 3, "yes", lambda *_: None]),
        )
    )
    X = draw(some_rows(n))
    return lambda: fs.evaluate(predict, explainer, X, **{"progress": False, **how})


@target("compare", WHOLE, 40)
def _(draw):
    n = draw(SIZES)
    named = st.dictionaries(st.sampled_from([*hostile.TEXTS[:9], 3, None]), explanations(n), max_size=2)
    given = draw(labels(n)), draw(st.one_of(named, named, explanations(n))), draw(some_rows(n))
    per_name = st.dictionaries(st.sampled_from(hostile.TEXTS), DISCRETIZERS, max_size=2)
    chosen = st.one_of(DISCRETIZERS, per_name, st.builds(fs.Best))
    how = draw(options(discretizer=chosen, confidence=SHARES, groups=labels(n), seed=SEEDS, agreement=AGREEMENTS))
    return lambda: fs.compare(*given, progress=False, **how)


@target("repeatability", WHOLE, 70)
def _(draw):
    n, alike = draw(SIZES), draw(st.booleans())
    first = draw(of_any_kind(n)) if n and alike else draw(explanations(n))
    others = draw(st.lists(st.just(first) if alike else explanations(n), min_size=1, max_size=2))
    runs = [first, *others]
    makers = [runs, tuple(runs), dict(enumerate(runs)), runs[:1], first, lambda seed: runs[seed % len(runs)], 3, None]
    makers += [lambda seed: lambda X: runs[seed % len(runs)], lambda X: X[:, 0], fs.explainers.Lime]
    explain, X = draw(st.sampled_from(makers)), draw(st.one_of(st.none(), some_rows(n)))
    how = draw(
        options(
            runs=st.one_of(st.sampled_from([2, 3]), SCALARS),
            discretizer=DISCRETIZERS,
            confidence=SHARES,
            weights=weights(n),
            clusters=clusters(n),
            cache=st.sampled_from([None, 3, "\0", ["here"]]),
        )
    )
    if isinstance(how.get("runs"), int | float) and how["runs"] > 9:
        how["runs"] = 4  # as many would be made
    return lambda: fs.repeatability(explain, X, progress=False, **how)


@target("local", WHOLE, 40)
def _(draw):
    n = draw(SIZES)
    explanations, predictions, X = draw(of_any_kind(max(1, n))), draw(labels(max(1, n))), draw(some_rows(max(1, n)))
    x = draw(st.one_of(grid(1), grid(1).map(lambda m: m[0]), SCALARS, hostile.columns(1), hostile.tables(1)))
    predict = draw(
        st.sampled_from(
            [lambda rows: predictions[: len(rows)] if isinstance(predictions, list) else predictions, 3, predictions]
        )
    )
    explain = draw(
        st.sampled_from(
            [lambda rows: explanations.take(np.arange(min(len(explanations), len(rows)))), explanations, None]
        )
    )
    how = draw(options(discretizer=DISCRETIZERS, confidence=SHARES, relation=RELATIONS, agreement=AGREEMENTS))
    return lambda: fs.local(x, predict, explain, X, **how)


@target("sample_until", WHOLE, 50)
def _(draw):
    n = draw(st.sampled_from([1, 3, 8]))
    batch = st.one_of(st.tuples(explanations(n), labels(n)), SCALARS, st.tuples(SCALARS, SCALARS))
    source = draw(st.one_of(st.lists(batch, max_size=3), SCALARS))
    explanation = draw(st.one_of(of_any_kind(1), SCALARS, grid(1)))
    given = draw(st.sampled_from([0.1, 0.3, 0.9])), draw(st.sampled_from([1, 5, 100]))
    epsilon, budget = draw(st.one_of(st.just(given), st.tuples(SHARES, COUNTS)))
    how = draw(options(prediction=SCALARS, discretizer=DISCRETIZERS, confidence=SHARES))
    return lambda: fs.sample_until(source, explanation, epsilon, budget, **how)


@target("plan", PLANS, 60)
def _(draw):
    given = draw(st.one_of(evaluations(), evaluations().map(lambda ev: ev.consistency), SCALARS))
    how = draw(options(unverifiable=SHARES, confidence=SHARES))
    return lambda: fs.plan(given, **how)


@target("mse_bound", PLANS, 60)
def _(draw):
    given = draw(st.one_of(st.none(), evaluations(), SCALARS))
    p = st.one_of(
        st.just([0.5, 0.5]), hostile.columns(2), st.lists(st.sampled_from([0, 1, 0.5, math.nan, -1]), max_size=3)
    )
    how = draw(st.fixed_dictionaries({}, optional={"p": p, "q": p, "n": COUNTS, "confidence": SHARES}))
    return lambda: fs.mse_bound(given, **how)


@target("sample_size", PLANS)
def _(draw):
    given = draw(st.tuples(st.one_of(COUNTS, SCALARS), st.one_of(SHARES, SCALARS)))
    return lambda: fs.sample_size(*given)


@target("local_sample_size", PLANS)
def _(draw):
    given = draw(st.tuples(st.one_of(SHARES, SCALARS), SHARES))
    return lambda: fs.local_sample_size(*given)


@target("assert_faithful", PLANS)
def _(draw):
    groups = evaluations().map(lambda ev: ev.by([0] * len(ev.predictions)))
    estimates = evaluations().map(lambda ev: ev.consistency)
    given = draw(st.one_of(evaluations(), estimates, comparisons(), groups, SCALARS))
    measures = st.sampled_from([None, "consistency", "sufficiency", "necessity", "", 3, ["consistency"]])
    names = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.just("a"))
    how = draw(options(at_least=SHARES, measure=measures, by=SIZES.flatmap(labels), explainers=names))

    def call():
        try:
            fs.assert_faithful(given, **how)
        except Unfaithful as told:  # an answer too
            return str(told)
        return None

    return call


@target("sklearn.scorer", WHOLE, 30)
def _(draw):
    n = draw(SIZES)
    answers, rows, given = draw(labels(n)), draw(some_rows(n)), draw(explanations(n))
    makers = st.one_of(st.just(lambda model: given), SCALARS, st.sampled_from([fs.explainers.TreePath, None, len]))
    words = st.one_of(WORDS, st.sampled_from(["low", "value", "verified", "adjusted", "sufficiency"]))
    how = draw(options(measure=words, bound=words, discretizer=DISCRETIZERS, confidence=SHARES, agreement=AGREEMENTS))
    maker = draw(makers)

    def call():
        scored = scorer(maker, **how)
        return scored(lambda X: answers, rows) if maker is not len else scored

    return call


@target("Importances", KINDS, 80)
def _(draw):
    n = draw(SIZES)
    given = draw(st.one_of(hostile.matrices(n), hostile.tables(n)))
    how = draw(options(names=st.one_of(st.lists(SCALARS, max_size=3), SCALARS, st.just(["a", "b"]))))
    return lambda: fs.Importances(given, **how)


@target("read", KINDS, 80)
def _(draw):
    n = draw(SIZES)
    given = draw(st.one_of(hostile.matrices(n), hostile.tables(n), hostile.columns(n), hostile.foreign(n)))
    names = st.one_of(st.lists(SCALARS, max_size=3), SCALARS, st.just(["a", "b"]))
    how = draw(options(class_index=st.one_of(SCALARS, st.integers(0, 3)), top=SCALARS, features=names))
    return lambda: fs.read(given, **how)


@target("Highlights", KINDS, 50)
def _(draw):
    n = draw(SIZES)
    words = st.lists(st.one_of(st.sets(st.sampled_from(hostile.TEXTS)), SCALARS), min_size=n, max_size=n)
    given = draw(st.one_of(words, hostile.columns(n), hostile.tables(n)))
    vocabulary = st.one_of(
        SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.sampled_from(hostile.TEXTS), SCALARS, max_size=2)
    )
    how = draw(options(tokenizer=st.sampled_from([str.split, list, None, 3, "split"]), vocabulary=vocabulary))
    return lambda: fs.Highlights(given, **how)


@target("Reasons", KINDS, 60)
def _(draw):
    n = draw(SIZES)
    texts = st.one_of(st.lists(st.sampled_from(hostile.TEXTS), min_size=n, max_size=n), hostile.columns(n))
    given = draw(st.one_of(texts, hostile.tables(n), SCALARS))
    how = draw(options(inputs=st.one_of(texts, hostile.tables(n), SCALARS)))
    return lambda: fs.Reasons(given, **how)


FIELDS = ("input", "answer", "explanation", "id", "value", "rationale", "name", "scores", "epoch", "label", "score")
LIBRARY_FIELDS = (
    *FIELDS,
    "comment",
    "traceId",
    "messages",
    "custom_id",
    "response",
    "assessments",
    "a_score",
    "output",
)
CONDITIONS = st.fixed_dictionaries(
    {
        "feature": st.one_of(st.sampled_from(["a", "b", 0]), SCALARS),
        "op": st.one_of(st.sampled_from(["<", "is"]), SCALARS),
    },
    optional={"value": SCALARS, "low": SCALARS, "high": SCALARS, "not": SCALARS},
)


@st.composite
def logs(draw):
    """Records with fields of several libraries, as dicts, objects or tables, and their content hostile."""
    simple = st.one_of(st.sampled_from([*hostile.TEXTS, "yes", "no"]), SCALARS, CONDITIONS)
    nested = st.one_of(
        st.lists(simple, max_size=2), st.dictionaries(st.sampled_from(LIBRARY_FIELDS), simple, max_size=3)
    )
    fields = draw(st.lists(st.sampled_from(LIBRARY_FIELDS), unique=True, max_size=6))
    content = st.fixed_dictionaries({name: st.one_of(simple, simple, nested) for name in fields})
    rows = draw(st.lists(content, max_size=4))
    whole = st.sampled_from(
        [list, tuple, pd.DataFrame, lambda held: {"data": held}, lambda held: held[0] if held else None]
    )
    return draw(whole)([SimpleNamespace(**held) for held in rows] if draw(st.booleans()) else rows)


@target("read_rationales", KINDS, 150)
def _(draw):
    n = draw(SIZES)
    given = draw(st.one_of(logs(), logs(), hostile.tables(n), hostile.columns(n), hostile.foreign(n), SCALARS))
    names = st.one_of(st.sampled_from(LIBRARY_FIELDS), st.sampled_from(["value.a", ".", "..", ""]), SCALARS)
    nulls = st.sampled_from(["error", "drop", "key", "drop", None, 3])
    how = draw(options(name=names, answer=names, explanation=names, input=names, id=names, nulls=nulls))
    return lambda: fs.read_rationales(given, **how)


@target("Reasons.to_rules", KINDS, 80)
def _(draw):
    written = st.one_of(CONDITIONS, st.lists(CONDITIONS, max_size=3)).map(lambda held: json.dumps(held, default=str))
    texts = draw(st.lists(st.one_of(written, st.sampled_from(hostile.TEXTS)), max_size=4))
    features = st.one_of(st.just(["a", "b"]), st.lists(SCALARS, max_size=3), SCALARS, hostile.tables(3))
    how = draw(options(features=features, unreadable=st.sampled_from(["error", "uncovered", "uncovered", None, 3])))
    return lambda: fs.Reasons(texts).to_rules(**how)


@target("Reasons.to_highlights", KINDS, 40)
def _(draw):
    texts = draw(st.lists(st.sampled_from([*hostile.TEXTS, '"a"', "“b a”", "'c"]), max_size=4))
    inputs = draw(st.one_of(st.none(), st.just(["a b a"] * len(texts)), st.just(texts)))
    how = draw(options(unreadable=st.sampled_from(["error", "uncovered", "uncovered", None, 3])))
    return lambda: fs.Reasons(texts, inputs).to_highlights(**how)


@target("leakage", MEASURES, 40)
def _(draw):
    n = draw(SIZES)
    given = draw(st.one_of(reasons(max(1, n)), explanations(n))), draw(labels(n))
    words = st.one_of(SCALARS, st.lists(st.sampled_from([*hostile.TEXTS, 3, None]), max_size=3))
    choices = {"discretizer": DISCRETIZERS, "confidence": SHARES, "interval": WORDS, "words": words}
    how = draw(options(**choices, weights=weights(n), clusters=clusters(n)))
    return lambda: fs.leakage(*given, **how)


@target("Concepts", KINDS, 50)
def _(draw):
    n = draw(SIZES)
    given = draw(st.one_of(marks(n), hostile.matrices(n), hostile.tables(n), hostile.columns(n)))
    names = draw(st.one_of(st.just(["a", "b"]), st.none(), st.lists(SCALARS, max_size=3), SCALARS))
    return lambda: fs.Concepts(given, names)


@target("Codes", KINDS, 50)
def _(draw):
    n = draw(SIZES)
    sets = st.lists(st.one_of(st.lists(st.one_of(st.sampled_from(hostile.TEXTS), SCALARS), max_size=3), SCALARS))
    given = draw(st.one_of(sets, hostile.columns(n), hostile.tables(n), hostile.matrices(n)))
    how = draw(options(separator=st.one_of(st.sampled_from([";", "", " "]), SCALARS)))
    return lambda: fs.Codes(given, **how)


@target("Prototypes", KINDS, 50)
def _(draw):
    n = draw(SIZES)
    sets = st.lists(st.one_of(st.sets(st.integers(-1, 4), max_size=3), SCALARS), min_size=n, max_size=n)
    given = draw(st.one_of(st.just(np.zeros((n, 2), int)), sets, hostile.columns(n), hostile.tables(n)))
    how = draw(options(points=st.one_of(grid(3), hostile.tables(3)), metric=METRICS))
    return lambda: fs.Prototypes(given, **how)


@target("Counterfactuals", KINDS, 50)
def _(draw):
    n = draw(SIZES)
    given = st.one_of(grid(n), grid(n).map(with_words), hostile.tables(n))
    pair = draw(st.tuples(given, given))
    how = draw(options(names=st.one_of(st.just(["a", "b"]), st.lists(SCALARS, max_size=3), SCALARS), metric=METRICS))
    return lambda: fs.Counterfactuals(*pair, **how)


def _written_rules(n):
    odd = st.tuples(SCALARS, st.one_of(st.sampled_from(["<=", "in", "between", "not in", "=="]), SCALARS), SCALARS)
    condition = st.one_of(conditions(), conditions(), odd, SCALARS)
    return st.lists(st.one_of(st.lists(condition, max_size=3), SCALARS), min_size=n, max_size=n)


@target("Rules.from_conditions", KINDS, 80)
def _(draw):
    given = draw(st.one_of(_written_rules(draw(SIZES)), SCALARS))
    names = st.one_of(st.just(["x0", "x1"]), st.lists(SCALARS, max_size=3), SCALARS)
    how = draw(options(features=names))
    return lambda: fs.Rules.from_conditions(given, **how)


@target("Rules.parse", KINDS, 80)
def _(draw):
    piece = st.sampled_from(
        ["x0 <= 1", "2 < x1 <= 3.50", "x0 == a", "x0 in {1, b}", "and", "or missing", "(", '"', "x"]
    )
    text = st.one_of(piece, st.lists(piece, max_size=4).map(" and ".join), st.text(max_size=12), SCALARS)
    row = st.one_of(text, text, st.lists(st.one_of(text, st.tuples(text, SCALARS)), max_size=3))
    given = draw(st.one_of(st.lists(row, max_size=4), SCALARS))
    how = draw(options(features=st.one_of(st.just(["x0", "x1"]), st.lists(SCALARS, max_size=3), SCALARS)))
    return lambda: fs.Rules.parse(given, **how)


@target("Rules.from_bins", KINDS, 60)
def _(draw):
    n = draw(SIZES)
    bounds = st.one_of(grid(n), hostile.tables(n), st.just(np.full((n, 2), -np.inf)))
    given = draw(bounds), draw(bounds), draw(st.one_of(st.just(["a", "b"]), st.lists(SCALARS, max_size=3), SCALARS))
    return lambda: fs.Rules.from_bins(*given)


@target("Rules.from_tree", KINDS, 25)
def _(draw):
    given = draw(st.one_of(st.just(_tree()), SCALARS)), draw(st.one_of(grid(3), hostile.tables(3)))
    how = draw(options(features=st.one_of(st.just(["a", "b"]), st.lists(SCALARS, max_size=3), SCALARS)))
    return lambda: fs.Rules.from_tree(*given, **how)


def _tree():
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0).fit([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], [0, 1, 1])


def _discretizer(kind, settings):
    @target(kind.__name__, DISCRETE)
    def _(draw):
        n = draw(SIZES)
        options, given = draw(settings), draw(of_any_kind(max(1, n)))
        wild = draw(st.one_of(st.just(given), hostile.matrices(n)))

        def call():
            explanations = wild if wild is given else fs.Importances(wild)
            return kind(*options)(explanations)

        return call


for kind in (fs.Sign, fs.Rank, fs.Delta, fs.DeltaSign, fs.Modified):
    _discretizer(kind, st.just(()))
for kind in (fs.Floor, fs.Truncate, fs.SignOfTop, fs.TopFeatures, fs.TopRegions):
    _discretizer(kind, st.tuples(st.one_of(st.integers(-320, 320), COUNTS, SCALARS)))
_discretizer(fs.ReasonCodes, st.tuples(COUNTS, SCALARS, st.one_of(st.booleans(), SCALARS)))
WRITTEN = st.sampled_from(["a", r"(a+)+$", "", "(", ".*.*.*.*.*x", r"\bnot\b", "n't", "."])
PATTERNS = st.one_of(WRITTEN, st.text(), SCALARS)
_discretizer(fs.Codebook, st.tuples(st.dictionaries(st.sampled_from(["g", "other", "", 1]), PATTERNS), SCALARS))
_discretizer(fs.Phrases, st.tuples(st.one_of(st.lists(st.sampled_from([*hostile.TEXTS, 3]), max_size=3), SCALARS)))
_discretizer(fs.Template, st.tuples(st.one_of(st.none(), st.lists(SCALARS, max_size=3), SCALARS)))
_discretizer(fs.CommonPhrases, st.tuples(COUNTS, SEEDS))
_discretizer(fs.Clusters, st.tuples(st.one_of(grid(3), hostile.tables(3)), COUNTS, SEEDS))


@target("CommonPhrases.learned_from", DISCRETE)
def _(draw):
    given = draw(explanations(draw(SIZES)))
    return lambda: fs.CommonPhrases(2).learned_from(given)


@target("Codebook.load", DISCRETE)
def _(draw):
    content = draw(st.one_of(st.binary(max_size=40), st.sampled_from([b'{"a": "b"}', b"[]", b'{"a": "(a+)+"}', None])))
    odd = draw(st.one_of(st.none(), SCALARS))

    def call():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "codes.json"
            if content is not None:
                path.write_bytes(content)
            return fs.Codebook.load(path if odd is None else odd).names

    return call


@target("Codebook.names", DISCRETE, 1)
def _(draw):
    return lambda: fs.Codebook({"a": "b"}).names


GROUPS = st.dictionaries(st.sampled_from(["g", "a", 1]), st.lists(st.sampled_from(["a", "b", "x0", "x1", 2])))
_discretizer(fs.Grouped, st.tuples(st.one_of(GROUPS, SCALARS)))


@target("Grouped.from_pipeline", DISCRETE)
def _(draw):
    from sklearn.compose import ColumnTransformer
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    parts = [OneHotEncoder(), StandardScaler(), PCA(1), "passthrough", "drop"]
    part, columns = draw(st.sampled_from(parts)), draw(st.lists(st.sampled_from([0, 1]), unique=True))
    encoder = ColumnTransformer([("part", part, columns)], remainder=draw(st.sampled_from(["drop", "passthrough"])))
    fitted = make_pipeline(encoder).fit([[0.0, 1.0], [1.0, 3.0], [1.0, 0.0]])
    given = draw(st.one_of(st.sampled_from([fitted, fitted[0], encoder, part, make_pipeline(part)]), SCALARS))
    return lambda: fs.Grouped.from_pipeline(given)


@target("Pool", DISCRETE)
def _(draw):
    n = draw(SIZES)
    grid = draw(st.one_of(COUNTS, SCALARS, st.lists(st.one_of(st.integers(0, 3), COUNTS), max_size=4).map(tuple)))
    shape = draw(st.sampled_from([None, None, 2, (2,), (1, 2), (2, 1), (3, 3), (), "2", (2, math.nan)]))
    channels = draw(st.sampled_from([None, None, "first", "last", "middle", 1]))
    given = draw(of_any_kind(max(1, n)))
    wild = draw(st.one_of(st.just(given), hostile.matrices(n)))

    def call():
        explanations = wild if wild is given else fs.Importances(wild)
        return fs.Pool(grid, shape=shape, channels=channels)(explanations)

    return call


@target("Ball", DISCRETE)
def _(draw):
    given = draw(st.one_of(DISTANCES, SCALARS))
    return lambda: fs.Ball(given)


@target("Nearest", DISCRETE, 1)
def _(draw):
    return fs.Nearest


@target("Judged", MEASURES, 120)
def _(draw):
    n = draw(SIZES)
    cells = st.sampled_from([0, 1, True, False, None, math.nan, 0.5, "1", 2])
    good = st.sampled_from([0, 1, None])
    grids = [st.lists(st.lists(cell, min_size=n, max_size=n), min_size=n, max_size=n) for cell in (good, cells)]
    column = st.one_of(st.lists(st.integers(0, max(0, n)), min_size=n, max_size=n), hostile.columns(n))
    long = st.fixed_dictionaries(dict.fromkeys(("row", "explanation", "applies", "text"), column))
    answers = draw(st.one_of(*grids, grids[0].map(np.array), long, hostile.matrices(n), SCALARS))
    given = draw(st.one_of(st.just([f"reason {row}" for row in range(n)]), explanations(n))), draw(labels(n))
    return lambda: fs.sufficiency(*given, relation=fs.Judged(answers))


@target("pairs_to_ask", MEASURES, 40)
def _(draw):
    given, many = draw(explanations(draw(SIZES))), draw(st.one_of(COUNTS, st.none()))
    how = draw(options(seed=SEEDS, own=SCALARS))
    return lambda: fs.pairs_to_ask(given, many, **how)


@target("Best", DISCRETE)
def _(draw):
    n = draw(SIZES)
    several = draw(st.one_of(st.none(), st.lists(DISCRETIZERS, max_size=3), SCALARS))
    given = draw(labels(n)), draw(explanations(n)), draw(some_rows(n))
    how = draw(options(seed=SEEDS))
    return lambda: fs.evaluate(*given, discretizer=fs.Best(several), progress=False, **how)


@target("GibbsDecoder", DISCRETE)
def _(draw):
    given = draw(st.one_of(evaluations(), SCALARS)), draw(DISCRETIZERS), draw(SEEDS)
    return lambda: fs.GibbsDecoder(*given)


@target("OptimalDecoder", DISCRETE)
def _(draw):
    given = draw(st.one_of(evaluations(), SCALARS)), draw(DISCRETIZERS)
    return lambda: fs.OptimalDecoder(*given)


@target("testing.check_consistency", TESTING, 10)
def _(draw):
    answer, cases = draw(SCALARS), faithscope.testing.CASES[:5]
    vectors = draw(st.booleans())
    return lambda: str(faithscope.testing.check_consistency(lambda e, y: answer, cases, as_vectors=vectors))


@target("testing.check_sufficiency", TESTING, 10)
def _(draw):
    answer = draw(SCALARS)
    return lambda: str(faithscope.testing.check_sufficiency(lambda e, X, y: answer))


@target("testing.check_consistency_of_numbers", TESTING, 10)
def _(draw):
    answer, cases = draw(SCALARS), faithscope.testing.NUMBER_CASES[:5]
    return lambda: str(faithscope.testing.check_consistency_of_numbers(lambda e, y, word: answer, cases))


@target("testing.check_sufficiency_of_numbers", TESTING, 10)
def _(draw):
    answer = draw(SCALARS)
    return lambda: str(faithscope.testing.check_sufficiency_of_numbers(lambda e, X, y, word: answer))


@target("testing.hard_systems", TESTING, 10)
def _(draw):
    n = draw(st.one_of(SCALARS, st.integers(0, 200)))
    return lambda: faithscope.testing.hard_systems(n)


LOG = pd.DataFrame(
    {"phi_a": [0.0, 1.0, 0.0, 1.0], "phi_b": [1.0, 1.0, 1.0, 0.0], "yhat": list("abab"), "g": [1, 1, 2, 2]}
)
LOG["when"] = pd.date_range("2026-01-01", periods=4)
NAMES = st.one_of(
    st.sampled_from(["yhat", "phi_*", "phi_a", "g", "when", "*", "?", "[", "nothing"]),
    st.lists(SCALARS, max_size=2),
    SCALARS,
)


@target("audit", AUDITS, 40)
def _(draw):
    n = draw(st.sampled_from([0, 1, 4]))
    table = draw(st.one_of(st.just(LOG), st.just(LOG), st.just(LOG), hostile.tables(n), SCALARS))
    how = draw(
        options(
            prediction=NAMES,
            explanation=NAMES,
            kind=st.one_of(
                st.sampled_from(["importances", "keys", "rules", "words", "prototypes", "counterfactuals"]), WORDS
            ),
            discretizer=DISCRETIZERS,
            by=NAMES,
            time=NAMES,
            every=WORDS,
            reference=st.one_of(st.just(LOG), st.just(LOG[:1]), SCALARS),
            nulls=WORDS,
            confidence=SHARES,
            interval=WORDS,
            connect=st.sampled_from(["", "duckdb://", "nonsense://x", "postgres://a:secret@localhost:1/x", "\0", 3]),
            id=NAMES,
            clusters=NAMES,
            agreement=AGREEMENTS,
        )
    )
    return lambda: fs.audit(table, **{"prediction": "yhat", "explanation": "phi_*", **how})
