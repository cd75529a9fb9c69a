"""The studies of single measures: what is asked of which systems, with how many rows, how often, and what must hold."""

from collections.abc import Iterator
from functools import partial
from itertools import repeat

import numpy as np
from decoders import AGREEMENTS as DECODED_AGREEMENTS
from decoders import DECODED, simulatability
from draws import ROW_KINDS, TABLES, of_kinds, of_rules
from encoders import CHOICES, ENCODERS, HONEST, Choices, encoded_bar, encodes, found_bar
from harness import Answers, Line, always, ends, from_200, named, numbered, said, sample_by_sample, spelled
from numeric import AGREEMENTS, NUMERIC, NUMERIC_COVERED, NUMERIC_WITHIN, UNSEEN, VECTORS, measured
from runs import PAIRS, RUNS, agreement, repeatability, repeated_bar
from systems import JUDGED, NECESSARY, Chance, FinitePopulation

import faithscope as fs
from faithscope.testing import ReasonSystem

ROWS = (50, 200, 1_000)


def necessity(system: FinitePopulation, n: int, rng: Chance) -> Answers:
    """The interval of necessity, and whether necessity is said to be above chance."""
    kinds, labels = system.draw(n, rng)
    estimate = fs.necessity(**system.ruled(kinds), **system.asked(kinds, labels))
    return {
        "necessity": ends(estimate, system.necessity),
        "not said to be above chance": said(estimate.above_chance is not True),
    }


def necessity_bar(system: str, interval: str, n: int) -> float | None:
    """Where explanations have nothing to do with predictions, few are said to be above chance."""
    return 0.93 if interval == "necessity" else 0.95 if "unrelated" in system else None


def judged(system: tuple[FinitePopulation, str], n: int, rng: Chance, asked: int | None) -> Answers:
    """Sufficiency by a judge's answers about random pairs, so many rows per explanation, or all of them."""
    population, worded = system
    kinds, labels = population.draw(n, rng)
    reasons, first = np.arange(n), np.arange(n)
    if worded == "shared":
        reasons, first = kinds, np.sort(np.unique(kinds, return_index=True)[1])
    if asked is None or worded == "panel":
        answers = population.covers[kinds[first]][:, kinds].T.astype(float)
        if asked is not None:
            answers[rng.permutation(n)[asked:]] = np.nan
        judge = fs.Judged(answers)
    else:
        table = fs.pairs_to_ask(reasons, asked, seed=int(rng.integers(2**31)))
        table["applies"] = population.covers[kinds[first[table["explanation"]]], kinds[table["row"]]]
        judge = fs.Judged(table.drop(columns="text"))
    estimate = fs.sufficiency(reasons, relation=judge, **population.asked(kinds, labels))
    return {
        f"{asked or 'all'} asked": ends(estimate, population.truth),
        f"{asked or 'all'} asked: not warned": said(not any("do not look random" in note for note in estimate.notes)),
        f"{asked or 'all'} asked: unverifiable": estimate.unverifiable,
        f"{asked or 'all'} asked: value": estimate.value,
        f"{asked or 'all'} asked: value and silence": estimate.upper,
    }


def judged_bar(system: str, interval: str, n: int) -> float | None:
    """Warnings that pairs do not look random are false here."""
    return 0.93 if interval.endswith("asked") else 0.99 if interval.endswith("warned") else None


REASONS = {
    "policy, noise": ReasonSystem(noise=0.1, wordings=8, details=True),
    "random reasons": ReasonSystem("chance", wordings=8, details=True),
    "made to suit": ReasonSystem("decision", shortcut=0.6, wordings=8),
    "half name the label": ReasonSystem(shortcut=0.4, wordings=4, names_label=0.5),
    "few name the label": ReasonSystem(shortcut=0.6, wordings=2, names_label=0.03),
    "copied answer": ReasonSystem("answer", wordings=8),
    "wording half tells": ReasonSystem(shortcut=0.6, wordings=8, style=0.5),
}


def reasons(system: ReasonSystem, n: int, seed: int) -> Answers:
    """All intervals about reasons in words; phrases are learned on one half, and have a truth of their own."""
    rows, truth = system.draw(n, seed), system.truth
    told = rows.reasons, rows.predictions
    answers = {}
    for name, discretizer in {"codebook": system.codebook, "text": None, "template": fs.Template()}.items():
        answers[name] = ends(fs.consistency(*told, discretizer=discretizer), getattr(truth, name))
    leak = fs.leakage(*told)
    answers["share"] = ends(leak, truth.named)
    answers["masked"] = ends(leak.masked, truth.masked_text)
    answers["difference"] = ends(leak.difference, truth.text - truth.masked_text)
    for measure in (fs.sufficiency, fs.necessity):
        name = measure.__name__
        answers[name] = ends(measure(rows.rules, rows.predictions, rows.X), getattr(truth, name))
    if not system.details:
        phrases = fs.CommonPhrases(8)
        _, learned = fs.Sample.of(*told).settled(phrases)
        answers["phrases"] = ends(fs.consistency(*told, discretizer=phrases), system.consistency_by(learned))
    return answers


def certified_texts(system: ReasonSystem, n: int, seed: int) -> Answers:
    """A lower bound on the consistency of texts, from the codebook."""
    rows = system.draw(n, seed)
    low = fs.certify(rows.reasons, rows.predictions, [None, system.codebook], interval="tight").low
    return {"certify, tight": (low, 1.0, system.truth.text)}


def numbers_bar(system: str, interval: str, n: int) -> float | None:
    """Spread is not judged where one row in a hundred holds most of the variance: 200 rows may lack it."""
    return None if system in UNSEEN and "spread" in interval else from_200(system, interval, n)


def lines() -> Iterator[Line]:
    """All of them."""
    some = ("half broad, half single", "twenty rare labels", "clustered: sliding, broad", "unrelated, narrow")
    yield Line("necessity", "necessity", necessity, NECESSARY, ROWS, 150, spelled(), necessity_bar, some)
    for asked in (2, 5, 20, None):
        times = {60: 150, 300: 100, 1_000: 40}
        ask, some = partial(judged, asked=asked), ("rarely wrong", "shared, broad, noisy", "one panel of rows, broad")
        some = some if asked in (2, 20) else ()
        yield Line("judged", "judged", ask, JUDGED, tuple(times), times, spelled(asked or 0), judged_bar, some, 300)
    some = ("20, Student t3", "20, lognormal", "heteroscedastic", "mostly constant", "probabilities")
    for measure, names, systems, times, quick in (
        ("consistency", tuple(AGREEMENTS), NUMERIC | UNSEEN, 1_000, some),
        ("consistency", ("spread",), VECTORS, 1_000, ("3 classes",)),
        ("sufficiency", tuple(AGREEMENTS), NUMERIC_COVERED, 300, ("sliding, Student t3", "beside its own row")),
        ("within", tuple(AGREEMENTS), NUMERIC_WITHIN, 300, ("sliding, normal",)),
    ):
        ask, seeds = partial(measured, measure=measure, names=names), named(f"numbers: {measure}")
        yield Line("numbers", f"numbers, {measure}", ask, systems, ROWS, times, seeds, numbers_bar, quick)
    for agreed, drawn in (
        *((agreed, "independent") for agreed in DECODED_AGREEMENTS),
        *((agreed, drawn) for drawn in ("weighted", "clustered") for agreed in ("labels", "spread")),
    ):
        ask = partial(simulatability, agreement=agreed, drawn=drawn)
        seeds, times = named(f"simulatability: {agreed}, {drawn}"), 300 if drawn == "independent" else 200
        some = ("mixed, few",) if agreed in ("labels", "spread") else ()
        yield Line("simulatability", "simulatability", ask, DECODED, ROWS, times, seeds, from_200, some)
    kinds = ("one row in 20 disagrees", "rows of all kinds")
    for draws, how in (*((draws, "independent") for draws in (1, 3, 10, 100)), (3, "weighted"), (3, "clustered")):
        name, times = (f"{draws}", 300) if how == "independent" else (how, 200)
        ask, some = partial(of_kinds, draws=draws, how=how), kinds if draws in (1, 3) else ()
        yield Line("draws", "draws", ask, ROW_KINDS, ROWS, times, named(f"populations: {name}"), from_200, some)
    for draws in (1, 10):
        ask, seeds = partial(of_rules, draws=draws), named(f"populations: rules {draws}")
        yield Line("draws", "draws", ask, TABLES, ROWS, 200, seeds, from_200)
    some = ("the prediction itself", "some encoding, 3 labels", "some encoding, nested rules")
    rows = (60, 200, 1_000)
    yield Line("encoding", "encoding", Choices.ask, CHOICES, rows, 300, sample_by_sample, encoded_bar, some)
    for systems, truly, times in ((ENCODERS, True, 200), (HONEST, False, 400)):
        ask, some = partial(encodes, truly=truly), ("by margin",) if truly else ("nested rules", "unequal shares")
        yield Line("encoders", "encoders", ask, systems, rows, times, sample_by_sample, found_bar, some, 1_000)
    some = ("half name the label", "wording half tells")
    yield Line("reasons", "reasons", reasons, REASONS, (60, 300, 1_000), 120, numbered, always, some, 300)
    yield Line(
        "reasons", "reasons", certified_texts, REASONS, (60, 300, 1_000), 120, numbered, always, ("policy, noise",)
    )
    for runs in (2, 3, 5, 20):
        some = ("own luck, .3", "own luck, .01", "runs differ much", "moving thresholds, .05") if runs == 5 else ()

        def seeds(system: str, n: int, runs: int = runs) -> Iterator[Chance]:
            return (np.random.default_rng([0, sample, runs, n]) for sample in range(10**6))

        ask = partial(repeatability, runs=runs)
        yield Line("repeatability", "repeatability", ask, RUNS, (50, 500), 300, seeds, repeated_bar, some, 50)

    def by_place(system: str, n: int) -> Iterator[Chance]:
        return repeat(np.random.default_rng(1_000 * list(PAIRS).index(system) + n))

    some = ("half alike, 20 kinds", "1% differ", "one sign on 95%", "clusters of 5")
    yield Line("agreement", "agreement", agreement, PAIRS, ROWS, 1_000, by_place, from_200, some)
