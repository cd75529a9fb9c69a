"""Figure 5: LIME explains two rows of the XOR model alike, though their labels differ."""

import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope_reproduction.claims import by_interval
from faithscope_reproduction.printed import in_figure
from faithscope_reproduction.records import SETTINGS, Claim, Outcome, Record, Setting, total
from faithscope_reproduction.samples import half_width
from faithscope_reproduction.settings import Settings, Steps

ID = "figure5"
TITLE = "LIME on XOR: two rows, two labels, one explanation"
ROWS = ((2.5, 0.5), (-2.5, 0.5))
_TRAIN, _SAMPLES, _REPEATS = 4_000, 5_000, 20
_NEAR = 0.05
_NOTES = {
    "as_defined": "lime's default, quarters of evenly spread training rows: by symmetry both features count alike",
    "as_run": "numbers as they are (discretize_continuous=False), the predicted class; training rows even from -1 "
    "to 1, chosen because they fit; the paper says none of this",
}


def run(settings: Settings) -> Outcome:
    """Importances of both features at both rows, in both settings."""
    steps = Steps(settings, sys.modules[__name__])
    return total(steps.do(setting, _in_setting, setting, settings) for setting in SETTINGS)


def xor(rows: Any) -> NDArray[np.float64]:
    """The paper's model: 1 if both features have the same sign, else 0."""
    return np.asarray(np.sign(rows[:, 0]) == np.sign(rows[:, 1]), np.float64)


def _in_setting(setting: Setting, settings: Settings) -> Outcome:
    importances = np.array([_importances(setting, settings.seed + repeat) for repeat in range(_REPEATS)])
    mean, spread = importances.mean(axis=0), importances.std(axis=0, ddof=1)
    records = []
    for row, point in enumerate(ROWS):
        for feature, word in enumerate(("first", "second")):
            printed = in_figure(ID, "lime importance of the second feature") if feature else 0.0
            case = f"{word} feature at ({point[0]} {point[1]})"
            record = Record(ID, case, "importance", setting, _SAMPLES, float(mean[row, feature]), printed)
            spreads = float(spread[row, feature])
            records.append(replace(record, std=spreads, repeats=_REPEATS, note=_NOTES[setting]))
    return Outcome(tuple(records), claims=(_claim(setting, importances),))


def _importances(setting: Setting, seed: int) -> NDArray[np.float64]:
    """Importances of both rows: (rows, features)."""
    rng = np.random.default_rng(seed)
    reach = 5.0 if setting == "as_defined" else 1.0
    train = rng.uniform(-reach, reach, (_TRAIN, 2))
    with warnings.catch_warnings(action="ignore"):  # that two rows may speak of two classes is the point here
        lime = fs.explainers.Lime(
            xor,
            train,
            class_index="predicted",
            discretize=setting == "as_defined",
            samples=_SAMPLES,
            seed=seed,
            draws="own",
        )
        return lime.explain(ROWS).values


def _claim(setting: Setting, importances: NDArray[np.float64]) -> Claim:
    """Whether importances of the two rows, over seeds, are nearer than the printed two decimals can tell."""
    gaps = importances[:, 0] - importances[:, 1]
    mean, margin = np.abs(gaps.mean(axis=0)), half_width(gaps)
    least, most = mean - margin, mean + margin
    return by_interval(
        Claim(
            ID,
            setting,
            words="LIME gives two rows with different labels the same explanation",
            test=f"{_NEAR} less the largest difference between the rows' importances, 95% interval over {_REPEATS} "
            "seeds",
        ),
        float(_NEAR - most.max()),
        float(_NEAR - least.max()),
    )
