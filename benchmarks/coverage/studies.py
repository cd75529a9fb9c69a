"""The studies of single measures: what is asked of which systems, with how many rows, how often, and what must hold."""

from functools import partial

import numpy as np
import pandas as pd
from decoders import DECODED, simulatability
from draws import ROW_KINDS, TABLES, of_kinds, of_rules
from encoders import CHOICES, ENCODERS, HONEST, Choices, encoded_bar, encodes, found_bar
from groups import COVERED_GROUPS, GROUPED, NUMBER_GROUPS, SPREAD_GROUPS, beside, beside_reference
from harness import Line, always, ends, from_200, said
from naming import NAMING, naming
from numeric import AGREEMENTS, NUMERIC, NUMERIC_COVERED, NUMERIC_WITHIN, UNSEEN, VECTORS, measured
from runs import PAIRS, RUNS, agreement, repeatability, repeated_bar
from signs import SIGNS, direction
from systems import JUDGED, NECESSARY

import faithscope as fs
from planted_reasons import certified
from planted_reasons import intervals as reason_intervals
from reason_systems import ReasonSystem


def necessity(system, n, rng):
    """The interval of necessity, and whether necessity is said to be above chance."""
    kinds, labels = system.draw(n, rng)
    estimate = fs.necessity(**system.ruled(kinds), **system.asked(kinds, labels))
    return {
        "necessity": ends(estimate, system.necessity),
        "not said to be above chance": said(estimate.above_chance is not True),
    }


def necessity_bar(system, interval, n):
    """Where explanations have nothing to do with predictions, few are said to be above chance."""
    return 0.93 if interval == "necessity" else 0.95 if "unrelated" in system else None


def judged(system, n, rng, asked):
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
        row, explanation = np.indices(answers.shape).reshape(2, -1)
        judge = fs.Judged(pd.DataFrame({"row": row, "explanation": explanation, "applies": answers.ravel()}))
    else:
        table = fs.pairs_to_ask(reasons, asked, seed=int(rng.integers(2**31)))
        table["applies"] = population.covers[kinds[first[table["explanation"]]], kinds[table["row"]]]
        judge = fs.Judged(table.drop(columns="text"))
    estimate = fs.sufficiency(reasons, relation=judge, **population.asked(kinds, labels))
    name = f"{asked or 'all'} asked"
    return {
        name: ends(estimate, population.truth),
        f"{name}: unverifiable": estimate.unverifiable,
    }


def judged_bar(system, interval, n):
    """Coverage is asked for; how many rows are unverifiable is only shown."""
    return 0.93 if interval.endswith("asked") else None


REASONS = {
    "policy, noise": ReasonSystem(noise=0.1, wordings=8, details=True),
    "random reasons": ReasonSystem("chance", wordings=8, details=True),
    "made to suit": ReasonSystem("decision", shortcut=0.6, wordings=8),
    "half name the label": ReasonSystem(shortcut=0.4, wordings=4, names_label=0.5),
    "few name the label": ReasonSystem(shortcut=0.6, wordings=2, names_label=0.03),
    "copied answer": ReasonSystem("answer", wordings=8),
    "wording half tells": ReasonSystem(shortcut=0.6, wordings=8, style=0.5),
}


def reasons(system, n, rng):
    """All intervals about reasons in words; phrases are learned on one half, and have a truth of their own."""
    rows = system.draw(n, int(rng.integers(2**31)))
    answers = {name: ends(*told) for name, told in reason_intervals(system, rows).items()}
    if not system.details:
        phrases, told = fs.CommonPhrases(8), (rows.reasons, rows.predictions)
        _, learned = fs.Sample.of(*told).settled(phrases)
        codes = learned(fs.Reasons([kind.text for kind in system._kinds])).group()[0].tolist()
        answers["phrases"] = ends(fs.consistency(*told, discretizer=phrases), system._consistency(codes))
    return answers


def certified_texts(system, n, rng):
    """A lower bound on the consistency of texts, from the codebook."""
    return {"certify, tight": (certified(system, system.draw(n, int(rng.integers(2**31)))), 1.0, system.truth.text)}


def numbers_bar(system, interval, n):
    """Spread is not judged where one row in a hundred holds most of the variance: 200 rows may lack it."""
    return None if system in UNSEEN and "spread" in interval else from_200(system, interval, n)


HOWS = {"independent": 300, "weighted": 200, "clustered": 200}


def lines():
    """All of them."""
    some = ("half broad, half single", "twenty rare labels", "clustered: sliding, broad", "unrelated, narrow")
    yield Line("necessity", necessity, NECESSARY, 150, some, necessity_bar)
    some, often = ("rarely wrong", "shared, broad, noisy", "one panel of rows, broad"), {60: 150, 300: 100, 1_000: 40}
    for asked in (2, 5, 20, None):
        quick = some if asked in (2, 20) else ()
        yield Line("judged", partial(judged, asked=asked), JUDGED, often, quick, judged_bar, quick_rows=300)
    some = ("20, Student t3", "20, lognormal", "heteroscedastic", "mostly constant", "probabilities")
    for measure, names, systems, times, quick in (
        ("consistency", tuple(AGREEMENTS), NUMERIC | UNSEEN, 1_000, some),
        ("consistency", ("spread",), VECTORS, 1_000, ("3 classes",)),
        ("sufficiency", tuple(AGREEMENTS), NUMERIC_COVERED, 300, ("sliding, Student t3", "beside its own row")),
        ("within", tuple(AGREEMENTS), NUMERIC_WITHIN, 300, ("sliding, normal",)),
    ):
        ask = partial(measured, measure=measure, names=names)
        yield Line(f"numbers/{measure}", ask, systems, times, quick, numbers_bar)
    covered, spread = ("sufficiency", "necessity"), ("spread",)
    for how, times in HOWS.items():
        yield Line("simulatability", partial(simulatability, how=how), DECODED, times, ("mixed, few",))
        ask = partial(beside, how=how, measures=("consistency",), name="{what} beside everybody, {how}")
        yield Line("beside/everybody", ask, GROUPED, {200: times, 1_000: times}, ("medium, random, 40%",))
        for what, measures, agreements, systems, quick in (
            ("covered", covered, (None,), COVERED_GROUPS, "nested, shuffled"),
            ("outputs", ("consistency",), spread, SPREAD_GROUPS, "4, normal, alike"),
            ("outputs", covered[:1], ("close", *spread), NUMBER_GROUPS, "sliding, Student t3, alike"),
        ):
            ask = partial(beside, how=how, measures=measures, agreements=agreements)
            yield Line(f"beside/{what}", ask, systems, {200: 40, 1_000: 20}, (quick,))
    for how in ("independent", "weighted"):
        ask = partial(beside_reference, how=how)
        yield Line("beside/reference", ask, GROUPED, {200: 200, 1_000: 200}, ("medium, alike, 40%",))
    some = ("one row in 20 disagrees", "rows of all kinds")
    for how, *asked in (("independent", 1, 3, 10, 100), ("weighted", 3), ("clustered", 3)):
        for draws in asked:
            ask = partial(of_kinds, draws=draws, how=how)
            yield Line("draws", ask, ROW_KINDS, HOWS[how], some if draws < 10 else ())
    for draws in (1, 10):
        yield Line("draws", partial(of_rules, draws=draws), TABLES, 200)
    some = ("the prediction itself", "some encoding, 3 labels", "some encoding, nested rules")
    rows = (60, 200, 1_000)
    yield Line("encoding", Choices.ask, CHOICES, 300, some, encoded_bar, rows)
    for systems, truly, times, some in (
        (ENCODERS, True, 200, ("by margin",)),
        (HONEST, False, 400, ("nested rules", "unequal shares")),
    ):
        yield Line("encoders", partial(encodes, truly=truly), systems, times, some, found_bar, rows, 1_000)
    yield Line("reasons", reasons, REASONS, 120, ("half name the label", "wording half tells"), always, rows, 300)
    yield Line("reasons", certified_texts, REASONS, 120, ("policy, noise",), always, rows)
    some = ("own luck, .3", "own luck, .01", "runs differ much", "moving thresholds, .05")
    for runs in (2, 3, 5, 20):
        ask, quick = partial(repeatability, runs=runs), some if runs == 5 else ()
        yield Line("repeatability", ask, RUNS, 300, quick, repeated_bar, (50, 500), 50)
    yield Line("naming", naming, NAMING, {400: 60}, ("anything", "mostly 0"))
    some = ("half alike, 20 kinds", "1% differ", "one sign on 95%", "clusters of 5")
    yield Line("agreement", agreement, PAIRS, 1_000, some)
    yield Line("direction", direction, SIGNS, 200, ("signs 90% right", "clusters of 5"))
