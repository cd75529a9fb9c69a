"""Figure 4: one model, two populations, four explainers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope_reproduction.authors import random_flips
from faithscope_reproduction.claims import by_blocks, by_interval
from faithscope_reproduction.intervals import JACKKNIFE
from faithscope_reproduction.numbers import mean_of, noted
from faithscope_reproduction.printed import in_figure
from faithscope_reproduction.records import SETTINGS, Claim, Figure, Outcome, Record, Setting, total
from faithscope_reproduction.settings import Settings
from faithscope_reproduction.systems import BoostedSystem

_DRAWS, _THRESHOLD, _OFTEN = 5, 0.7, 0.75
_BEST = (("anchors", 0), ("shap", 1))  # which explainer is said to be best in which population; these are printed
_NOTES = {
    "as_defined": "by the text, rows of label >50K are in population 1 with chance .75",
    "as_run": "by the caption, which contradicts the text, rows of label <=50K are in population 1 with chance "
    ".75; anchors are as anchor-exp gives them",
}
Ints = NDArray[np.int64]


def run(figure: str, settings: Settings) -> Outcome:
    """Consistency in both populations, over five ways to draw them, in both settings."""
    return total(settings.each(figure, _in_setting, zip(SETTINGS)))


def first_population(truth: Ints, setting: Setting, seed: int, draw: int) -> NDArray[np.bool_]:
    """Which rows are in the first population, by chance and by their label."""
    often = truth == (1 if setting == "as_defined" else 0)
    return np.random.default_rng([seed, draw]).random(len(often)) < np.where(often, _OFTEN, 1 - _OFTEN)


def _in_setting(setting: Setting, settings: Settings) -> Outcome:
    system = BoostedSystem.of("adult", settings, setting)
    given = _explanations(system)
    drawn = [first_population(system.truth, setting, settings.seed, draw) for draw in range(_DRAWS)]

    def consistency(name: str, rows: Ints) -> fs.Estimate:
        return fs.consistency(given[name].take(rows), system.predictions[rows], interval=JACKKNIFE)

    records = []
    for name in given:
        for population in (0, 1):
            known = in_figure("figure4", name) if (name, population) in _BEST else None
            case = f"{name} population {population + 1}"
            like = Record("figure4", case, "consistency", setting, 0, None, known, note=_NOTES[setting])
            estimates = [consistency(name, np.flatnonzero(first if not population else ~first)) for first in drawn]
            records.append(noted(mean_of(estimates, like), f"{_NOTES[setting]}; unexplained"))

    def gaps(rows: Ints) -> NDArray[np.float64]:
        """Differences between populations, and between the explainer said to be best and the next."""
        parts = (rows[drawn[0][rows]], rows[~drawn[0][rows]])
        values = {name: np.array([consistency(name, part).value for part in parts]) for name in given}
        ahead = [values[name][at] - max(values[other][at] for other in given if other != name) for name, at in _BEST]
        return np.array([*(abs(a - b) for a, b in values.values()), *ahead])

    value, margin = by_blocks(gaps, len(system.rows))
    words = [f"the estimated consistency of {name} differs between the populations" for name in given]
    words += [f"{name} has the highest estimated consistency in population {at + 1}" for name, at in _BEST]
    test = f"95% jackknife interval of the difference, one draw of the populations from {len(system.rows):,} rows"
    claims = [
        by_interval(Claim("figure4", setting, words=claim, test=test), v - m, v + m)
        for claim, v, m in zip(words, value, margin, strict=True)
    ]
    return Outcome(tuple(records), (_figure(setting, records),), tuple(claims))


def _explanations(system: BoostedSystem) -> dict[str, Any]:
    """Anchors at 0.7, SHAP and LIME with one decimal, and the signs of counterfactuals' changes."""
    defined, flips = system.setting == "as_defined", system.counterfactual()
    decimal: Any = fs.Floor(1) if defined else fs.Truncate(1)
    explainers = {"anchors": system.anchors(_THRESHOLD), "shap": system.shap(), "lime": system.lime()}
    given: dict[str, Any] = {name: system.evaluated(each).explanations for name, each in explainers.items()}
    given |= {name: decimal(given[name]) for name in ("shap", "lime")}
    if defined:
        changes: Any = fs.DeltaSign()(system.evaluated(flips).explanations)
    else:
        changes = random_flips.discretized(system.values(flips), system.rows)["delta-sign"]
    return given | {"counterfactuals": changes}


def _figure(setting: Setting, records: list[Record]) -> Figure:
    points = [
        (*record.case.split(" population "), mean, mean - spread, mean + spread)
        for record in records
        for mean, spread in ((record.ours or 0.0, record.std or 0.0),)
    ]
    columns = dict(zip(("curve", "x", "y", "low", "high"), map(list, zip(*points, strict=True)), strict=True))
    columns["x"] = [int(population) for population in columns["x"]]
    title = f"Two populations of Adult, {setting.replace('_', ' ')} (lines: standard deviation of five draws)"
    return Figure(f"figure4-{setting}", title, "population", "estimated consistency", columns)
