"""How fast Lime and Anchors are beside lime and anchor-exp, and how good they are.

    python benchmarks/explainers.py             # some minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/explainers.py --quick     # under a minute, on few rows; nothing is judged

On Adult where FAITHSCOPE_DATA names a folder that holds it, else on the 8,000 of its rows that come with faithscope.
The model is boosted trees as the paper chose them for Adult, 50 of depth 5. All rows explained are rows that it
was not trained on. We explain them all at once; the others go row by row, over fewer.

1. Lime against ``lime``, all features kept, 5,000 samples. Beside it xgboost's own defaults, 100 trees of depth 6.
   Both explain some rows with several seeds: ours are distributed as lime's if their spread
   over seeds is the same, and their means are about one standard error apart (root mean square over rows and features).
2. Anchors against ``anchor-exp``, which uses a beam of 1 whatever it is asked for. The rules of both are judged alike,
   on 2,000 rows for each rule: training rows whose values that break it are replaced by others of the column that keep
   it. anchor-exp may give the rule without conditions, ours does only where the model never changes its mind.

A time is that of one explanation, the best of a few runs in turns.
"""

import os
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import xgboost
from numpy.random import default_rng

import faithscope as fs
from explained import anchor_exp
from faithscope.datasets import adult_sample, load
from faithscope.explainers import Anchors, Lime
from faithscope_reproduction.data import encode
from ratios import Line, clock, faster, is_missing, run

PAPERS = {"n_estimators": 50, "max_depth": 5, "learning_rate": 0.25}  # for Adult, in its table of settings
DEFAULTS = {"n_estimators": 100, "max_depth": 6, "learning_rate": 0.3}  # xgboost's


SIZES = {  # rows explained, in full and quickly
    "rows": (500, 40),  # by us
    "lime": (40, 4),  # by lime
    "seeded": (10, 3),  # by both, with as many seeds
    "anchors": (40, 4),  # by anchor-exp
    "judged": (2_000, 500),  # draws under each rule
    "runs": (3, 1),
}


@cache
def system():
    """Rows that models are trained on, two in three, and the others; categories are codes."""
    rows = load("adult") if os.environ.get("FAITHSCOPE_DATA") else adult_sample()
    X, words = encode(rows)
    known, others = np.split(default_rng(0).permutation(len(X)), [2 * len(X) // 3])
    return SimpleNamespace(
        names=list(rows.X),
        categories={j: list(each) for j, each in enumerate(words) if each},
        known=X[known],
        labels=(rows.y == rows.classes[1])[known].astype(int),
        rows=X[others],
    )


def trained(**settings):
    return xgboost.XGBClassifier(**settings).fit(system().known, system().labels)


def compete(contestants, runs):
    """Best seconds per explanation of each contestant in turns, on rows of its own; and what it answers."""
    best, answers = dict.fromkeys(contestants, float("inf")), {}
    for _ in range(runs):
        for name, (explain, rows) in contestants.items():
            seconds, answers[name] = clock(partial(explain, rows))
            best[name] = min(best[name], seconds / len(rows))
    return best, answers


def against_lime(sizes):
    if is_missing("lime"):
        return
    setup = system()
    known = {"categorical": list(setup.categories)}
    for what, settings, bar in (
        ("Lime, faster than lime", PAPERS, 60),
        ("  100 trees of depth 6", DEFAULTS, 100),
    ):
        predict = trained(**settings).predict_proba
        pair = {
            "faithscope": (Lime(predict, setup.known, **known).explain, setup.rows[: sizes.rows]),
            "lime": (partial(by_lime, lime_package(0), predict), setup.rows[: sizes.lime]),
        }
        yield faster(what, compete(pair, sizes.runs)[0], at_least=bar)
    # How our coefficients differ from lime's, in lime's own spread over seeds.
    rows, model, ours, theirs = setup.rows[: sizes.seeded], trained(**PAPERS), [], []
    for seed in range(sizes.seeded):
        ours.append(Lime(model, setup.known, seed=seed, **known).explain(rows).values)
        theirs.append(by_lime(lime_package(seed), model.predict_proba, rows))
    means, spreads = ([getattr(np.array(each), name)(axis=0) for each in (ours, theirs)] for name in ("mean", "var"))
    error = np.sqrt(sum(spreads) / (sizes.seeded - 1))
    differ = error > 0
    apart = np.sqrt(np.mean(((means[0] - means[1])[differ] / error[differ]) ** 2))
    spread = [np.sqrt(each.mean()) for each in spreads]
    note = f"{len(rows)} rows, {sizes.seeded} seeds; spread over seeds {spread[0]:.4f} and {spread[1]:.4f}"
    yield Line("  spread over seeds, beside lime's", spread[0] / spread[1], at_most=1.25, note=note)
    yield Line("  mean over seeds, from lime's", apart, "se", at_most=1.5, note="about 1 if both are distributed alike")


def lime_package(seed):
    """The explainer of the lime package, made before the clock starts."""
    from lime.lime_tabular import LimeTabularExplainer

    asked = {"categorical_features": list(system().categories), "feature_selection": "none", "random_state": seed}
    return LimeTabularExplainer(system().known, **asked)


def by_lime(package, predict, rows):
    """The coefficients of the lime package, for all features."""
    explained = [package.explain_instance(row, predict, num_features=rows.shape[1]) for row in rows]
    return [[number for _, number in sorted(each.local_exp[1])] for each in explained]


def quality(rules, model, draws):
    """Mean precision of rules for the first rows on rows drawn under each, and on how many features they decide."""
    drawn, X = fs.Perturbed(system().known, draws=draws), system().rows[: len(rules)]
    given = fs.Rules.from_conditions(rules, features=range(X.shape[1]))
    precision = fs.sufficiency(given, model.predict, X, population=drawn).value
    return precision, np.mean([len({j for j, _, _ in rule}) for rule in rules])


def against_anchor_exp(sizes):
    if is_missing("anchor"):
        return
    from anchor.anchor_tabular import AnchorTabularExplainer

    setup = system()
    package, model = AnchorTabularExplainer([0, 1], setup.names, setup.known, setup.categories), trained(**PAPERS)
    rows, few = setup.rows[: sizes.rows], setup.rows[: sizes.anchors]
    for threshold in (0.5, 0.7, 0.95):
        search = partial(anchor_exp, package, setup.known, threshold)
        contestants = {"anchor-exp": (lambda rows, search=search: search(rows, model.predict)[0], few)}
        known = {"threshold": threshold, "beam": 1, "categorical": list(setup.categories)}
        contestants["faithscope"] = Anchors(model.predict, setup.known, **known).explain, rows
        best, answers = compete(contestants, min(2, sizes.runs))
        written, rules = answers["anchor-exp"], answers["faithscope"]
        precise, long = quality(written, model, sizes.judged)
        empty = sum(not rule for rule in written)
        times = {name: best[name] for name in ("faithscope", "anchor-exp")}
        yield faster(f"Anchors at {threshold}, faster than anchor-exp", times, at_least=30)
        place = {name: j for j, name in enumerate(rules.features)}
        ours = [[(place[name], *test) for name, *test in rule] for rule in rules.to_conditions()[: len(few)]]
        good, wide = quality(ours, model, sizes.judged)
        note = f"{good:.3f} and {precise:.3f}; {wide:.2f} and {long:.2f} features per rule; "
        note += f"{empty} of {len(few)} of anchor-exp's have none"
        yield Line("  more precise, on fresh draws", 100 * (good - precise), "pp", at_least=-1, note=note)


if __name__ == "__main__":
    libraries = ("faithscope", "numpy", "sklearn", "xgboost", "lime", "anchor")
    run(__doc__, libraries, (against_lime, against_anchor_exp), SIZES, rows=int)
