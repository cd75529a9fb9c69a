"""The explanation systems of the paper's experiments: boosted trees with each explainer, in both settings."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

import faithscope as fs
from faithscope_reproduction.authors.label_shap import LabelShap
from faithscope_reproduction.authors.random_flips import RandomFlips
from faithscope_reproduction.authors.released_anchors import ReleasedAnchors
from faithscope_reproduction.data import Floats, Ints, Split
from faithscope_reproduction.intervals import JACKKNIFE
from faithscope_reproduction.models import Boosted, trained
from faithscope_reproduction.records import Setting
from faithscope_reproduction.settings import Settings

_BACKGROUND = {"as_run": 100, "as_defined": 25}  # rows of SHAP's background: exact values take time for each
_QUICK_ROWS, _QUICK_BACKGROUND = 60, 20
_KNOWN = 50_000  # training rows that explainers learn from, at most
_FRACTIONS = ("heart",)  # its whole numbers are written 1.0, which dice-ml takes for one decimal


@dataclass(frozen=True, eq=False)
class BoostedSystem:
    """Boosted trees on a data set, the test rows to be explained, and what the trees predict for them.

    Attributes
    ----------
    setting : str
        As defined or as run: decides the split, the model and what explainers learn from.
    split : Split
    model : Boosted
    rows : (n, d) array
    predictions, truth : (n,) arrays
        What the model says of them, and their labels.
    settings : Settings
    """

    setting: Setting
    split: Split
    model: Boosted
    rows: Floats
    predictions: Ints
    truth: Ints
    settings: Settings

    @classmethod
    def of(cls, name: str, settings: Settings, setting: Setting, most: int | None = None) -> "BoostedSystem":
        """Train or read the model of a data set; explain at most `most` of its test rows, fewer in a quick run."""
        most = min(most or _QUICK_ROWS, _QUICK_ROWS) if settings.quick else most
        data, model = trained(name, settings, setting)
        chosen = data.chosen(settings, setting)[:most]
        rows = data.test[chosen]
        return cls(setting, data, model, rows, model.predict(rows), data.y_test[chosen], settings)

    @property
    def known(self) -> Floats:
        """Rows that explainers learn from: training rows, as run the test rows themselves.

        They are in random order, so the first are as good as any.
        """
        return (self.split.test if self.setting == "as_run" else self.split.train)[:_KNOWN]

    def shap(self) -> Any:
        """As run: Kernel SHAP of the label. As defined: exact SHAP of probabilities, or of margins for many classes."""
        seed = self.settings.seed
        count = _QUICK_BACKGROUND if self.settings.quick else _BACKGROUND[self.setting]
        if self.setting == "as_run":
            from shap import sample

            return LabelShap(self.model, sample(self.split.test, count), seed=seed)
        background = self.split.train[np.random.default_rng(seed).choice(len(self.split.train), count, replace=False)]
        table = self.model.table is not None  # few enough features to try all coalitions
        output: Any = "margin" if len(self.split.classes) > 2 and not table else "probability"
        model = self.model if table else self.model.estimator
        return fs.explainers.Shap(model, background, output=output, seed=seed)

    def lime(self) -> Any:
        """As run: class 1 alone, every column a number. As defined: all classes, categories as categories.

        Every row has draws of its own, as in the ``lime`` package.
        """
        how: dict[str, Any] = {"samples": 300 if self.settings.quick else 5_000, "seed": self.settings.seed}
        how |= {"class_index": 1} if self.setting == "as_run" else {"categorical": self.split.categorical}
        return fs.explainers.Lime(self.model, self.known, draws="own", **how)

    def counterfactual(self) -> Any:
        """As run: dice-ml's random method; of many classes, always the first."""
        if self.setting == "as_defined":
            return fs.explainers.Counterfactual(self.model, self.known, categorical=self.split.categorical)
        known, seed = self.split.train[:_KNOWN], self.settings.seed
        wanted = 0 if len(self.split.classes) > 2 else None
        fractions, samples = self.split.name in _FRACTIONS, 100 if self.settings.quick else 1_000
        return RandomFlips(self.model, known, wanted=wanted, fractions=fractions, samples=samples, seed=seed)

    def anchors(self, threshold: float) -> Any:
        """As run: as the package anchor-exp gives them, of all test rows. As defined: ours, with its beam of 1."""
        if self.setting == "as_run":
            return ReleasedAnchors(self.model, self.split.test, self.split.names, threshold, seed=self.settings.seed)
        how: dict[str, Any] = {"categorical": self.split.categorical, "seed": self.settings.seed}
        return fs.explainers.Anchors(self.model, self.known, threshold=threshold, beam=1, **how)

    def evaluated(self, explainer: Any) -> fs.Evaluation:
        """The evaluation of an explainer on the rows; explanations are read from the cache if they are there."""
        cache, progress = self.settings.explanations, self.settings.progress
        return fs.evaluate(self.predictions, explainer, self.rows, interval=JACKKNIFE, cache=cache, progress=progress)

    def values(self, explainer: Any) -> Floats:
        """The vectors that an explainer gives the rows, one per row."""
        return cast("fs.Importances", self.evaluated(explainer).explanations).values
