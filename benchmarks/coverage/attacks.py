"""Intervals attacked: systems on which they fail, or might, each with the interval before and after its remedy.

- before: rows taken for independent, weights or silence as ``interval="jackknife"`` has them, a label taken for one
  that was named before looking, pairs each by itself, the interval that assumes no unseen row under many rules;
- after: what to do now, which is the default, unless the line says otherwise.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from harness import NOMINAL, Answers, Ask, Line, ends, named
from intervals import local, locally_sufficient, many_pairs, windowed
from systems import (
    COVERED,
    EQUAL_LABELS,
    EQUAL_LABELS_COVERED,
    GIVEN,
    Chance,
    FinitePopulation,
    beside,
    mixed,
    population,
    sliding,
)

import faithscope as fs
from faithscope.measures.comparing.populations import difference
from faithscope.testing import ClusteredRows, FittedLeaves, HubUnderDirections, HubUnderTopics, WeightedRows
from faithscope.testing.hard import contradicted, independent
from faithscope.testing.systems import equal, long_tail, mostly_pure

CONFIDENCES = (0.5, 0.8, 0.95, 0.99, 0.999)


def compare(measure: Callable[..., Any], before: dict[str, Any], after: dict[str, Any], taken: str = "") -> Ask:
    """One measure of the same rows with two settings; what is taken from the rows is known to the second alone."""

    def ask(system: Any, n: int, rng: Chance) -> Answers:
        rows = drawn(system, n, rng)
        known = {taken: rows.pop(taken)} if taken else {}
        return both(measure(**rows, **before), measure(**rows, **known, **after), system.truth)

    return ask


def drawn(system: Any, n: int, rng: Chance) -> dict[str, Any]:
    """Rows as keyword arguments."""
    rows = system.draw(n, rng)
    if isinstance(rows, dict):
        return rows
    given = {"explanations": rows[0]} if getattr(system, "covers", None) is None else system.ruled(rows[0])
    return {**given, "predictions": rows[1]}


def both(before: Any, after: Any, truth: float) -> Answers:
    """Two answers about one truth."""
    return {"before": ends(before, truth), "after": ends(after, truth)}


JACKKNIFE = {"interval": "jackknife"}
tightened = compare(fs.consistency, JACKKNIFE, {})
hub_under_rules = compare(fs.sufficiency, {}, {"interval": "any"})


def weighted_rules(system: WeightedRows, n: int, rng: Chance) -> Answers:
    """Sufficiency, with weights, of rules that partition the rows."""
    rows = system.draw(n, rng)
    place = rows.pop("explanations")[:, None].astype(float)
    rows |= {"explanations": fs.Rules.from_bins(place - 0.5, place + 0.5, ["x"]), "X": place}
    return both(fs.sufficiency(**rows, **JACKKNIFE), fs.sufficiency(**rows), system.truth)


def hub_further(system: HubUnderTopics, n: int, rng: Chance) -> Answers:
    """The default, and the default that knows ten times the rows without their predictions."""
    rows, further = system.draw(n, rng), system.draw(10 * n, rng)["X"]
    return both(fs.sufficiency(**rows), fs.sufficiency(**rows, further=further), system.truth)


def fitted(systems: tuple[FittedLeaves, ...], n: int, rng: Chance) -> Answers:
    """An explainer that was fitted on the rows it is judged on, and one that was fitted on other rows."""
    same, fresh = (fs.consistency(**leaves.draw(n, rng)) for leaves in systems)
    return both(same, fresh, systems[0].truth)


def sampled_until(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """`sample_until` with a label given, and of the commonest label; the budget varies."""
    budget = int(rng.integers(20, n + 1))
    rows = [system.draw(budget, rng)]
    asked = {"epsilon": 0.1, "budget": budget, "confidence": 0.9}
    return both(fs.sample_until(rows, 0, prediction=0, **asked), fs.sample_until(rows, 0, **asked), system.truth)


def two_populations(systems: Any, n: int, rng: Chance) -> Answers:
    """Difference of two populations of n rows."""
    rows = [system.draw(n, rng) for system in systems]
    before = difference(*(fs.consistency(*each, **JACKKNIFE) for each in rows))
    after = difference(*(fs.consistency(*each) for each in rows))
    return both(before, after, systems[0].truth - systems[1].truth)


def only_after(ask: Ask) -> Ask:
    """The second of two answers alone."""
    return lambda system, n, rng: {"after": ask(system, n, rng)["after"]}


def renamed(ask: Ask, **intervals: str) -> Ask:
    """Two answers of another line, named before and after."""

    def chosen(system: Any, n: int, rng: Chance) -> Answers:
        answers = ask(system, n, rng)
        return {when: answers[interval] for when, interval in intervals.items()}

    chosen.__name__ = f"{ask.__name__} {sorted(intervals.values())}"
    return chosen


@dataclass(frozen=True)
class Pair:
    """Two explainers of the same rows: a system's, and one that hardly ever repeats itself.

    Attributes
    ----------
    system : FinitePopulation
    unique : float
        Chance that the other explains a row by an explanation of its own; else it says the same of all rows.
    faithful : bool
        Whether those are consistent; else two rows with one of them have labels by chance. No sample can tell.
    """

    system: FinitePopulation
    unique: float
    faithful: bool

    @property
    def truth(self) -> float:
        """Consistency of the system less that of the other explainer."""
        shares = self.system.p @ self.system.q
        chance = float(shares @ shares)
        return self.system.truth - self.unique * (1.0 if self.faithful else chance) - (1 - self.unique) * chance

    def compared(self, n: int, rng: Chance) -> Answers:
        """Their difference."""
        explanations, labels = self.system.draw(n, rng)
        given = {"a": explanations, "b": np.where(rng.random(n) < self.unique, 1 + np.arange(n), 0)}
        before, after = (fs.compare(labels, given, np.arange(n), **how).pairs[0] for how in (JACKKNIFE, {}))
        return both(before, after, self.truth)


def identical(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """The same explainer twice: the difference is 0 for sure."""
    explanations, labels = system.draw(n, rng)
    pair = fs.compare(labels, {"a": explanations, "b": explanations.copy()}, np.arange(n)).pairs[0]
    return {"after": ends(pair, 0.0)}


@dataclass(frozen=True)
class Column:
    """A discretizer that keeps one column."""

    place: int

    def __call__(self, explanations: fs.Importances) -> fs.Importances:
        return fs.Importances(explanations.values[:, [self.place]])


@dataclass(frozen=True)
class Columns:
    """Rows of many columns, each of which equals the label with the same chance: equally good discretizations."""

    columns: int
    right: float

    @property
    def truth(self) -> float:
        """Consistency of each column."""
        return self.right**2 + (1 - self.right) ** 2

    @property
    def discretizers(self) -> list[Column]:
        return [Column(place) for place in range(self.columns)]

    def draw(self, n: int, rng: Chance) -> tuple[Any, Any]:
        labels = rng.integers(0, 2, n)
        wrong = rng.random((n, self.columns)) >= self.right
        return (labels[:, None] ^ wrong).astype(float), labels


def chosen_best(system: Columns, n: int, rng: Chance) -> Answers:
    """The best of many discretizers on the rows on which it was chosen, and by `Best` on other rows."""
    vectors, labels = system.draw(n, rng)
    everywhere = [fs.consistency(vectors, labels, discretizer=each, **JACKKNIFE) for each in system.discretizers]
    naive = max(everywhere, key=lambda estimate: estimate.low)
    evaluation = fs.evaluate(labels, fs.Importances(vectors), vectors, discretizer=fs.Best(system.discretizers))
    return both(naive, evaluation.consistency, system.truth)


def certified_best(system: Columns, n: int, rng: Chance) -> Answers:
    """The highest of many bounds, each at its own confidence (before) and at δ/k (after)."""
    vectors, labels = system.draw(n, rng)
    alone = [fs.certify(vectors, labels, each, **JACKKNIFE).low for each in system.discretizers]
    after = fs.certify(vectors, labels, system.discretizers, **JACKKNIFE).low
    return {"before": (max(alone), 1.0, system.truth), "after": (after, 1.0, system.truth)}


def certified_proven(system: Columns, n: int, rng: Chance) -> Answers:
    """McDiarmid's bound."""
    vectors, labels = system.draw(n, rng)
    return {"after": (fs.certify(vectors, labels, system.discretizers).low, 1.0, system.truth)}


def lines() -> Iterator[Line]:
    """Every attack: what is tried, on which systems, with how many rows, how often."""
    for study, attack in ATTACKS.items():
        for line in attack():
            yield replace(line, study=f"attacks/{study}")


def at(title: str, ask: Ask, seed: str, name: str, system: Any, n: int, times: int, nominal: float = NOMINAL) -> Line:
    """An attack on one system at one number of rows; `seed` is what its stream is named by, beside the system."""
    return Line("attacks", title, ask, {name: system}, (n,), times, named(seed), nominal=nominal)


def clusters() -> Iterator[Line]:
    title = "Rows that belong together: without clusters= | with it"
    four, equal_ones = GIVEN["4 explanations"], GIVEN["1,000 equal"]
    tail = FinitePopulation(long_tail(1_000), mostly_pure(1_000))
    for name, system, customers, size, stickiness, times in (
        ("4 explanations; 100 x 10, .7", four, 100, 10, 0.7, 600),
        ("4 explanations; 2,000 x 5, .3", four, 2_000, 5, 0.3, 400),
        ("200 equal, p = .3; 400 x 5, .7", mixed(200, 0.3), 400, 5, 0.7, 600),
        ("200 equal, p = .3; 2,000 x 5, .3", mixed(200, 0.3), 2_000, 5, 0.3, 600),
        ("2,000 coins; 400 x 2, each row twice", mixed(2_000, 0.5), 400, 2, 1.0, 600),
        ("2,000 coins; 2,000 x 5, .3", mixed(2_000, 0.5), 2_000, 5, 0.3, 200),
        ("long tail of 1,000; 400 x 5, .7", tail, 400, 5, 0.7, 600),
        ("1,000 equal; 1,000 x 2, each row twice", equal_ones, 1_000, 2, 1.0, 400),
    ):
        rows = ClusteredRows(system, size, stickiness)
        ask = compare(fs.consistency, JACKKNIFE, {}, taken="clusters")
        yield at(title, ask, "clustered", name, rows, customers * size, times)


def weights() -> Iterator[Line]:
    title = 'Weights: interval="jackknife" | the default'
    hundred, thousand = GIVEN["100 equal"], GIVEN["1,000 equal"]
    by_explanation = np.random.default_rng(9).lognormal(0, 1, (100, 1))
    for name, system, weight, scatter, n, times in (
        ("1,000 equal, W = 4", thousand, (1.0, 4.0), 0.0, 5_000, 400),
        ("500 equal, p = .1, W = 4", mixed(500, 0.1), (1.0, 4.0), 0.0, 5_000, 400),
        ("100 equal, p = .1, W = 4", mixed(100, 0.1), (1.0, 4.0), 0.0, 2_000, 600),
        ("200 equal x 50 rows, p = .1, W = 4", mixed(200, 0.1), (1.0, 4.0), 0.0, 10_000, 300),
        ("200 equal x 50 rows, p = .03, W = 10", mixed(200, 0.03), (1.0, 10.0), 0.0, 10_000, 300),
        ("200 equal x 100 rows, p = .01, W = 30", mixed(200, 0.01), (1.0, 30.0), 0.0, 20_000, 150),
        ("1,000 equal, W = 20", thousand, (1.0, 20.0), 0.0, 5_000, 400),
        ("20 equal, 5% contradictions, W = 4", mixed(20, 0.05), (1.0, 4.0), 0.0, 400, 1_000),
        ("100 equal, lognormal(1) by chance", hundred, (1.0, 1.0), 1.0, 1_000, 300),
        ("100 equal, lognormal(1) by chance", hundred, (1.0, 1.0), 1.0, 5_000, 300),
        ("100 equal, lognormal(2) by chance", hundred, (1.0, 1.0), 2.0, 5_000, 300),
        ("100 equal, lognormal(1) by explanation", hundred, by_explanation, 0.0, 1_000, 300),
        ("100 equal, lognormal(1) by explanation", hundred, by_explanation, 0.0, 5_000, 300),
        ("1,000 equal, W = 4 x lognormal(1)", thousand, (1.0, 4.0), 1.0, 5_000, 300),
    ):
        yield at(title, tightened, "weighted", name, WeightedRows(system, weight, scatter), n, times)
    for share in (0.1, 0.5):
        name, rows = (
            f"sufficiency, 100 rules x 10 rows, p = {share:g}, W = 4",
            WeightedRows(mixed(100, share), (1.0, 4.0)),
        )
        yield at(title, weighted_rules, "weighted_rules", name, rows, 1_000, 200)


def hubs() -> Iterator[Line]:
    title = 'An unseen row under many explanations: the default | interval="any"'
    further = "The same: the default | the default with 10 n further rows, unlabelled"
    for n, times in ((100, 400), (400, 400), (2_000, 100)):
        for each in (3, 10, 40) if n == 400 else (3, 10):
            for expected in (0.5, 1.0, 2.0):
                topics = HubUnderTopics(round(n / each), expected / n)
                name = f"{each} rows per topic, {expected:g} word lists expected"
                yield at(title, hub_under_rules, "hub_under_rules", name, topics, n, times)
    for expected in (0.5, 1.0, 2.0):
        name, topics = f"10 rows per topic, {expected:g} word lists expected", HubUnderTopics(40, expected / 400)
        yield at(further, hub_further, "hub_further", name, topics, 400, 200)
    within = compare(fs.within, {}, {"interval": "any"})
    for n, expected in ((400, 0.5), (400, 1.0), (1_000, 0.5), (1_000, 1.0)):
        name = f"within, 60 directions, {expected:g} zero vectors expected"
        yield at(title, within, "hub_within", name, HubUnderDirections(60, expected / n), n, 300)
    for half, told in ((10, "20%"), (2, "4%")):
        rules = replace(COVERED["sliding, noisy"], covers=sliding(100, half))
        for n, times in ((200, 200), (1_000, 100), (4_000, 30)):
            yield at(title, hub_under_rules, "no_hub", f"no hub, windows that cover {told}", rules, n, times)


TOLD = (  # of the systems of independent rows, those whose widths are told in docs/statistics.md
    "n/5 explanations",
    "n/2 explanations",
    "n explanations",
    "3n explanations",
    "n/2 pure explanations",
    "long tail of 3,000",
    "rare pure, common noisy",
    "half never repeat",
    "20 explanations, 5% contradictions",
)


def tighter() -> Iterator[Line]:
    title = 'Silence and rare explanations: interval="jackknife" | the default'
    for n, times in ((200, 1_000), (1_000, 600), (5_000, 200)):
        for name in TOLD:
            yield at(title, tightened, "tightened", name, population(independent(n)[name][1]), n, times)


def adverse() -> Iterator[Line]:
    title = 'Systems against the interval of independent rows: interval="jackknife" | the default'
    for n, times in ((50, 600), (100, 600), (400, 600), (2_000, 300), (20_000, 60)):
        for name, (_, system) in independent(n).items():
            yield at(title, tightened, "tightened", name, population(system), n, times)


def confidences() -> Iterator[Line]:
    for confidence in CONFIDENCES:
        title = f'{confidence:g} confidence: interval="jackknife" | the default'
        how = {"confidence": confidence}
        ask = compare(fs.consistency, JACKKNIFE | how, how)
        for name, (_, system) in independent(400).items():
            yield at(title, ask, "tightened_at", name, population(system), 400, 400, confidence)


def commonest() -> Iterator[Line]:
    title = "The commonest label: as if it were named before looking | as it is"
    purity = renamed(local, before="purity, as if the label were named first", after="purity, an explanation")
    precision = renamed(
        locally_sufficient, before="precision, as if the label were named first", after="precision, a rule"
    )
    for labels, rows in ((3, (50, 500)), (20, (5, 50, 500)), (50, (50, 500)), (1_000, (5, 500))):
        for n in rows:
            name, system = f"purity, {labels:,} equal labels", EQUAL_LABELS[f"{labels:,} equal labels"]
            yield at(title, purity, purity.__name__, name, system, n, 2_000)
    uneven = population(contradicted(50, 1))
    yield at(title, purity, purity.__name__, "purity, labels of .98 and .02", uneven, 50, 2_000)
    name, covered = "precision, 50 labels, 15 given of 60 covered", EQUAL_LABELS_COVERED["50 equal labels"]
    yield at(title, precision, precision.__name__, name, covered, 60, 500)
    for labels in (2, 3, 50):
        name, system = f"sample_until at .90, {labels} labels", EQUAL_LABELS[f"{labels} equal labels"]
        yield at(title, sampled_until, "sampled_until", name, system, 400, 1_000, 0.9)


def choosing() -> Iterator[Line]:
    title = "Choosing and comparing: each by itself, or chosen on the same rows | together, or on other rows"
    four, columns = GIVEN["4 explanations"], Columns(60, 0.8)
    pairs = renamed(
        lambda system, n, rng: many_pairs(system, n, rng, 50),
        before="1,225 pairs of populations, each alone",
        after="1,225 pairs of populations, together",
    )
    yield at(title, pairs, "all_pairs", "50 equal groups, all 1,225 pairs hold", four, 200, 100)
    windows = renamed(
        windowed, before="fewer than 5 marked, first window", after="fewer than 5 marked, first 5 windows"
    )
    yield at(title, windows, windows.__name__, "30 windows, fewer than 5 marked: vs 1 | vs 5", four, 200, 300)
    told_together = renamed(windowed, after="29 windows from the first, together")
    yield at(title, told_together, told_together.__name__, "30 windows, all hold", four, 200, 300)
    yield at(title, chosen_best, "chosen_best", "Best of 60 discretizers", columns, 400, 200)
    yield at(title, certified_best, "certified_best", "certify(jackknife), 60 discretizers", columns, 400, 200)
    yield at(title, certified_proven, "certified_proven", "certify (McDiarmid), 60 discretizers", columns, 400, 50)
    yield at(title, identical, "identical", "the same explainer twice", GIVEN["100 equal"], 400, 100)


def held() -> Iterator[Line]:
    title = "What held already: the interval before | the default"
    four, few, many = GIVEN["4 explanations"], population(contradicted(300, 10)), population(contradicted(1_000, 10))
    for name, systems, n in (
        ("two populations, 4 explanations", (four, four), 2_500),
        ("two populations, rare flips both", (few, few), 300),
        ("two populations, rare flips and pure", (many, GIVEN["one label only"]), 1_000),
        ("two populations, rare flips and noisy", (many, GIVEN["100 equal"]), 1_000),
    ):
        yield at(title, two_populations, "two_populations", name, systems, n, 1_000)
    for faithful in (True, False):
        for n in (100, 1_000):
            name = f"paired, 95% unverifiable, {'all' if faithful else 'none'} faithful"
            yield at(title, Pair.compared, "paired", name, Pair(four, 0.95, faithful), n, 150)
    for width in (3, 10):
        rules = FinitePopulation(equal(40), GIVEN["100 equal"].q[:40], beside(40, 1, width - 1))
        for n in (60, 300):
            name = f"rules that miss their own row, {width} of 40 points"
            yield at(title, only_after(compare(fs.sufficiency, {}, {})), "only_default", name, rules, n, 300)
    rows = renamed(local, after="local consistency, a row")
    for labels in (2, 20):
        name, system = f"local consistency of a row, {labels} labels", EQUAL_LABELS[f"{labels} equal labels"]
        yield at(title, rows, rows.__name__, name, system, 400, 300)


def fitting() -> Iterator[Line]:
    systems = (FittedLeaves(64), FittedLeaves(64, fresh=True))
    title = "An explainer fitted on the rows it is judged on | on other rows"
    for n in (400, 1_000, 5_000):
        yield at(title, fitted, "fitted", "64 leaves fitted to coin flips", systems, n, 100)


ATTACKS = {
    "clusters": clusters,
    "weights": weights,
    "hubs": hubs,
    "commonest": commonest,
    "fitted": fitting,
    "tighter": tighter,
    "adverse": adverse,
    "confidences": confidences,
    "choices": choosing,
    "held": held,
}
