"""Figure 2: one record of Adult, two anchors, and how many test rows they are given to and cover."""

import sys
from typing import Any

import numpy as np

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.reproduce.claims import by_interval
from faithscope.reproduce.models.boosted import boosted
from faithscope.reproduce.models.splits import Split, split
from faithscope.reproduce.models.trained import by_scikit_learn
from faithscope.reproduce.printed import in_figure
from faithscope.reproduce.records import Claim, Outcome, Record, Setting, total
from faithscope.reproduce.settings import Settings, Steps

ID = "figure2"
TITLE = "Two anchors of one record of Adult, and their local measures"
THRESHOLDS = (0.5, 0.95)
_RECORD = {"age": 38, "fnlwgt": 89814}  # no other record has both
_NOTES = {
    "as_defined": "a random third of the rows for testing; beam 4; categories are categories",
    "as_run": "UCI's own test rows, which anchors are learned from too; scikit-learn's boosting; beam 1; all columns "
    "are numbers",
}
_QUICK = 30
_KEPT_TOGETHER = 2_000  # rows in a file of the cache: rows that are explained together share perturbed rows


def run(settings: Settings) -> Outcome:
    """Counts and local measures of both anchors; as run, also of the very anchors that the paper prints."""
    steps = Steps(settings, sys.modules[__name__])
    outcomes = [
        steps.do(f"{setting} {threshold}", _local_measures, threshold, setting, settings)
        for setting in ("as_defined", "as_run")
        for threshold in THRESHOLDS
    ]
    return total(outcomes) + steps.do("printed anchors", _as_printed, settings)


def _local_measures(threshold: float, setting: Setting, settings: Settings) -> Outcome:
    """The anchor of the record at one threshold, among the anchors of all test rows."""
    data, model = _system(setting, settings)
    rows = data.frame(data.test[:_QUICK] if settings.quick else data.test)
    anchors = _anchors(data, model, threshold, setting)
    cache = fs.Cache(settings.explanations, rows=_KEPT_TOGETHER)
    ev = fs.evaluate(model, anchors, rows, interval="jackknife", cache=cache, progress=settings.progress)
    record = data.frame(_record(data)[None, :])
    # All rows were just explained; only the record is explained anew.
    local = fs.local(record, model, lambda asked: ev.explanations if len(asked) > 1 else anchors.explain(asked), rows)
    return Outcome(tuple(_records(local, threshold, setting)))


def _system(setting: Setting, settings: Settings) -> tuple[Split, Any]:
    """Adult and its model: xgboost; as run scikit-learn's, whose counts are the printed ones but for two rows."""
    if setting == "as_defined":
        return boosted("adult", settings)
    return split("adult", settings.folder, settings.seed, "as_run"), by_scikit_learn("adult", settings)


def _anchors(data: Split, model: Any, threshold: float, setting: Setting) -> Any:
    if setting == "as_defined":
        train = data.frame(data.train)
        return fs.explainers.Anchors(model, train, threshold=threshold, categorical=data.categorical)
    return fs.explainers.Anchors(model, data.frame(data.test), threshold=threshold, beam=1)


def _record(data: Split) -> Any:
    """The record that the paper shows, from either part of the split."""
    every = np.concatenate([data.train, data.test])
    columns = [data.names.index(name) for name in _RECORD]
    place = np.flatnonzero((every[:, columns] == list(_RECORD.values())).all(axis=1))
    if not len(place):
        raise BadInput(
            "These rows of Adult lack the record of the paper's Figure 2 (age 38, fnlwgt 89814); use UCI's data set."
        )
    return every[place[0]]


def _records(local: Any, threshold: float, setting: Setting) -> list[Record]:
    scope, note = local.sufficiency, f"the anchor is: {local.explanation}; {_NOTES[setting]}"
    numbers = {
        "given": (local.others, None, None),
        "given with label <=50K": (local.agreeing, None, None),
        "covered": (scope.others, None, None),
        "covered with label <=50K": (scope.agreeing, None, None),
        "local consistency": (local.value, local.low, local.high),
        "local sufficiency": (scope.value, scope.low, scope.high),
    }
    return [
        _like(threshold, measure, setting, local.seen, ours, low=low, high=high, note=note + _given(measure))
        for measure, (ours, low, high) in numbers.items()
    ]


def _given(measure: str) -> str:
    """Why we find more rows with the same anchor than the paper prints."""
    if not measure.startswith("given"):
        return ""
    return "; probably the paper's package drew anew for every row, so that rows alike were given different anchors"


def _like(threshold: float, measure: str, setting: Setting, n: int, ours: float | None, **more: Any) -> Record:
    case = f"threshold {threshold:g}"
    return Record(ID, case, measure, setting, n, ours, in_figure(ID, f"{case}: {measure}"), **more)


def _as_printed(settings: Settings) -> Outcome:
    """The anchors that the paper prints, applied to UCI's test rows; counting covered rows needs no explainer."""
    data, model = _system("as_run", settings)
    labels = model.predict(data.test)
    anchors = [[("education-num", "<=", 9.0)]]
    anchors.append([*anchors[0], ("capital-gain", "<=", 0.0), ("fnlwgt", "<=", 116_736.0)])
    records: list[Record] = []
    shares = []
    for threshold, anchor in zip(THRESHOLDS, anchors, strict=True):
        holds = np.all([data.test[:, data.names.index(name)] <= value for name, _, value in anchor], axis=0)
        counts = (int(holds.sum()), int(np.sum(holds & (labels == 0))))
        shares.append(counts)
        for measure, ours in zip(("covered", "covered with label <=50K"), counts, strict=True):
            case = f"printed anchor, threshold {threshold:g}"
            known = in_figure(ID, f"threshold {threshold:g}: {measure}")
            records.append(Record(ID, case, measure, "as_run", len(labels), ours, known, note="UCI's own test rows"))
    return Outcome(tuple(records), claims=(_claim(*shares),))


def _claim(wide: tuple[int, int], narrow: tuple[int, int]) -> Claim:
    """Is the longer anchor more often right? The rows that it covers are a subset of those of the shorter."""
    rest = (wide[0] - narrow[0], wide[1] - narrow[1])
    inside, outside = narrow[1] / narrow[0], rest[1] / rest[0]
    spread = np.sqrt(inside * (1 - inside) / narrow[0] + outside * (1 - outside) / rest[0])
    return by_interval(
        Claim(
            ID,
            "as_run",
            words="a higher threshold improved the sufficiency of the printed anchors",
            test="95% interval of the share of <=50K in the longer anchor less that in the rest of the shorter",
        ),
        inside - outside - 1.96 * spread,
        inside - outside + 1.96 * spread,
    )
