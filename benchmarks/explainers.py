"""How fast Lime, Shap, Anchors and Counterfactual are beside lime, shap, anchor-exp and dice-ml, and how good they are.

    python benchmarks/explainers.py             # some minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/explainers.py --quick     # under a minute, on few rows; nothing is judged
    python benchmarks/explainers.py --rows 2000 --json results.json --plot explainers.png

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
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from explained import DEFAULTS, PAPERS, AnchorExp, Clocked, Condition, DiceRandom, system, versions
from faithscope import Rules
from faithscope.explainers import Anchors, Counterfactual, Lime, Shap
from ratios import Line, clock, conclude, describe_machine, is_missing, measure, options

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

    def run(self) -> Any:
        """Do the work once more."""
        self.model.seconds, self.model.rows = 0.0, 0
        seconds, answer = clock(self.work)
        if seconds < self.best:
            self.best, self.inside = seconds, self.model.seconds / seconds
        return answer

    @property
    def asked(self) -> int:
        """Rows that the model was asked about in the last run."""
        return self.model.rows

    @property
    def pace(self) -> float:
        """Seconds of one explanation."""
        return self.best / self.rows


def compete(contestants: dict[str, Contestant], runs: int) -> dict[str, Any]:
    """The answer of each contestant, after a few runs in turns."""
    answers: dict[str, Any] = {}
    for _ in range(runs):
        answers |= {name: contestant.run() for name, contestant in contestants.items()}
    return answers


def faster(what: str, pair: dict[str, Contestant], at_least: float | None, note: str = "") -> Line:
    """How much faster the first is than the second."""
    ours, rival = pair.values()
    inside = ", ".join(f"{contestant.inside:.0%}" for contestant in pair.values())
    note = f"{inside} of it in the model; {note}" if note else f"{inside} of it in the model"
    seconds = {name: contestant.pace for name, contestant in pair.items()}
    limit = {"the model": ours.pace * ours.inside}
    return Line(what, rival.pace / ours.pace, at_least=at_least, seconds=seconds, note=note, limit=limit)


def against_lime(sizes: Sizes) -> Iterator[Line]:
    if is_missing("lime"):
        return
    setup, package = system(), lime_package(0)
    for what, settings, draws, bar in (
        ("Lime, faster than lime", PAPERS, "shared", 60),
        ("  100 trees of depth 6", DEFAULTS, "shared", 100),
        ("  draws of each row's own", PAPERS, "own", None),
    ):
        model = setup.train(**settings)
        a, b = Clocked(model.predict_proba), Clocked(model.predict_proba)
        ours = Lime(a, setup.known, categorical=list(setup.categories), draws=draws)
        rows, few = setup.rows[: sizes.rows], setup.rows[: sizes.lime]
        each = partial(package.explain_instance, predict_fn=b, num_features=len(setup.names))
        pair = {
            "faithscope": Contestant(partial(ours.explain, rows), a, len(rows)),
            "lime": Contestant(lambda each=each, few=few: [each(row) for row in few], b, len(few)),
        }
        compete(pair, sizes.runs)
        yield faster(what, pair, bar)
    yield from as_lime(sizes)


def lime_package(seed: int) -> Any:
    """The explainer of the lime package, for all features."""
    asked = {"categorical_features": list(system().categories), "feature_selection": "none", "random_state": seed}
    return importlib.import_module("lime.lime_tabular").LimeTabularExplainer(system().known, **asked)


def as_lime(sizes: Sizes) -> Iterator[Line]:
    """How our coefficients differ from lime's, in lime's own spread over seeds."""
    setup, rows = system(), system().rows[: sizes.seeded]
    model, known = setup.train(**PAPERS), {"categorical": list(setup.categories)}
    ours, theirs = [], []
    for seed in range(sizes.seeded):
        ours.append(Lime(model, setup.known, seed=seed, **known).explain(rows).values)
        ask = partial(
            lime_package(seed).explain_instance, predict_fn=model.predict_proba, num_features=len(setup.names)
        )
        theirs.append([[number for _, number in sorted(ask(row).local_exp[1])] for row in rows])
    means, spreads = ([getattr(np.array(each), name)(axis=0) for each in (ours, theirs)] for name in ("mean", "var"))
    error = np.sqrt(sum(spreads) / (sizes.seeded - 1))
    differ = error > 0
    apart = np.sqrt(np.mean(((means[0] - means[1])[differ] / error[differ]) ** 2))
    spread = [np.sqrt(each.mean()) for each in spreads]
    note = f"{len(rows)} rows, {sizes.seeded} seeds; spread over seeds {spread[0]:.4f} and {spread[1]:.4f}"
    yield Line("  spread over seeds, beside lime's", spread[0] / spread[1], at_most=1.25, note=note)
    yield Line("  mean over seeds, from lime's", apart, "se", at_most=1.5, note="about 1 if both are distributed alike")


def conditions_of(rules: Rules) -> list[list[Condition]]:
    place = {name: j for j, name in enumerate(rules.features)}
    return [[(place[name], *test) for name, *test in rule] for rule in rules.to_conditions()]


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
    rows, few = setup.rows[: sizes.rows], setup.rows[: sizes.anchors]
    for threshold in (0.5, 0.7, 0.95):
        clocks = [Clocked(model.predict) for _ in range(3)]
        work = {"anchor-exp": partial(AnchorExp(setup.known, package, threshold).explain, few, clocks[0])}
        for beam in (1, 4):
            ours = Anchors(
                clocks[len(work)], setup.known, threshold=threshold, beam=beam, categorical=list(setup.categories)
            )
            work[f"beam {beam}"] = partial(ours.explain, rows)
        counts = len(few), len(rows), len(rows)
        contestants = {who: Contestant(work[who], *them) for who, *them in zip(work, clocks, counts, strict=True)}
        answers = compete(contestants, min(2, sizes.runs))
        yield from judged(threshold, contestants, answers, model, sizes)


def judged(
    threshold: float, contestants: dict[str, Contestant], answers: dict[str, Any], model: Any, sizes: Sizes
) -> Iterator[Line]:
    """The lines of one threshold: how fast, how precise and how long, on the rows that all explained."""
    package = answers["anchor-exp"]
    ours = {beam: conditions_of(answers[beam])[: len(package)] for beam in ("beam 1", "beam 4")}
    good = {who: quality(rules, model, sizes) for who, rules in (ours | {"anchor-exp": package}).items()}
    empty = sum(not rule for rule in package)
    for beam, bar in (("beam 1", 30), ("beam 4", None)):
        what = f"Anchors at {threshold}, faster than anchor-exp" if bar else "  with a beam of 4"
        yield faster(what, {"faithscope": contestants[beam], "anchor-exp": contestants["anchor-exp"]}, bar)
        gain = 100 * (good[beam][0] - good["anchor-exp"][0])
        note = f"{good[beam][0]:.3f} and {good['anchor-exp'][0]:.3f}; {good[beam][1]:.2f} and "
        note += f"{good['anchor-exp'][1]:.2f} features per rule; {empty} of {len(package)} of anchor-exp's have none"
        yield Line("  more precise, on fresh draws", gain, "pp", at_least=-1 if bar else None, note=note)


def against_dice(sizes: Sizes) -> Iterator[Line]:
    if is_missing("dice_ml"):
        return
    setup = system()
    model = setup.train(**PAPERS)
    a, b = Clocked(model.predict), Clocked(model.predict_proba)
    ours, rows, few = (
        Counterfactual(a, setup.known, categorical=list(setup.categories)),
        setup.rows[: sizes.rows],
        sizes.dice,
    )
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
    yield faster("Counterfactual, faster than dice-ml random", pair, 50, note)


def against_shap(sizes: Sizes) -> Iterator[Line]:
    if is_missing("shap"):
        return
    setup = system()
    background, rows, few = setup.known[:100], setup.rows[: sizes.mixed], setup.rows[: sizes.shap]
    for settings in (PAPERS, DEFAULTS):
        model = setup.train(**settings)
        for algorithm, rival in (("permutation", shap_permutations), ("kernel", shap_kernel)):
            a, b = (Clocked(lambda asked, model=model: model.predict_proba(asked)[:, 1]) for _ in range(2))
            ours = Shap(a, background, algorithm=algorithm)
            pair = {
                "faithscope": Contestant(partial(ours.explain, rows), a, len(rows)),
                "shap": Contestant(partial(rival, b, background, few), b, len(few)),
            }
            explanations = compete(pair, min(2, sizes.runs))["faithscope"]
            needed = explanations.asked + explanations.saved
            note = f"{explanations.asked / len(rows):,.0f} and {pair['shap'].asked / len(few):,.0f} rows asked about; "
            note += f"{explanations.saved / needed:.0%} of ours saved"
            by = f"Shap by {algorithm}, faster than shap"
            yield faster(by if settings is PAPERS else f"  {algorithm}, 100 trees of depth 6", pair, None, note)


def shap_permutations(model: Any, background: np.ndarray, rows: np.ndarray) -> np.ndarray:
    library = importlib.import_module("shap")
    explainer = library.PermutationExplainer(model, library.maskers.Independent(background, len(background)), seed=0)
    return explainer(rows, max_evals=10 * (2 * rows.shape[1] + 1), silent=True).values


def shap_kernel(model: Any, background: np.ndarray, rows: np.ndarray) -> np.ndarray:
    np.random.seed(0)  # noqa: NPY002 - theirs
    explainer = importlib.import_module("shap").KernelExplainer(model, background)
    return explainer.shap_values(rows, nsamples=2_048 + 2 * rows.shape[1], l1_reg=False, silent=True)


def draw(lines: list[Line], path: Path) -> None:
    """Milliseconds of an explanation on a logarithmic axis, ours beside theirs."""
    if not importlib.util.find_spec("altair"):
        print("skipped: the picture needs altair")
        return
    alt = importlib.import_module("altair")
    timed = [line for line in lines if line.seconds and not line.what.startswith("  ")]
    bars = [
        {
            "what": line.what.split(",")[0],
            "by": "faithscope" if by == "faithscope" else "the other",
            "ms": 1e3 * seconds,
        }
        for line in timed
        for by, seconds in line.seconds.items()
    ]
    axes = {
        "x": alt.X("ms:Q", title="milliseconds an explanation").scale(type="log"),
        "y": alt.Y("what:N", title=None, sort=None),
        "color": alt.Color("by:N", title=None),
    }
    alt.Chart(alt.Data(values=bars)).mark_point(filled=True, size=90).encode(**axes).properties(width=460).save(path)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, metavar="N", help="rows that we explain")
    parser.add_argument("--plot", type=Path, metavar="PATH", help="also draw the times here (.svg or .png)")
    chosen = parser.parse_args()
    sizes = QUICK if chosen.quick else Sizes()
    sizes = replace(sizes, rows=chosen.rows or sizes.rows)
    machine, setup = f"{describe_machine(('faithscope', 'numpy'))}, {versions()}", system()
    print(machine)
    print(
        f"{len(setup.known):,} training rows of {len(setup.names)} features, {len(setup.categories)} of them categories"
    )
    lines = measure((against_lime, against_anchor_exp, against_dice, against_shap), sizes, not chosen.quick)
    if chosen.plot:
        draw(lines, chosen.plot)
    conclude(lines, machine, chosen)


if __name__ == "__main__":
    main()
