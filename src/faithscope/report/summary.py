"""One summary of what was found: terminal, page, notebook and JSON all read it, so that they cannot disagree."""

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.checks import check_share, check_whole
from faithscope.measures.planning import FARTHEST, Plan, plan
from faithscope.measures.populations import Populations
from faithscope.report.contradictions import Contradiction, contradictions
from faithscope.report.missing import Missing, Section, attempt
from faithscope.report.verdict import WANTED, Verdict, judge
from faithscope.report.wording import plain, wording

_MOST_GROUPS = 12  # told in full, with their differences
_MEASURED_WITH = ("faithscope", "numpy", "scipy", "scikit-learn", "pandas")


@dataclass(frozen=True)
class Measure:
    """An estimate's numbers; `Estimate` says what each is."""

    measure: str
    value: float
    low: float
    high: float
    confidence: float
    interval: str
    unverifiable: float
    upper: float
    verified: float | None
    verified_low: float | None
    verified_high: float | None
    chance: float | None
    above_chance: bool | None
    adjusted: float | None
    n: int
    distinct: int
    effective_n: float
    notes: tuple[str, ...]

    @classmethod
    def of(cls, estimate: Any) -> "Measure":
        """The numbers of an `Estimate`."""
        found = estimate.to_dict()
        named = {name: plain(found[name]) for name in cls.__dataclass_fields__ if name != "notes"}
        return cls(**named, notes=tuple(map(wording, found["notes"])))


@dataclass(frozen=True)
class Curve:
    """How the unverifiable share falls with rows, for one measure."""

    measure: str
    n: int
    wanted: float
    needed: int | None
    reason: str
    backtest: str
    points: tuple[dict[str, Any], ...]  # rows, unverifiable, value (None where forecast), kind

    @classmethod
    def of(cls, measure: str, found: Plan) -> "Curve":
        """The curve of a plan."""
        tried, back = "", found.backtest
        if back is not None:
            forecast = f"a forecast of {back.forecast:.1%} where {back.observed:.1%} was observed"
            tried = f"The same forecast, made from half of the rows, gave {forecast}."
        lines = found.curve.to_dict("records")
        points = tuple({name: plain(value) for name, value in line.items()} for line in lines)
        return cls(measure, found.n, found.wanted, found.rows_needed, found.reason, tried, points)


@dataclass(frozen=True)
class Difference:
    """One less the other, with an interval."""

    a: str
    b: str
    measure: str
    value: float
    low: float
    high: float
    differ: bool

    @classmethod
    def of(cls, line: dict[str, Any], measure: str = "consistency") -> "Difference":
        """A line of a table of differences."""
        value, low, high = (plain(line[name]) for name in ("value", "low", "high"))
        a, b, differ = wording(line["a"]), wording(line["b"]), bool(line["differ"])
        return cls(a, b, line.get("measure", measure), value, low, high, differ)


@dataclass(frozen=True)
class Groups:
    """One measure for each population, and how any two differ."""

    by: str  # the column that tells them apart; "" where nobody said
    measure: str
    groups: tuple[tuple[str, Measure], ...]  # the lowest intervals where there are many
    differences: tuple[Difference, ...]
    left_out: int  # populations that are not told
    over_time: bool  # whether these are windows of time

    @classmethod
    def of(cls, by: str, found: Any) -> "Groups":
        """The numbers of populations, or of windows of time, which are compared with one reference."""
        by = by or getattr(found, "by", "")
        everyone = found.estimates
        lowest = set(sorted(everyone, key=lambda name: everyone[name].low)[:_MOST_GROUPS])
        told = {name: one for name, one in everyone.items() if name in lowest}
        measures = tuple((wording(name), Measure.of(one)) for name, one in told.items())
        measure = measures[0][1].measure if measures else "consistency"
        pairs = tuple(Difference.of(line, measure) for line in _differences(found, told))
        over_time = not isinstance(found, Populations)
        return cls(wording(by), measure, measures, pairs, len(everyone) - len(told), over_time)


def _differences(found: Any, told: dict[Any, Any]) -> list[dict[str, Any]]:
    if isinstance(found, Populations):
        lines: list[dict[str, Any]] = Populations(told).differences.to_dict("records")
        return lines
    names = ("a", "b", "value", "low", "high", "differ")
    apart = [one for name, one in found.compared.items() if name in told]
    return [{name: getattr(one, name) for name in names} for one in apart]


@dataclass(frozen=True)
class Explainer:
    """All that is told about one explainer."""

    name: str
    verdict: Verdict
    measures: tuple[Measure, ...]
    uniqueness: float | None
    kind: str
    settings: str
    discretizer: str
    seed: int | None
    seconds: dict[str, float]
    curves: tuple[Curve, ...]
    contradictions: tuple[Contradiction, ...]
    populations: tuple[Groups, ...]
    discretizations: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    missing: tuple[Missing, ...] = ()  # parts that could not be made

    def why_not(self, section: Section) -> tuple[str, ...]:
        """Why a section lacks something, one sentence for each measure."""
        return tuple(one.sentence for one in self.missing if one.section == section)

    def measure(self, name: str) -> Measure | None:
        """The measure of this name, where there is one."""
        return next((one for one in self.measures if one.measure == name), None)


@dataclass(frozen=True)
class Summary:
    """What was found about one or several explainers, ready to be told.

    Attributes
    ----------
    wanted : float
        What a faithful explainer is asked to reach.
    rows_to_choose : int
        Rows on which discretizations were chosen, none of them reported on.
    versions : dict of str to str
        Of what measured it.
    """

    title: str
    explainers: tuple[Explainer, ...]
    differences: tuple[Difference, ...]
    wanted: float
    rows_to_choose: int
    created: str
    versions: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The whole summary, ready for JSON."""
        return asdict(self)


def summarize(
    found: Any,
    *,
    populations: Populations | Mapping[str, Populations] | None = None,
    title: str = "How faithful are these explanations?",
    wanted: float = WANTED,
    examples: int = 4,
) -> Summary:
    """Gather what a report tells.

    Parameters
    ----------
    found : Evaluation, Comparison, or what an audit gives
    populations : Populations or mapping of str to Populations, optional
        Of one explainer, by column where there are several columns; of several explainers, by their names, each one
        or a list of them. By default those that `found` has.
    title : str
    wanted : float
        What a faithful explainer is asked to reach.
    examples : int
        Contradictions shown for each explainer and measure.

    Returns
    -------
    Summary
    """
    check_share(wanted, "wanted")
    check_whole(examples, "examples", least=0)
    evaluations = _evaluations(found)
    groups = _by_name(found if populations is None else populations, evaluations)
    lines = found.differences.to_dict("records") if hasattr(found, "differences") else []
    return Summary(
        title=wording(title),
        explainers=tuple(
            _explainer(name, one, groups.get(name, []), wanted, examples) for name, one in evaluations.items()
        ),
        differences=tuple(Difference.of(line) for line in lines),
        wanted=wanted,
        rows_to_choose=getattr(found, "rows_to_choose", 0),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions={"python": platform.python_version()} | {name: version(name) for name in _MEASURED_WITH},
    )


def _evaluations(found: Any) -> dict[str, Any]:
    if hasattr(found, "evaluations"):
        return dict(found.evaluations)
    if not hasattr(found, "consistency"):
        raise WrongType(
            f"A report is made of an evaluation, a comparison or an audit; got {type(found).__name__}. "
            "Call evaluate or compare first."
        )
    return {getattr(found, "name", "explainer"): found}


Columns = list[tuple[str, Any]]  # populations or windows of time, each with the column that tells them apart


def _by_name(given: Any, evaluations: dict[str, Any]) -> dict[str, Columns]:
    """For each explainer's name, its populations."""
    held = given if isinstance(given, Populations | Mapping) else getattr(given, "populations", None) or {}
    if isinstance(held, Populations):
        held = {"": held}
    first = next(iter(evaluations))
    if len(evaluations) == 1 and first not in held:
        return {first: list(held.items())}
    unknown = next((name for name in held if name not in evaluations), None)
    if unknown is not None:
        raise BadInput(f"Populations are given for {unknown!r}, but explainers are {', '.join(evaluations)}.")
    columns = {name: _columns(one) for name, one in held.items()}
    for name, one in getattr(given, "sufficiency_populations", {}).items():
        columns[name] += _columns(one)
    return columns


def _columns(given: Any) -> Columns:
    if isinstance(given, Mapping):
        return list(given.items())
    return [("", one) for one in ([given] if isinstance(given, Populations) else given)]


def _explainer(name: str, found: Any, groups: Columns, wanted: float, examples: int) -> Explainer:
    estimates = [one for one in (found.consistency, getattr(found, "sufficiency", None)) if one is not None]
    tried = {one.measure: attempt("rows", one.measure, partial(plan, one)) for one in estimates}
    plans = {measure: made for measure, (made, _) in tried.items()}
    pairs, no_pairs = contradictions(found, examples) if examples else ((), ())
    levels, no_levels = attempt("discretizations", "consistency", partial(_discretizations, found))
    needed = {measure: _needed(made) for measure, made in plans.items()}
    explanations, seed = getattr(found, "explanations", None), getattr(found, "seed", None)
    windows = getattr(found, "windows", None)
    parts = groups if windows is None else [*groups, (f"windows of {windows.every}", windows)]
    return Explainer(
        name=wording(name),
        verdict=judge(estimates, needed, wanted),
        measures=tuple(map(Measure.of, estimates)),
        uniqueness=plain(getattr(found, "uniqueness", None)),
        kind=wording(getattr(explanations, "kind", "")),
        settings=wording(getattr(found, "explainer", ""), longest=1000),
        discretizer=wording(getattr(found, "discretizer", "")),
        seed=None if seed is None else int(seed),
        seconds={wording(phase): float(spent) for phase, spent in getattr(found, "seconds", {}).items()},
        curves=tuple(Curve.of(measure, made) for measure, made in plans.items() if made is not None),
        contradictions=pairs,
        populations=tuple(Groups.of(by, one) for by, one in parts),
        discretizations=levels or (),
        notes=tuple(map(wording, getattr(found, "notes", ()))),
        missing=(*(why for _, made in tried.values() for why in made), *no_pairs, *no_levels),
    )


def _needed(made: Plan | None) -> str:
    """What more rows would do."""
    if made is None or not made.forecastable or made.unverifiable <= made.wanted:
        return ""
    if made.rows_needed is None:
        return f"; even {FARTHEST * made.n:,} rows would leave more than {made.wanted:.0%}"
    return f"; about {made.rows_needed:,} rows would leave only {made.wanted:.0%}"


def _discretizations(found: Any) -> tuple[dict[str, Any], ...]:
    ask = getattr(found, "discretizations", None)
    lines = [] if ask is None else ask().to_dict("records")
    return tuple(
        {"name": wording(line.pop("discretizer")), "upper": min(1.0, line["value"] + line["unverifiable"])}
        | {name: plain(value) for name, value in line.items()}
        for line in lines
    )
