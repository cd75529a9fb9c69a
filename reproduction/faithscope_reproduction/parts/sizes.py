"""Tables 3 and 4: the data sets, and the models' settings and accuracy."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.datasets import PAPER, load
from faithscope_reproduction.data import NAMES, Split, review_texts
from faithscope_reproduction.models import STAND_IN, trained
from faithscope_reproduction.numbers import ranged, share
from faithscope_reproduction.printed import printed
from faithscope_reproduction.records import NEAR, SETTINGS, Begun, Compute, Outcome, Record, Setting, total
from faithscope_reproduction.settings import Settings

_NOTES: dict[str, dict[Any, str]] = {
    "chess": dict.fromkeys(
        SETTINGS,
        "the file has 18 labels, draw and the depths zero to sixteen; 17 is what remains if the words are mapped to "
        "the numbers 0 to 16 and draw, which is no number, is left out of the count (arithmetic alone)",
    ),
    "rt_polarity": {
        "as_defined": "all documents, and all words of all of them",
        "as_run": "documents in pure ASCII, and the words of the training four fifths",
    },
}
_STAND_IN = (
    "a stand-in that follows scikit-learn's rule (trees on residuals, Newton leaves, no penalty) with binned splits: "
    "scikit-learn itself would train for an hour and a half"
)
DRAWS = 10


def run(table: str, settings: Settings) -> Outcome:
    """Classes, rows and features of each data set; or accuracies of xgboost (as defined) and scikit-learn (as run)."""
    if table == "table3":
        return total(settings.each(table, _sizes, zip(PAPER)))
    steps = settings.each(table, accuracies, zip(NAMES))
    return with_other_seeds(steps, settings, f"{table} heart", accuracies, "heart")


def with_other_seeds(steps: Iterable[Begun], settings: Settings, table: str, compute: Compute, *case: Any) -> Outcome:
    """The outcome of steps, with the range of one of them over nine other seeds: of its split and its explainers."""
    seeds = range(settings.seed + 1, settings.seed + (2 if settings.quick else DRAWS))
    others = [replace(settings, seed=seed).do(f"{table} {seed}", compute, *case) for seed in seeds]
    return ranged(total(steps), [other.result() for other in others], "the split and of the explainers")


def _sizes(name: str, settings: Settings) -> Outcome:
    dataset = load(name, settings.folder)
    whole = {"classes": len(dataset.classes), "n": len(dataset.X), "d": dataset.X.shape[1]}
    used = whole
    if name == "rt_polarity":
        from sklearn.feature_extraction.text import CountVectorizer

        texts, (train, test, *_) = review_texts(settings)
        every, known = (len(CountVectorizer().fit(part).vocabulary_) for part in (texts, train))
        whole, used = whole | {"d": every}, whole | {"n": len(train) + len(test), "d": known}
    records = [
        Record("table3", name, measure, setting, sizes["n"], ours, printed("table3", measure, dataset=name))
        for setting, sizes in zip(SETTINGS, (whole, used), strict=True)
        for measure, ours in sizes.items()
    ]
    return Outcome(tuple(replace(record, note=_NOTES.get(name, {}).get(record.setting, "")) for record in records))


def accuracies(name: str, settings: Settings) -> Outcome:
    """Of the models of a data set, which are trained if they are not kept."""
    data, model = trained(name, settings, "as_defined")
    records = [_accuracy(data, model, "as_defined", "xgboost")]
    data, model = trained(name, settings, "as_run")
    records.append(_accuracy(data, model, "as_run", _STAND_IN if name in STAND_IN else "scikit-learn's boosting"))
    return Outcome(tuple(records))


def _accuracy(data: Split, model: Any, setting: Setting, note: str) -> Record:
    known = printed("table4", "test_accuracy", dataset=data.name)
    right = int(np.sum(model.predict(data.test) == data.y_test))
    record = share(Record("table4", data.name, "test_accuracy", setting, 0, None, known), right, len(data.y_test))
    if record.off is not None and record.off > NEAR:  # a difference that two printed digits show
        inside = (record.low or 0.0) <= (known or 0.0) <= (record.high or 0.0)
        note += "; so few test rows do not tell them apart" if inside else "; unexplained"
    return replace(record, note=note)
