"""Figure 5: LIME explains two rows of the XOR model alike, though their labels differ."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope_reproduction.claims import by_interval, half_width
from faithscope_reproduction.printed import in_figure
from faithscope_reproduction.records import SETTINGS, Claim, Outcome, Record, Setting, total
from faithscope_reproduction.settings import Settings

ROWS = ((2.5, 0.5), (-2.5, 0.5))
_TRAIN, _SAMPLES, _REPEATS = 4_000, 5_000, 20
_NEAR = 0.05
_NOTES = {
    "as_defined": "lime's default, quarters of evenly spread training rows: by symmetry both features count alike",
    "as_run": "numbers as they are (discretize_continuous=False), the predicted class; training rows even from -1 "
    "to 1, chosen because they fit; the paper says none of this",
}


def run(figure: str, settings: Settings) -> Outcome:
    """Importances of both features at both rows, in both settings."""
    return total(settings.each(figure, _in_setting, zip(SETTINGS)))


def xor(rows: Any) -> NDArray[np.float64]:
    """The paper's model: 1 if both features have the same sign, else 0."""
    return np.asarray(np.sign(rows[:, 0]) == np.sign(rows[:, 1]), np.float64)


def lime_of_numbers(train: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """What lime gives to both rows of the class predicted there, if it sees numbers as they are.

    Draws are normal around the mean of the training rows, weighed by their distance from the row in standard
    deviations; the regression is of these deviations, with a ridge of 1.
    """
    mean, scale = train.mean(axis=0), train.std(axis=0)
    values = []
    for row in np.array(ROWS):
        drawn = np.vstack([(row - mean) / scale, rng.standard_normal((_SAMPLES - 1, len(row)))])
        weight = np.exp(-((drawn - drawn[0]) ** 2).sum(axis=1) / (2 * 0.75**2 * len(row)))
        same = xor(drawn * scale + mean) == xor(row[None])
        x, y = (each - np.average(each, axis=0, weights=weight) for each in (drawn, same.astype(np.float64)))
        values.append(np.linalg.solve((x.T * weight) @ x + np.eye(len(row)), (x.T * weight) @ y))
    return np.array(values)


def _in_setting(setting: Setting, settings: Settings) -> Outcome:
    defined = setting == "as_defined"
    reach = 5.0 if defined else 1.0
    values = []
    for seed in range(settings.seed, settings.seed + _REPEATS):
        train = np.random.default_rng(seed).uniform(-reach, reach, (_TRAIN, 2))
        if not defined:
            values.append(lime_of_numbers(train, np.random.default_rng([seed, _SAMPLES])))
            continue
        lime = fs.explainers.Lime(xor, train, class_index="predicted", samples=_SAMPLES, draws="own", seed=seed)
        with warnings.catch_warnings(action="ignore"):  # that two rows may speak of two classes is the point here
            values.append(lime.explain(ROWS).values)
    importances = np.array(values)  # (seeds, rows, features)
    records = []
    for row, point in enumerate(ROWS):
        for feature, word in enumerate(("first", "second")):
            known = in_figure("figure5", "lime importance of the second feature") if feature else 0.0
            case, drawn = f"{word} feature at ({point[0]} {point[1]})", importances[:, row, feature]
            record = Record("figure5", case, "importance", setting, _SAMPLES, float(drawn.mean()), known)
            std = float(drawn.std(ddof=1))
            records.append(replace(record, std=std, repeats=_REPEATS, note=_NOTES[setting]))
    # Are importances of the two rows, over seeds, nearer than the printed two decimals can tell?
    gaps = importances[:, 0] - importances[:, 1]
    mean, margin = np.abs(gaps.mean(axis=0)), half_width(gaps)
    claim = Claim(
        *("figure5", setting),
        words="LIME gives two rows with different labels the same explanation",
        test=f"{_NEAR} less the largest difference between the rows' importances, 95% interval over {_REPEATS} seeds",
    )
    return Outcome(
        tuple(records), claims=(by_interval(claim, _NEAR - (mean + margin).max(), _NEAR - (mean - margin).max()),)
    )
