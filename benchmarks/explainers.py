"""How fast Lime, Shap, Anchors and Counterfactual are beside lime, shap, anchor-exp and dice-ml, and how good they are.

    python benchmarks/explainers.py             # some minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/explainers.py --quick     # under a minute, on few rows; nothing is judged
    python benchmarks/explainers.py --rows 2000 --json results.json

On Adult where FAITHSCOPE_DATA names a folder that holds it, else on the ten means of scikit-learn's breast cancer rows.
The model is boosted trees as the paper chose them for Adult, 50 of depth 5; without xgboost scikit-learn's. All rows
explained are rows that it was not trained on. We explain them all at once; the others go row by row, over fewer.

1. Lime against ``lime``, all features kept, 5,000 samples. Beside it xgboost's own defaults, 100 trees of depth 6, and
   draws of each row's own. Both explain some rows with several seeds: ours are distributed as lime's if their spread
   over seeds is the same, and their means are about one standard error apart (root mean square over rows and features).
2. Anchors against ``anchor-exp``, which uses a beam of 1 whatever it is asked for. The rules of both are judged alike,
   by a third program: training rows whose values that break the rule are replaced by others of the column that keep
   it, 2,000 for each rule. anchor-exp may give the rule without conditions, ours does only where the model never
   changes its mind. Our beam of 4 is there for the record.
3. Counterfactual against dice-ml's "random".
4. Shap against the permutation and kernel explainers of ``shap``, which are for any model: 100 background rows, as many
   permutations (ten, and their reverses) or coalitions (2,048, and 2 per feature), no feature selection. What each of
   them asked the model follows; ours takes the answers to equal mixtures of rows and background rows from one of them.

A time is that of one explanation, the best of a few runs in turns. How much of it was spent inside the model follows
it: what is left is what an explainer can be faster at.
"""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from explained import DEFAULTS, PAPERS, AnchorExp, Clocked, Condition, DiceRandom, system
from faithscope.explainers import Anchors, Counterfactual, Lime, Shap
from ratios import Line, clock, faster, is_missing, run

COMPARE = {"<=": np.less_equal, ">": np.greater, "==": np.equal}


@dataclass(frozen=True)
class Sizes:
    """How many rows are explained."""

    rows: int = 500  # by us
    lime: int = 40  # by lime
    seeded: int = 10  # by both, with as many seeds
    anchors: int = 40  # by anchor-exp
    dice: int = 20  # by dice-ml
    mixed: int = 60  # by Shap
    shap: int = 6  # by shap
    judged: int = 2_000  # draws under each rule
    runs: int = 3


QUICK = Sizes(40, 4, 3, 4, 3, 5, 1, 500, 1)


@dataclass
class Contestant:
    """Some work that asks a model, over so many rows."""

    work: Callable[[], Any]
    model: Clocked
    rows: int
    best: float = float("inf")
    inside: float = 0.0
    asked: int = 0  # rows that the model was asked about in the last run

    def run(self) -> Any:
        """Do the work once more."""
        self.model.seconds, self.model.rows = 0.0, 0
        seconds, answer = clock(self.work)
        self.asked = self.model.rows
        if seconds < self.best:
            self.best, self.inside = seconds, self.model.seconds / seconds
        return answer


def compete(contestants: dict[str, Contestant], runs: int) -> dict[str, Any]:
    """The answer of each contestant, after a few runs in turns."""
    return [{name: contestant.run() for name, contestant in contestants.items()} for _ in range(runs)][-1]


def quicker(what: str, pair: dict[str, Contestant], at_least: float | None, note: str = "") -> Line:
    """How much faster the first is than the second, per explanation."""
    seconds = {name: contestant.best / contestant.rows for name, contestant in pair.items()}
    inside = ", ".join(f"{contestant.inside:.0%}" for contestant in pair.values())
    limit = {"the model": seconds["faithscope"] * pair["faithscope"].inside}
    note = f"{inside} of it in the model" + (f"; {note}" if note else "")
    return faster(what, seconds, at_least=at_least, note=note, limit=limit)


def against_lime(sizes: Sizes) -> Iterator[Line]:
    if is_missing("lime"):
        return
    setup = system()
    for what, settings, draws, bar in (
        ("Lime, faster than lime", PAPERS, "shared", 60),
        ("  100 trees of depth 6", DEFAULTS, "shared", 100),
        ("  draws of each row's own", PAPERS, "own", None),
    ):
        model = setup.train(**settings)
        a, b = Clocked(model.predict_proba), Clocked(model.predict_proba)
        ours = Lime(a, setup.known, categorical=list(setup.categories), draws=draws)
        rows, few = setup.rows[: sizes.rows], setup.rows[: sizes.lime]
        pair = {
            "faithscope": Contestant(partial(ours.explain, rows), a, len(rows)),
            "lime": Contestant(partial(by_lime, lime_package(0), b, few), b, len(few)),
        }
        compete(pair, sizes.runs)
        yield quicker(what, pair, bar)
    yield from as_lime(sizes)


def lime_package(seed: int) -> Any:
    """The explainer of the lime package, made before the clock starts."""
    asked = {"categorical_features": list(system().categories), "feature_selection": "none", "random_state": seed}
    return importlib.import_module("lime.lime_tabular").LimeTabularExplainer(system().known, **asked)


def by_lime(package: Any, predict: Any, rows: np.ndarray) -> list[list[float]]:
    """The coefficients of the lime package, for all features."""
    explained = [package.explain_instance(row, predict, num_features=rows.shape[1]) for row in rows]
    return [[number for _, number in sorted(each.local_exp[1])] for each in explained]


def as_lime(sizes: Sizes) -> Iterator[Line]:
    """How our coefficients differ from lime's, in lime's own spread over seeds."""
    setup, rows = system(), system().rows[: sizes.seeded]
    model, known = setup.train(**PAPERS), {"categorical": list(setup.categories)}
    ours, theirs = [], []
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


def judge(rule: list[Condition], row: np.ndarray, model: Any, known: np.ndarray, draws: int) -> float:
    """Share of rows drawn under a rule that are predicted as the row is: its precision."""
    chance = np.random.default_rng(1)
    rows = known[chance.integers(len(known), size=draws)]
    for j in {feature for feature, _, _ in rule}:
        tests = [(COMPARE[operator], value) for feature, operator, value in rule if feature == j]
        keeps, kept = (np.all([test(of, value) for test, value in tests], axis=0) for of in (known[:, j], rows[:, j]))
        pool = known[keeps, j] if keeps.any() else row[[j]]
        rows[~kept, j] = chance.choice(pool, (~kept).sum())
    return float(np.mean(model.predict(rows) == model.predict(row[None])))


def quality(rules: list[list[Condition]], model: Any, sizes: Sizes) -> tuple[float, float]:
    """Mean precision of rules for the first rows, and on how many features they have a condition."""
    setup = system()
    precision = [
        judge(rule, row, model, setup.known, sizes.judged) for rule, row in zip(rules, setup.rows, strict=False)
    ]
    return float(np.mean(precision)), float(np.mean([len({j for j, _, _ in rule}) for rule in rules]))


def against_anchor_exp(sizes: Sizes) -> Iterator[Line]:
    if is_missing("anchor"):
        return
    setup, rival = system(), importlib.import_module("anchor.anchor_tabular").AnchorTabularExplainer
    package, model = rival([0, 1], setup.names, setup.known, setup.categories), setup.train(**PAPERS)
    rows, few, asked = setup.rows[: sizes.rows], setup.rows[: sizes.anchors], Clocked(model.predict)
    for threshold in (0.5, 0.7, 0.95):
        search = partial(AnchorExp(setup.known, package, threshold).explain, few, asked)
        contestants = {"anchor-exp": Contestant(search, asked, len(few))}
        for beam in (1, 4):
            ours = Anchors(asked, setup.known, threshold=threshold, beam=beam, categorical=list(setup.categories))
            contestants[f"beam {beam}"] = Contestant(partial(ours.explain, rows), asked, len(rows))
        answers = compete(contestants, min(2, sizes.runs))
        theirs = answers.pop("anchor-exp")
        precise, long = quality(theirs, model, sizes)
        empty = sum(not rule for rule in theirs)
        for (beam, rules), bar in zip(answers.items(), (30, None), strict=True):
            what = f"Anchors at {threshold}, faster than anchor-exp" if bar else "  with a beam of 4"
            pair = {"faithscope": contestants[beam], "anchor-exp": contestants["anchor-exp"]}
            yield quicker(what, pair, bar)
            place = {name: j for j, name in enumerate(rules.features)}
            written = [[(place[name], *test) for name, *test in rule] for rule in rules.to_conditions()[: len(few)]]
            good, wide = quality(written, model, sizes)
            note = f"{good:.3f} and {precise:.3f}; {wide:.2f} and {long:.2f} features per rule; "
            note += f"{empty} of {len(few)} of anchor-exp's have none"
            gain = 100 * (good - precise)
            yield Line("  more precise, on fresh draws", gain, "pp", at_least=-1 if bar else None, note=note)


def against_dice(sizes: Sizes) -> Iterator[Line]:
    if is_missing("dice_ml"):
        return
    setup = system()
    model = setup.train(**PAPERS)
    a, b = Clocked(model.predict), Clocked(model.predict_proba)
    ours = Counterfactual(a, setup.known, categorical=list(setup.categories))
    rows, few = setup.rows[: sizes.rows], sizes.dice
    ours.explain(rows[:1])  # learns the training rows, once for all
    package = DiceRandom(setup, b).explainer()
    pair = {
        "faithscope": Contestant(partial(ours.find, rows), a, len(rows)),
        "dice-ml": Contestant(partial(package, setup.rows[:few]), b, few),
    }
    answers = compete(pair, min(2, sizes.runs))
    (points, where), others = answers["faithscope"], answers["dice-ml"]
    changed = np.mean((points.points != points.originals).sum(axis=1))
    note = f"{changed:.2f} and {np.mean(others):.2f} features changed; none found for {len(rows) - len(where)} of "
    note += f"{len(rows)} and {few - len(others)} of {few} rows"
    yield quicker("Counterfactual, faster than dice-ml random", pair, 50, note)


def against_shap(sizes: Sizes) -> Iterator[Line]:
    if is_missing("shap"):
        return
    setup = system()
    background, rows, few = setup.known[:100], setup.rows[: sizes.mixed], setup.rows[: sizes.shap]
    for settings in (PAPERS, DEFAULTS):
        model = setup.train(**settings)
        for algorithm in ("permutation", "kernel"):
            a, b = (Clocked(lambda asked, model=model: model.predict_proba(asked)[:, 1]) for _ in range(2))
            ours = Shap(a, background, algorithm=algorithm)
            pair = {
                "faithscope": Contestant(partial(ours.explain, rows), a, len(rows)),
                "shap": Contestant(partial(by_shap, algorithm, b, background, few), b, len(few)),
            }
            explanations = compete(pair, min(2, sizes.runs))["faithscope"]
            needed = explanations.asked + explanations.saved
            note = f"{explanations.asked / len(rows):,.0f} and {pair['shap'].asked / len(few):,.0f} rows asked about; "
            note += f"{explanations.saved / needed:.0%} of ours saved"
            by = f"Shap by {algorithm}, faster than shap"
            yield quicker(by if settings is PAPERS else f"  {algorithm}, 100 trees of depth 6", pair, None, note)


def by_shap(algorithm: str, model: Any, background: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The values of the shap package."""
    library, width = importlib.import_module("shap"), rows.shape[1]
    if algorithm == "permutation":
        masker = library.maskers.Independent(background, len(background))
        explainer = library.PermutationExplainer(model, masker, seed=0)
        return explainer(rows, max_evals=10 * (2 * width + 1), silent=True).values
    np.random.seed(0)  # noqa: NPY002 - theirs
    explainer = library.KernelExplainer(model, background)
    return explainer.shap_values(rows, nsamples=2_048 + 2 * width, l1_reg=False, silent=True)


if __name__ == "__main__":
    libraries = ("faithscope", "numpy", "sklearn", "xgboost", "lime", "anchor", "dice_ml", "shap")
    run(__doc__, libraries, (against_lime, against_anchor_exp, against_dice, against_shap), Sizes(), QUICK, rows=int)
