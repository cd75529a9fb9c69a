"""compare(): several explainers of one model on the same rows, side by side."""

import os
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import Discretize, discretize
from faithscope.errors import BadInput, UnknownName, WrongType
from faithscope.evaluation.best import Best, halves, to_choice
from faithscope.evaluation.cache import to_cache
from faithscope.evaluation.evaluate import System, described, is_baseline, labelled_like
from faithscope.evaluation.result import Evaluation, assess
from faithscope.explanations import Explanations
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.checks import same_length
from faithscope.inputs.frames import frame, shown
from faithscope.inputs.hints import hint
from faithscope.inputs.labels import to_labels
from faithscope.inputs.rows import rows_of, take_rows
from faithscope.measures.paired import (
    Measured,
    PairedDifference,
    consistency_left_out,
    paired_difference,
    sufficiency_left_out,
)
from faithscope.measures.populations import Populations, with_notes
from faithscope.runtime.memory import in_memory
from faithscope.runtime.progress import Told, Watch
from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd

    from faithscope.report.result import Contents

_MEASURES: tuple[Literal["consistency", "sufficiency"], ...] = ("consistency", "sufficiency")
_NUMBERS = ("n", "value", "low", "high", "unverifiable", "verified", "chance", "adjusted", "distinct")


@dataclass(frozen=True)
class Comparison:
    """Several explainers of one model on the same rows: a mapping from their names to their evaluations.

    ``found["tree"]`` is an `Evaluation`; ``in``, ``len``, iteration, `keys`, `values` and `items` are a mapping's.

    Attributes
    ----------
    evaluations : dict of str to Evaluation
        By the explainers' names.
    pairs : tuple of PairedDifference
        Differences between any two explainers, measured on the same rows.
    populations : dict of str to Populations
        The consistency of each explainer by group of rows, where groups were given.
    sufficiency_populations : dict of str to Populations
        The sufficiency of each explainer that says where it applies, where groups were given.
    rows_to_choose : int
        Rows on which discretizations were chosen; they are not among those reported.
    """

    evaluations: dict[str, Evaluation]
    pairs: tuple[PairedDifference, ...] = field(repr=False)
    populations: dict[str, Populations] = field(default_factory=dict, repr=False)
    rows_to_choose: int = 0
    sufficiency_populations: dict[str, Populations] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Evaluation:
        if name not in self:
            raise UnknownName(f"No explainer is called {name!r}. {hint(name, self.evaluations)}")
        return self.evaluations[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.evaluations

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    def keys(self) -> KeysView[str]:
        """The explainers' names."""
        return self.evaluations.keys()

    def values(self) -> ValuesView[Evaluation]:
        """Their evaluations."""
        return self.evaluations.values()

    def items(self) -> ItemsView[str, Evaluation]:
        """Names with their evaluations."""
        return self.evaluations.items()

    @property
    def table(self) -> "pd.DataFrame":
        """One line an explainer and measure."""
        found = [(name, ev, one) for name, ev in self.evaluations.items() for one in ev._estimates()]
        columns: dict[str, Any] = {
            "explainer": [name for name, _, _ in found],
            "discretizer": [ev.discretizer for _, ev, _ in found],
            "measure": [one.measure for *_, one in found],
        }
        columns |= {name: [getattr(one, name) for *_, one in found] for name in _NUMBERS}
        return frame(columns | {"uniqueness": [ev.uniqueness for _, ev, _ in found]})

    @property
    def differences(self) -> "pd.DataFrame":
        """One line a pair of explainers and measure; ``differ`` where the interval excludes zero.

        Each interval has the stated confidence by itself; among many pairs some will differ by chance.
        """
        names = ("measure", "a", "b", "value", "low", "high", "differ", "n")
        return frame({name: [getattr(pair, name) for pair in self.pairs] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this comparison, ready for JSON."""
        return {
            "evaluations": {name: ev.to_dict() for name, ev in self.evaluations.items()},
            "differences": [{**asdict(pair), "differ": pair.differ} for pair in self.pairs],
            "populations": {name: found.to_dict() for name, found in self.populations.items()},
            "sufficiency_populations": {name: one.to_dict() for name, one in self.sufficiency_populations.items()},
            "rows_to_choose": self.rows_to_choose,
        }

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a report that anybody can open: one HTML file that needs no network."""
        from faithscope.report import write_report

        write_report(self, path)

    def plot(self) -> Any:
        """All explainers with intervals, chance and the unverifiable part as an Altair chart."""
        from faithscope.charts import estimates

        return estimates([(name, one) for name, ev in self.evaluations.items() for one in ev._estimates()])

    def __str__(self) -> str:
        lines = [f"{visible(str(name))}: {one}" for name, ev in self.evaluations.items() for one in ev._estimates()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return str(shown(self.table).style.hide(axis="index").format(precision=3, escape="html").to_html())

    def _contents(self) -> "Contents":
        """What there is to report."""
        from faithscope.report.result import Breakdown, Contents

        measured = (self.populations, self.sufficiency_populations)
        breakdowns = {
            name: [Breakdown.of(populations[name]) for populations in measured if name in populations]
            for name in self.evaluations
        }
        return Contents(self.evaluations, breakdowns, self.pairs, self.rows_to_choose)


@in_memory("compare fewer explainers, or on fewer rows")
def compare(
    predict: Any,
    explainers: Mapping[str, Any],
    X: Any,
    *,
    discretizer: Discretize | Best | Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    groups: Any = None,
    seed: int = 0,
    cache: Any = None,
    progress: bool | Told | None = None,
) -> Comparison:
    """Measure several explainers of one model on the same rows, and how they differ.

    Parameters
    ----------
    predict, X, confidence, cache, progress
        As for `evaluate`.
    explainers : mapping of str to explainer
        Each as for `evaluate`, by a name of your choice.
    discretizer : discretizer, str or callable, or mapping of str to these, optional
        One for all explainers whose kind it takes (the table says which), or one for each by name. `Best` chooses
        for each explainer on half of the rows, and all are reported on the other half.
    groups : array-like, (n,), optional
        The population of each row: every explainer is then measured in each of them too.
    seed : int
        Of the halves.

    Returns
    -------
    Comparison
    """
    named = _named(explainers)
    discretizer = _by_name(discretizer, named)
    parts = None if groups is None else to_labels(groups, "Groups")
    system = System(to_cache(cache), Watch(progress)).knowing(predict, *named.values())
    labels = system.predictions(predict, X)
    given = {name: system.explanations(one, X, name) for name, one in named.items()}
    for name, one in given.items():
        same_length(X=rows_of(X), predictions=len(labels), **{f"explanations of {name}": len(one)})
    notes = {name: same_rows(X=X, predictions=predict, explanations=one) for name, one in given.items()}
    same_rows(**{f"explanations of {name}": one for name, one in given.items()})
    given = {name: labelled_like(one, X, predict) for name, one in given.items()}
    of_groups = {name: same_rows(X=X, explanations=one, groups=groups) for name, one in given.items()}
    chosen = {name: to_choice(_for_one(discretizer, name)) for name in named}
    looked, reported = np.empty(0, np.int64), {}
    if any(isinstance(one, Best) for one in chosen.values()):
        looked, kept = halves(len(labels), seed)
        chosen = {name: _settled(chosen[name], given[name].take(looked), labels[looked], confidence) for name in named}
        given = {name: one.take(kept) for name, one in given.items()}
        labels, X, parts = labels[kept], take_rows(X, kept), None if parts is None else parts[kept]
        reported["rows"] = kept
    evaluations = {}
    for name, one in given.items():
        with system.watch.phase(f"measuring {name}", len(labels)):
            fits = _fitting(chosen[name], one, one_for_all=not isinstance(discretizer, Mapping))
            about: dict[str, Any] = {"name": name, "explainer": described(named[name]), "seed": seed, **reported}
            about["baseline"] = is_baseline(named[name])
            found = assess(one, labels, X, discretizer=fits, confidence=confidence, notes=notes[name], **about)
        evaluations[name] = replace(found, seconds=_seconds(system.watch, name))
    with system.watch.phase("measuring differences", len(labels)):
        pairs = _differences(evaluations, confidence)
    by = str(getattr(groups, "name", None) or "")
    consistent, sufficient = (
        {name: with_notes(one, of_groups[name]) for name, one in _populations(evaluations, parts, by, measure).items()}
        for measure in _MEASURES
    )
    return Comparison(evaluations, pairs, consistent, len(looked), sufficient)


def _populations(
    evaluations: dict[str, Evaluation], parts: Any, by: str, measure: Literal["consistency", "sufficiency"]
) -> dict[str, Populations]:
    """One measure of every explainer that has it, by group of rows; empty where no groups were given."""
    having = {name: ev for name, ev in evaluations.items() if getattr(ev, measure) is not None}
    return {} if parts is None else {name: replace(ev.by(parts, measure), by=by) for name, ev in having.items()}


def _named(explainers: Any) -> dict[str, Any]:
    if not isinstance(explainers, Mapping):
        raise WrongType(
            f"compare takes explainers by name, such as {{'lime': Lime(...)}}; got {type(explainers).__name__}."
        )
    if not explainers:
        raise BadInput("compare got no explainer: pass at least one.")
    names = [str(name) for name in explainers]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise BadInput(f"Two explainers are called {repeated!r} once their names are texts: give each its own.")
    return dict(zip(names, explainers.values(), strict=True))


def _by_name(discretizer: Any, explainers: Mapping[str, Any]) -> Any:
    """One discretizer for all as it is; those of single explainers by the texts of their names, which must be known."""
    if not isinstance(discretizer, Mapping):
        return discretizer
    chosen = {str(name): one for name, one in discretizer.items()}
    unknown = next((name for name in chosen if name not in explainers), None)
    if unknown is not None:
        raise UnknownName(f"discretizer names {unknown!r}, which is no explainer here. {hint(unknown, explainers)}")
    return chosen


def _for_one(discretizer: Any, name: str) -> Any:
    return discretizer.get(name) if isinstance(discretizer, Mapping) else discretizer


def _settled(discretizer: Any, explanations: Explanations, labels: NDArray[Any], confidence: float) -> Any:
    return discretizer.among(explanations, labels, confidence) if isinstance(discretizer, Best) else discretizer


def _fitting(discretizer: Any, explanations: Explanations, one_for_all: bool) -> Any:
    """The discretizer; None where one was given for all and these explanations are not of a kind that it takes."""
    if not one_for_all or discretizer is None:
        return discretizer
    try:
        discretize(explanations.take(np.arange(min(1, len(explanations)))), discretizer)
    except WrongType:
        return None
    return discretizer


def _seconds(watch: Watch, name: str) -> dict[str, float]:
    return {
        phase: spent for phase, spent in watch.seconds.items() if phase == "predicting" or phase.endswith(f" {name}")
    }


def _differences(evaluations: dict[str, Evaluation], confidence: float) -> tuple[PairedDifference, ...]:
    """Every pair of explainers, by consistency and then by sufficiency."""
    consistent = [
        Measured(name, ev.consistency, consistency_left_out(ev.consistency.counts, ev.explanations, ev.predictions))
        for name, ev in evaluations.items()
    ]
    scoped = {name: ev for name, ev in evaluations.items() if ev.sufficiency is not None}
    pairs = [pair for family in (consistent, _sufficient(scoped)) for pair in combinations(family, 2)]
    return tuple(paired_difference(a, b, confidence) for a, b in pairs)


def _sufficient(scoped: dict[str, Evaluation]) -> list[Measured]:
    if len(scoped) < 2:
        return []
    found = list(scoped.values())
    left_out = sufficiency_left_out(
        [ev._scoped() for ev in found],
        [ev.explanations for ev in found],
        found[0].predictions,
        found[0].X,
        [ev.relation for ev in found],
    )
    triples = zip(scoped, found, left_out, strict=True)
    return [Measured(name, ev.sufficiency, left) for name, ev, left in triples if ev.sufficiency is not None]
