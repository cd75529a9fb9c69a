"""Intervals attacked: systems on which they fail, or might, each with the interval before and after its remedy.

- before: rows taken for independent, weights or silence as ``interval="jackknife"`` has them, the interval that assumes
  no unseen row under many rules;
- after: what to do now, which is the default, unless the line says otherwise.

The commonest label taken for one that was named before looking, and many pairs and windows each by themselves, are
beside their remedies in the lines `local`, `locally_sufficient`, `many_pairs` and `windowed` of the intervals.
"""

import warnings
from collections import namedtuple
from dataclasses import replace

import numpy as np
from harness import Line, ends, none
from numpy.random import default_rng
from systems import COVERED, GIVEN, FinitePopulation, mixed, one_explanation, sliding

import faithscope as fs
from faithscope import testing
from faithscope.testing import FittedLeaves, word_lists, zero_vectors
from faithscope.testing.populations import equal, long_tail, mostly_pure, two_labels, two_rates

JACKKNIFE = {"interval": "jackknife"}  # pairs, as before weights and clusters were kept rows
warnings.filterwarnings("ignore", "interval='jackknife' is an old word", FutureWarning)


def mostly(cells):
    """Equally likely explanations of which most are nearly pure."""
    return testing.FinitePopulation(equal(cells), mostly_pure(cells))


def independent(n):
    """Populations of independent rows, by name."""
    silent, doubled = "silence counted in full", "the variance of rare explanations counted twice"
    missed, skewed = "disagreements that a sample missed", "the lower end, since contradictions are few"
    made = {
        "n/8 explanations": (doubled, mostly(n // 8)),
        "n/5 explanations": (doubled, mostly(n // 5)),
        "n/2 explanations": (silent, mostly(n // 2)),
        "n explanations": (silent, mostly(n)),
        "3n explanations": (silent, mostly(3 * n)),
        "n/2 pure explanations": (silent, testing.FinitePopulation(equal(n // 2), two_labels(np.zeros(n // 2)))),
        "long tail of 3,000": (silent, testing.FinitePopulation(long_tail(3000), mostly_pure(3000))),
        "long tail, rare noisy": (missed, testing.FinitePopulation(long_tail(n), two_labels(np.linspace(0, 0.5, n)))),
        "long tail, common noisy": (missed, testing.FinitePopulation(long_tail(n), two_labels(np.linspace(0.5, 0, n)))),
        "rare pure, common noisy": (silent, two_rates(10, 0.3, n, 0.0)),
        "rare noisy, common pure": (missed, two_rates(10, 0.0, n // 4, 0.5)),
        "half never repeat": (silent, two_rates(10, 0.02, 100_000, 0.5)),
        "20 explanations, 5% contradictions": (
            skewed,
            testing.FinitePopulation(equal(20), two_labels(np.full(20, 0.05))),
        ),
        **{
            f"{few} contradictions expected": (skewed, one_explanation(1 - min(1, few / n), min(1, few / n)))
            for few in (5, 10, 30)
        },
        **{
            f"{labels} equal labels": ("the commonest label", one_explanation(*equal(labels)))
            for labels in (2, 3, 20, 200)
        },
    }
    return {name: replace(population, breaks=breaks) for name, (breaks, population) in made.items()}


def both(before, after, truth):
    """Two answers about one truth."""
    return {"before": ends(before, truth), "after": ends(after, truth)}


def compare(measure, before, after, taken=""):
    """One measure of the same rows with two settings; what is taken from the rows is known to the second alone."""

    def ask(system, n, rng):
        rows = (system.draw if isinstance(system, Known | FinitePopulation) else system.rows)(n, rng)
        if not isinstance(rows, dict):
            kinds, labels = rows
            rows = ({"explanations": kinds} if system.covers is None else system.ruled(kinds)) | {"predictions": labels}
        known = {taken: rows.pop(taken)} if taken else {}
        return both(measure(**rows, **before), measure(**rows, **known, **after), system.truth)

    return ask


def hub_further(system, n, rng):
    """The default, and the default that knows ten times the rows without their predictions."""
    rows, further = system.rows(n, rng), system.rows(10 * n, rng)["X"]
    return both(fs.sufficiency(**rows), fs.sufficiency(**rows, unlabeled=further), system.truth)


def fitted(leaves, n, rng):
    """An explainer that was fitted on the rows it is judged on, and one that was fitted on other rows."""
    same, fresh = (fs.consistency(**each.rows(n, rng)) for each in (leaves, replace(leaves, fresh=True)))
    return both(same, fresh, leaves.truth)


Known = namedtuple("Known", "draw truth")  # a system: the rows of so many customers or numbers, and the measure


def returning(explanations, large, small, shares=(1.0, 1.0), poisson=False):
    """Customers of one explanation and label, who come back: how often goes with the label.

    Customers of the one label have `large` rows, those of the other `small`, or 1 and a Poisson number. The share of
    the first label among customers of an explanation is drawn from a beta distribution.
    """
    rates = default_rng(explanations).beta(*shares, explanations)
    masses = np.stack([rates * (large + poisson), (1 - rates) * (small + poisson)])

    def draw(n, rng):
        code = rng.integers(0, explanations, n)
        label = (rng.random(n) < rates[code]).astype(int)
        mean = np.where(label == 1, large, small)
        row = np.repeat(np.arange(n), 1 + rng.poisson(mean) if poisson else mean.astype(int))
        return {"explanations": code[row], "predictions": label[row], "clusters": row}

    return Known(draw, np.sum((masses**2).sum(axis=0) / masses.sum(axis=0)) / masses.sum())


def heavy_numbers(explanations):
    """Numbers about the mean of their explanation; those above 1 weigh ten times as much."""
    means = 0.7 * default_rng(explanations).normal(size=explanations)

    def weights(values):
        return np.where(values > 1, 10.0, 1.0)

    def draw(n, rng):
        code = rng.integers(0, explanations, n)
        values = means[code] + 0.7 * rng.normal(size=n)
        return {"explanations": code, "predictions": values, "weights": weights(values)}

    # One less the variance within explanations over that of all, on a grid of the normal distribution.
    grid = np.linspace(-6, 6, 4_001)
    values = means[:, None] + 0.7 * grid
    mass = np.exp(-(grid**2) / 2) * weights(values)
    within, among = (
        (mass * (values - (mass * values).sum(axis, keepdims=True) / mass.sum(axis, keepdims=True)) ** 2).sum()
        for axis in (1, None)
    )
    return Known(draw, 1 - within / among)


RETURNING = (  # name, system, customers, times
    ("100 explanations, sizes 4 and 1", returning(100, 4, 1), 1_000, 200),
    ("200 explanations, sizes 10 and 1", returning(200, 10, 1), 1_000, 200),
    ("200 explanations, sizes 20 and 1", returning(200, 20, 1), 1_500, 200),
    ("200 explanations, sizes 20 and 1, the large rare", returning(200, 20, 1, (0.5, 9.5)), 1_500, 200),
    ("300 explanations, declined come back", returning(300, 3.0, 0.3, (0.6, 1.4), poisson=True), 1_500, 200),
    ("100 explanations, declined come back", returning(100, 3.0, 0.3, poisson=True), 1_500, 200),
    ("20 explanations, sizes 10 and 1", returning(20, 10, 1), 400, 200),
    ("100 explanations, sizes by chance", returning(100, 2.0, 2.0, poisson=True), 1_000, 200),
)
FOUR, HUNDRED, THOUSAND = (GIVEN[name] for name in ("4 explanations", "100 equal", "1,000 equal"))
CLUSTERED = (  # name, system, clusters, rows of each, stickiness, times
    ("4 explanations; 100 x 10, .7", FOUR, 100, 10, 0.7, 600),
    ("4 explanations; 2,000 x 5, .3", FOUR, 2_000, 5, 0.3, 400),
    ("200 equal, p = .3; 400 x 5, .7", mixed(200, 0.3), 400, 5, 0.7, 600),
    ("200 equal, p = .3; 2,000 x 5, .3", mixed(200, 0.3), 2_000, 5, 0.3, 600),
    ("2,000 coins; 400 x 2, each row twice", mixed(2_000, 0.5), 400, 2, 1.0, 600),
    ("2,000 coins; 2,000 x 5, .3", mixed(2_000, 0.5), 2_000, 5, 0.3, 200),
    ("long tail of 1,000; 400 x 5, .7", FinitePopulation(long_tail(1_000), mostly_pure(1_000)), 400, 5, 0.7, 600),
    ("1,000 equal; 1,000 x 2, each row twice", THOUSAND, 1_000, 2, 1.0, 400),
)
FOURFOLD, BY_EXPLANATION = (1.0, 4.0), default_rng(9).lognormal(0, 1, (100, 1))
WEIGHTED = (  # name, system, weights by label, scatter, rows, times
    ("1,000 equal, W = 4", THOUSAND, FOURFOLD, 0.0, 5_000, 400),
    ("500 equal, p = .1, W = 4", mixed(500, 0.1), FOURFOLD, 0.0, 5_000, 400),
    ("100 equal, p = .1, W = 4", mixed(100, 0.1), FOURFOLD, 0.0, 2_000, 600),
    ("200 equal x 50 rows, p = .1, W = 4", mixed(200, 0.1), FOURFOLD, 0.0, 10_000, 300),
    ("200 equal x 50 rows, p = .03, W = 10", mixed(200, 0.03), (1.0, 10.0), 0.0, 10_000, 300),
    ("200 equal x 100 rows, p = .01, W = 30", mixed(200, 0.01), (1.0, 30.0), 0.0, 20_000, 150),
    ("1,000 equal, W = 20", THOUSAND, (1.0, 20.0), 0.0, 5_000, 400),
    ("20 equal, 5% contradictions, W = 4", mixed(20, 0.05), FOURFOLD, 0.0, 400, 1_000),
    ("100 equal, lognormal(1) by chance", HUNDRED, 1.0, 1.0, 1_000, 300),
    ("100 equal, lognormal(1) by chance", HUNDRED, 1.0, 1.0, 5_000, 300),
    ("100 equal, lognormal(2) by chance", HUNDRED, 1.0, 2.0, 5_000, 300),
    ("100 equal, lognormal(1) by explanation", HUNDRED, BY_EXPLANATION, 0.0, 1_000, 300),
    ("100 equal, lognormal(1) by explanation", HUNDRED, BY_EXPLANATION, 0.0, 5_000, 300),
    ("1,000 equal, W = 4 x lognormal(1)", THOUSAND, FOURFOLD, 1.0, 5_000, 300),
)


def drawn(rows, **how):
    """The same kinds of rows, in clusters or with weights."""
    return testing.FinitePopulation(rows.p, rows.q, **how)


def lines():
    """Every attack: what is tried, on which systems, with how many rows, how often."""
    for study, title, ask, systems, *nominal in attacks():
        for name, system, n, times in systems:
            line = Line(f"attacks/{study}/{title}", ask, {name: system}, {n: times}, bar=none)
            yield replace(line, nominal=nominal[0]) if nominal else line


def attacks():
    """The study, the title, what is asked; and name, system, rows and times."""
    title = "Rows that belong together: without clusters= | with it"
    systems = [
        (name, drawn(rows, together=size, stickiness=copy), many * size, _)
        for name, rows, many, size, copy, _ in CLUSTERED
    ]
    yield "clusters", title, compare(fs.consistency, JACKKNIFE, {}, taken="clusters"), systems

    title = "Clusters whose size goes with the prediction: pairs | the default"
    tightened = compare(fs.consistency, JACKKNIFE, {})
    yield "clusters", title, tightened, RETURNING
    title = "Clusters whose size goes with the prediction: the default | interval='proven'"
    yield "proven", title, compare(fs.consistency, {}, {"interval": "proven"}), RETURNING
    systems = [(name, system, n, 200) for n in (200, 1_000) for name, system in independent(n).items()]
    title = "Independent rows: the default | interval='proven'"
    yield "proven", title, compare(fs.consistency, {}, {"interval": "proven"}), systems
    by_spread = compare(fs.consistency, {"agreement": fs.Spread(), **JACKKNIFE}, {"agreement": fs.Spread()})
    systems = [
        (f"{kinds} explanations of {rows} rows", heavy_numbers(kinds), kinds * rows, 100)
        for kinds, rows in ((800, 5), (2_000, 3), (200, 5), (50, 40))
    ]
    yield "weights", "Spread, heavy large numbers: pairs | the default", by_spread, systems

    title = 'Weights: interval="jackknife" | the default'
    systems = [
        (name, drawn(rows, weights=weights, scatter=scatter), *_) for name, rows, weights, scatter, *_ in WEIGHTED
    ]
    yield "weights", title, tightened, systems

    title = "An unseen row under many explanations: the default | unseen=True"
    under_rules, within = (compare(measure, {}, {"unseen": True}) for measure in (fs.sufficiency, fs.within))
    systems = [
        (f"{each} rows per topic, {hubs:g} word lists expected", word_lists(round(n / each), hubs / n), n, times)
        for n, times in ((100, 400), (400, 400), (2_000, 100))
        for each in (3, 10, 40)[: 3 if n == 400 else 2]
        for hubs in (0.5, 1.0, 2.0)
    ]
    yield "hubs", title, under_rules, systems
    systems = [(name, system, n, 200) for name, system, n, _ in systems if n == 400 and name.startswith("10 ")]
    further = "The same: the default | the default with 10 n further rows, unlabelled"
    yield "hubs", further, hub_further, systems
    systems = [
        (f"within, 60 directions, {hubs:g} zero vectors expected", zero_vectors(60, hubs / n), n, 300)
        for n in (400, 1_000)
        for hubs in (0.5, 1.0)
    ]
    yield "hubs", title, within, systems
    systems = [
        (f"no hub, windows that cover {2 * half}%", replace(COVERED["sliding, noisy"], covers=sliding(100, half)), *how)
        for half in (10, 2)
        for how in ((200, 200), (1_000, 100), (4_000, 30))
    ]
    yield "hubs", title, under_rules, systems

    title = "An explainer fitted on the rows it is judged on | on other rows"
    systems = [("64 leaves fitted to coin flips", FittedLeaves(64), n, 100) for n in (400, 1_000, 5_000)]
    yield "fitted", title, fitted, systems

    title = 'Silence, rare explanations, contradictions: interval="jackknife" | the default'
    often = {50: 600, 100: 600, 200: 1_000, 400: 600, 1_000: 600, 2_000: 300, 5_000: 200, 20_000: 60}
    systems = [(name, system, n, times) for n, times in often.items() for name, system in independent(n).items()]
    yield "adverse", title, tightened, systems
    systems = [(name, system, n, 400) for name, system, n, _ in systems if n == 400]
    for confidence in (0.5, 0.8, 0.95, 0.99, 0.999):
        title, how = f'{confidence:g} confidence: interval="jackknife" | the default', {"confidence": confidence}
        ask = compare(fs.consistency, JACKKNIFE | how, how)
        yield "confidences", title, ask, systems, confidence
