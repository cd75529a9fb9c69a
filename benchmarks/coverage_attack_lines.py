"""Every attack of the study: what is tried, on which systems, with how many rows, how often."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import coverage_attacks as attacks
import coverage_choices as choices
from coverage_attacks import Attack, AttackLine, renamed, try_attack
from coverage_systems import COVERED, EQUAL_LABELS, EQUAL_LABELS_COVERED, GIVEN, beside, simulated, sliding
from coverage_trials import local, locally_sufficient, windowed
from faithscope.testing import ClusteredRows, FittedLeaves, HubUnderDirections, HubUnderTopics, System, WeightedRows
from faithscope.testing.hard import contradicted, independent
from faithscope.testing.systems import equal, long_tail, mostly_pure, two_labels

TABLE = (  # of the systems of independent rows, those whose widths are told in docs/statistics.md
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
CLUSTERS = "Rows that belong together: without clusters= | with it"
WEIGHTS = 'Weights: interval="jackknife" | the default'
HUBS = 'An unseen row under many explanations: the default | interval="any"'
FURTHER = "The same: the default | the default with 10 n further rows, unlabelled"
TIGHTER = 'Silence and rare explanations: interval="jackknife" | the default'
ADVERSE = 'Systems against the interval of independent rows: interval="jackknife" | the default'
COMMONEST = "The commonest label: as if it were named before looking | as it is"
CHOICES = "Choosing and comparing: each by itself, or chosen on the same rows | together, or on other rows"
FITTED = "An explainer fitted on the rows it is judged on | on other rows"
HOLD = "What held already: the interval before | the default"


def _mixed(cells: int, share: float) -> System:
    """Equally likely explanations, all with the same share of label 1."""
    return System(equal(cells), two_labels(np.full(cells, share)))


def clusters() -> Iterator[Attack]:
    cases: list[tuple[str, System, int, int, float, int]] = [
        ("4 explanations; 100 x 10, .7", GIVEN["4 explanations"], 100, 10, 0.7, 600),
        ("4 explanations; 2,000 x 5, .3", GIVEN["4 explanations"], 2_000, 5, 0.3, 400),
        ("200 equal, p = .3; 400 x 5, .7", _mixed(200, 0.3), 400, 5, 0.7, 600),
        ("200 equal, p = .3; 2,000 x 5, .3", _mixed(200, 0.3), 2_000, 5, 0.3, 600),
        ("2,000 coins; 400 x 2, each row twice", _mixed(2_000, 0.5), 400, 2, 1.0, 600),
        ("2,000 coins; 2,000 x 5, .3", _mixed(2_000, 0.5), 2_000, 5, 0.3, 200),
        ("long tail of 1,000; 400 x 5, .7", System(long_tail(1_000), mostly_pure(1_000)), 400, 5, 0.7, 600),
        ("1,000 equal; 1,000 x 2, each row twice", GIVEN["1,000 equal"], 1_000, 2, 1.0, 400),
    ]
    for name, system, customers, size, stickiness, times in cases:
        rows = ClusteredRows(simulated(system), size, stickiness)
        yield Attack(CLUSTERS, attacks.clustered, name, rows, customers * size, times)


def weights() -> Iterator[Attack]:
    by_label: list[tuple[str, System, float, int, int]] = [
        ("1,000 equal, W = 4", GIVEN["1,000 equal"], 4.0, 5_000, 400),
        ("500 equal, p = .1, W = 4", _mixed(500, 0.1), 4.0, 5_000, 400),
        ("100 equal, p = .1, W = 4", _mixed(100, 0.1), 4.0, 2_000, 600),
        ("200 equal x 50 rows, p = .1, W = 4", _mixed(200, 0.1), 4.0, 10_000, 300),
        ("200 equal x 50 rows, p = .03, W = 10", _mixed(200, 0.03), 10.0, 10_000, 300),
        ("200 equal x 100 rows, p = .01, W = 30", _mixed(200, 0.01), 30.0, 20_000, 150),
        ("1,000 equal, W = 20", GIVEN["1,000 equal"], 20.0, 5_000, 400),
        ("20 equal, 5% contradictions, W = 4", _mixed(20, 0.05), 4.0, 400, 1_000),
    ]
    for name, system, weight, n, times in by_label:
        yield Attack(WEIGHTS, attacks.weighted, name, WeightedRows(simulated(system), (1.0, weight)), n, times)
    hundred = GIVEN["100 equal"]
    by_explanation = np.random.default_rng(9).lognormal(0, 1, (100, 1))
    scattered: list[tuple[str, WeightedRows, int]] = [
        ("100 equal, lognormal(1) by chance", WeightedRows(hundred, (1.0, 1.0), 1.0), 1_000),
        ("100 equal, lognormal(1) by chance", WeightedRows(hundred, (1.0, 1.0), 1.0), 5_000),
        ("100 equal, lognormal(2) by chance", WeightedRows(hundred, (1.0, 1.0), 2.0), 5_000),
        ("100 equal, lognormal(1) by explanation", WeightedRows(hundred, by_explanation), 1_000),
        ("100 equal, lognormal(1) by explanation", WeightedRows(hundred, by_explanation), 5_000),
        ("1,000 equal, W = 4 x lognormal(1)", WeightedRows(GIVEN["1,000 equal"], (1.0, 4.0), 1.0), 5_000),
    ]
    for name, rows, n in scattered:
        yield Attack(WEIGHTS, attacks.weighted, name, rows, n, 300)
    for cells, share, weight in ((100, 0.1, 4.0), (100, 0.5, 4.0)):
        rows = WeightedRows(_mixed(cells, share), (1.0, weight))
        name = f"sufficiency, {cells} rules x 10 rows, p = {share:g}, W = {weight:g}"
        yield Attack(WEIGHTS, attacks.weighted_rules, name, rows, 10 * cells, 200)


def hubs() -> Iterator[Attack]:
    for n, times in ((100, 400), (400, 400), (2_000, 100)):
        for each in (3, 10, 40) if n == 400 else (3, 10):
            for expected in (0.5, 1.0, 2.0):
                topics = HubUnderTopics(round(n / each), expected / n)
                name = f"{each} rows per topic, {expected:g} word lists expected"
                yield Attack(HUBS, attacks.hub_under_rules, name, topics, n, times)
    for expected in (0.5, 1.0, 2.0):
        name, topics = f"10 rows per topic, {expected:g} word lists expected", HubUnderTopics(40, expected / 400)
        yield Attack(FURTHER, attacks.hub_further, name, topics, 400, 200)
    for n, expected in ((400, 0.5), (400, 1.0), (1_000, 0.5), (1_000, 1.0)):
        name = f"within, 60 directions, {expected:g} zero vectors expected"
        yield Attack(HUBS, attacks.hub_within, name, HubUnderDirections(60, expected / n), n, 300)
    for half, told in ((10, "20%"), (2, "4%")):
        windows = sliding(COVERED["sliding, noisy"].q, half)
        for n, times in ((200, 200), (1_000, 100), (4_000, 30)):
            yield Attack(HUBS, attacks.no_hub, f"no hub, windows that cover {told}", windows, n, times)


def tighter() -> Iterator[Attack]:
    for n, times in ((200, 1_000), (1_000, 600), (5_000, 200)):
        systems = independent(n)
        for name in TABLE:
            yield Attack(TIGHTER, attacks.tightened, name, simulated(systems[name][1]), n, times)


def adverse() -> Iterator[Attack]:
    for n, times in ((50, 600), (100, 600), (400, 600), (2_000, 300), (20_000, 60)):
        for name, (_, system) in independent(n).items():
            yield Attack(ADVERSE, attacks.tightened, name, simulated(system), n, times)


def confidences() -> Iterator[Attack]:
    for confidence in attacks.CONFIDENCES:
        section = f'{confidence:g} confidence: interval="jackknife" | the default'
        for name, (_, system) in independent(400).items():
            trial = attacks.at_confidence(confidence)
            yield Attack(section, trial, name, simulated(system), 400, 400, confidence)


def commonest() -> Iterator[Attack]:
    purity = renamed(local, before="purity, as if the label were named first", after="purity, an explanation")
    precision = renamed(
        locally_sufficient, before="precision, as if the label were named first", after="precision, a rule"
    )
    for labels, rows in ((3, (50, 500)), (20, (5, 50, 500)), (50, (50, 500)), (1_000, (5, 500))):
        for n in rows:
            system = EQUAL_LABELS[f"{labels:,} equal labels"]
            yield Attack(COMMONEST, purity, f"purity, {labels:,} equal labels", system, n, 2_000)
    uneven = simulated(contradicted(50, 1))
    yield Attack(COMMONEST, purity, "purity, labels of .98 and .02", uneven, 50, 2_000)
    covered = EQUAL_LABELS_COVERED["50 equal labels"]
    yield Attack(COMMONEST, precision, "precision, 50 labels, 15 given of 60 covered", covered, 60, 500)
    for labels in (2, 3, 50):
        system = EQUAL_LABELS[f"{labels:,} equal labels"]
        yield Attack(COMMONEST, attacks.sampled_until, f"sample_until at .90, {labels} labels", system, 400, 1_000, 0.9)


def choosing() -> Iterator[Attack]:
    four, columns = GIVEN["4 explanations"], choices.Columns(60, 0.8)
    yield Attack(CHOICES, choices.all_pairs, "50 equal groups, all 1,225 pairs hold", four, 200, 100)
    windows = renamed(
        windowed, before="fewer than 5 marked, first window", after="fewer than 5 marked, first 5 windows"
    )
    yield Attack(CHOICES, windows, "30 windows, fewer than 5 marked: vs 1 | vs 5", four, 200, 300)
    told_together = renamed(windowed, after="29 windows from the first, together")
    yield Attack(CHOICES, told_together, "30 windows, all hold", four, 200, 300)
    yield Attack(CHOICES, choices.chosen_best, "Best of 60 discretizers", columns, 400, 200)
    yield Attack(CHOICES, choices.certified_best, "certify(jackknife), 60 discretizers", columns, 400, 200)
    yield Attack(CHOICES, choices.certified_proven, "certify (McDiarmid), 60 discretizers", columns, 400, 50)
    yield Attack(CHOICES, choices.identical, "the same explainer twice", GIVEN["100 equal"], 400, 100)


def held() -> Iterator[Attack]:
    rare = lambda n: simulated(contradicted(n, 10))  # noqa: E731
    pairs: list[tuple[str, Any, int]] = [
        ("two populations, 4 explanations", (GIVEN["4 explanations"], GIVEN["4 explanations"]), 2_500),
        ("two populations, rare flips both", (rare(300), rare(300)), 300),
        ("two populations, rare flips and pure", (rare(1_000), GIVEN["one label only"]), 1_000),
        ("two populations, rare flips and noisy", (rare(1_000), GIVEN["100 equal"]), 1_000),
    ]
    for name, systems, n in pairs:
        yield Attack(HOLD, choices.two_populations, name, systems, n, 1_000)
    for faithful in (True, False):
        for n in (100, 1_000):
            other = choices.Pair(GIVEN["4 explanations"], 0.95, faithful)
            name = f"paired, 95% unverifiable, {'all' if faithful else 'none'} faithful"
            yield Attack(HOLD, choices.paired, name, other, n, 150)
    for width in (3, 10):
        windows = beside(GIVEN["100 equal"].q[:40], 1, width - 1)
        for n in (60, 300):
            name = f"rules that miss their own row, {width} of 40 points"
            yield Attack(HOLD, attacks.only_default, name, windows, n, 300)
    rows = renamed(local, after="local consistency, a row")
    for labels in (2, 20):
        system = EQUAL_LABELS[f"{labels} equal labels"]
        yield Attack(HOLD, rows, f"local consistency of a row, {labels} labels", system, 400, 300)


def fitting() -> Iterator[Attack]:
    for n in (400, 1_000, 5_000):
        system = (FittedLeaves(64), FittedLeaves(64, fresh=True))
        yield Attack(FITTED, attacks.fitted, "64 leaves fitted to coin flips", system, n, 100)


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


def try_all(names: Iterable[str], quick: bool = False) -> list[AttackLine]:
    """All attacks of these kinds; in seconds: two draws of three small samples per section."""
    chosen = [attack for name in names for attack in ATTACKS[name]()]
    if not quick:
        return [try_attack(attack) for attack in chosen]
    small = [attack for attack in chosen if attack.n <= 1_000]
    sections = {section: [each for each in small if each.section == section] for section in _sections(small)}
    return [try_attack(attack, 2) for several in sections.values() for attack in several[:3]]


def _sections(several: list[Attack]) -> list[str]:
    return list(dict.fromkeys(attack.section for attack in several))
