"""One summary of a result: terminal, page, notebook and JSON all read it, so that they cannot disagree."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import Any

from faithscope.charts import upper_of
from faithscope.errors import WrongType
from faithscope.inputs.checks import check_share, check_whole
from faithscope.measures.comparing.differences import MANY, Difference, together
from faithscope.measures.comparing.populations import AMONG, shown_groups
from faithscope.measures.estimate import Estimate
from faithscope.measures.planning.plan import FARTHEST, Plan
from faithscope.measures.slices import Slices
from faithscope.measures.telling import READING_ORDER, ExplainerVerdict, judge, with_doubts
from faithscope.notes import doubts, reworded
from faithscope.report.agreeing import Agreeing
from faithscope.report.contradictions import Contradiction, contradictions
from faithscope.report.hidden import Hidden
from faithscope.report.leaking import Leaking
from faithscope.report.missing import Missing, Section, attempt
from faithscope.report.result import Breakdown, ExplainerResult, Result
from faithscope.report.wording import plain, wording

_MOST_NAMED = 12  # groups that a sentence names
_MEASURED_WITH = ("faithscope", "numpy", "scipy", "scikit-learn", "pandas")


def numbers(estimate: Estimate) -> dict[str, Any]:
    """All numbers of an estimate and its notes, ready for JSON and to be read."""
    return {name: plain(value) for name, value in estimate.to_dict().items()} | {"notes": list(notes(estimate))}


def notes(estimate: Estimate) -> tuple[str, ...]:
    """What a reader should know before trusting the interval, as text that can be shown."""
    return shown_notes(estimate.notes)


def shown_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Notes as texts that can be shown, each of its kind."""
    return tuple(reworded(note, wording(note)) for note in notes)


@dataclass(frozen=True)
class Curve:
    """How the unverifiable share falls with rows, for one measure."""

    measure: str
    n: int
    wanted: float
    needed: int | None
    reason: str
    backtest: str
    points: tuple[dict[str, Any], ...]  # rows, unverifiable with low and high, value (None for forecasts), kind

    @classmethod
    def of(cls, measure: str, plan: Plan) -> "Curve":
        """The curve of a plan."""
        sentence, backtest = "", plan.backtest
        if backtest is not None:
            forecast = f"a forecast of {backtest.forecast:.1%} where {backtest.observed:.1%} was observed"
            sentence = f"The same forecast, made from half of the rows, gave {forecast}."
        points = tuple({name: plain(value) for name, value in point.items()} for point in plan.curve.to_dict("records"))
        return cls(measure, plan.n, plan.wanted, plan.rows_needed, plan.reason, sentence, points)


@dataclass(frozen=True)
class DifferenceLine:
    """The measure of a less that of b, with its interval: two explainers, two populations, or a window of time."""

    a: str
    b: str
    measure: str
    value: float
    low: float
    high: float
    differ: bool

    @classmethod
    def of(cls, difference: Difference, measure: str) -> "DifferenceLine":
        """The line of a difference in this measure."""
        value, low, high = map(plain, (difference.value, difference.low, difference.high))
        return cls(wording(difference.a), wording(difference.b), measure, value, low, high, bool(difference.differ))


@dataclass(frozen=True)
class Groups:
    """One measure per population or per window of time, and how they differ.

    Attributes
    ----------
    by : str
        The name of the column that gives the groups; empty if it has none.
    groups : tuple of (str, Estimate)
        If there are many, those with the lowest intervals.
    left_out : int
        Groups that are not among them.
    over_time : bool
        Whether the groups are windows of time.
    together : int
        Of how many differences, shown or not, the intervals hold together; 0 if each holds by itself.
    compared : str
        With whom rows of a group are compared, if there are tables of both: everybody, or themselves.
    lower : str
        Which groups are shown to be lower than the rest, in a sentence; empty if that was not asked.
    """

    by: str
    measure: str
    groups: tuple[tuple[str, Estimate], ...]
    differences: tuple[DifferenceLine, ...]
    left_out: int
    over_time: bool
    together: int = 0
    compared: str = ""
    lower: str = ""

    @property
    def whom(self) -> str:
        """With whom they are compared, in words that follow a name."""
        return f", {self.compared}" if self.compared else ""

    @property
    def title(self) -> str:
        """What the table of the groups is called."""
        return f"{self.measure} by {self.by or 'population'}{self.whom}"

    @classmethod
    def of(cls, breakdown: Breakdown) -> "Groups":
        """The groups of a breakdown that are shown."""
        estimates = breakdown.estimates
        told = shown_groups(estimates)
        # Groups of which it is told how they differ beside everybody are not compared once more among themselves.
        pairs, together = ([], 0) if breakdown.compared == AMONG else breakdown.differences(told)
        measure = estimates[told[0]].measure if told else "consistency"
        return cls(
            by=wording(breakdown.by),
            measure=measure,
            groups=tuple((wording(group), estimates[group]) for group in told),
            differences=tuple(DifferenceLine.of(apart, measure) for apart in pairs),
            left_out=len(estimates) - len(told),
            over_time=breakdown.over_time,
            together=together,
            compared=breakdown.compared,
            lower=_lower(breakdown.lower),
        )


def _lower(groups: Sequence[str] | None) -> str:
    if groups is None:
        return ""
    named = ", ".join(map(wording, groups[:_MOST_NAMED]))
    more = f" and {len(groups) - _MOST_NAMED} more" if len(groups) > _MOST_NAMED else ""
    return f"Lower than the rest: {named}{more}." if groups else "None is shown to be lower than the rest."


@dataclass(frozen=True)
class Explainer:
    """Everything that is shown about one explainer."""

    name: str
    verdict: ExplainerVerdict
    measures: tuple[Estimate, ...]
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
    clusters: str = ""  # the name of what says which rows belong together
    necessity: Estimate | None = None  # shown beside the measures; no verdict is made of it
    hidden: Hidden | None = None  # None if explanations do not say where they apply
    leaking: Leaking | None = None  # None if explanations are no reasons in words
    baseline: bool = False  # whether it says nothing on purpose
    slices: Slices | None = None  # where it fails, if that was looked for

    @property
    def told(self) -> tuple[Estimate, ...]:
        """All estimates of a table: the measures, and necessity, of which no verdict is made."""
        return self.measures if self.necessity is None else (*self.measures, self.necessity)

    @property
    def remarks(self) -> tuple[tuple[str, str], ...]:
        """What a reader should know: a measure and a note on it; no measure if the note is on all of them."""
        told = [(estimate.measure, note) for estimate in self.measures for note in notes(estimate)]
        shared = [note for _, note in told if all(note in notes(estimate) for estimate in self.measures)]
        general = [("", note) for note in dict.fromkeys((*self.notes, *shared))]
        return (*general, *((measure, note) for measure, note in told if note not in shared))

    @property
    def doubts(self) -> tuple[str, ...]:
        """What makes the explainer look more faithful than it is, such as an assumption that may not hold."""
        encoding = (self.hidden.encoding.rstrip("."),) if self.hidden and self.hidden.encodes else ()
        return (*doubts(note for _, note in self.remarks), *encoding)

    @property
    def said(self) -> str:
        """The verdict in a sentence, and what makes one doubt it."""
        return with_doubts(self.verdict, self.doubts)

    def why_not(self, section: Section) -> tuple[str, ...]:
        """Why a section lacks something, one sentence per measure."""
        return tuple(missing.sentence for missing in self.missing if missing.section == section)


def remarks(explainer: Explainer, *, over_time: bool) -> list[str]:
    """What a reader should know beside the verdict, each line with the explainer, population and measure it is about.

    Parameters
    ----------
    over_time : bool
        Whether windows of time are among the populations that are shown.
    """
    estimates = [
        (f"{explainer.name}, {groups.by or 'population'} {name}{groups.whom}, {estimate.measure}", estimate)
        for groups in explainer.populations
        if over_time or not groups.over_time
        for name, estimate in groups.groups
    ]
    told = [(measure, note) for measure, note in explainer.remarks if note not in explainer.doubts]
    general = [f"{explainer.name}{f', {measure}' if measure else ''}: {note}" for measure, note in told]
    noted = [f"{subject}: {note}" for subject, estimate in estimates for note in notes(estimate)]
    return [*general, *noted, *(f"{explainer.name}, {missing.sentence}" for missing in explainer.missing)]


@dataclass(frozen=True)
class Summary:
    """Everything that is shown about one or several explainers.

    Attributes
    ----------
    explainers : tuple of Explainer
        From the most faithful to the least, baselines last.
    wanted : float
        What a faithful explainer is asked to reach.
    rows_to_choose : int
        Rows on which discretizations were chosen, none of them reported on.
    versions : dict of str to str
        The versions of what measured it.
    together : int
        Of how many differences the intervals hold together; 0 if each holds by itself.
    agreeing : Agreeing or None
        How far explainers agree with each other; None for a single one.
    """

    title: str
    explainers: tuple[Explainer, ...]
    differences: tuple[DifferenceLine, ...]
    wanted: float
    rows_to_choose: int
    created: str
    versions: dict[str, str]
    together: int = 0
    agreeing: Agreeing | None = None

    def to_dict(self) -> dict[str, Any]:
        """The whole summary, ready for JSON."""
        return {name: _for_json(value) for name, value in vars(self).items()}


def _for_json(value: Any) -> Any:
    if isinstance(value, Estimate):
        return numbers(value)
    if is_dataclass(value):
        return {field.name: _for_json(getattr(value, field.name)) for field in fields(value)}
    return [_for_json(item) for item in value] if isinstance(value, tuple) else value


def summarize(
    result: Result,
    *,
    title: str = "How faithful are these explanations?",
    wanted: float | None = None,
    examples: int = 4,
) -> Summary:
    """Gather what a report tells.

    Parameters
    ----------
    result : Evaluation, Comparison or Audit
    title : str
    wanted : float, optional
        What a faithful explainer is asked to reach; by default what the result was asked for.
    examples : int
        Contradictions shown per explainer and measure.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import faithscope as fs
    >>> result = fs.evaluate(["yes", "no", "no", "no"], ["old", "old", "young", "young"], [[7], [8], [1], [2]])
    >>> summary = summarize(result, title="Who gets a loan?")
    >>> [estimate.value for explainer in summary.explainers for estimate in explainer.measures]
    [0.5]
    """
    check_whole(examples, "examples", least=0)
    if not isinstance(result, Result):
        raise WrongType(
            f"A report is made of an evaluation, a comparison or an audit; got {type(result).__name__}. "
            "Call evaluate or compare first."
        )
    contents = result._contents()
    wanted = contents.wanted if wanted is None else check_share(wanted, "wanted")
    many = len(contents.differences) > MANY
    pairs = together(contents.differences) if many else contents.differences
    explainers = [
        _explainer(name, explainer, contents.breakdowns.get(name, ()), wanted, examples)
        for name, explainer in contents.explainers.items()
    ]
    return Summary(
        title=wording(title),
        explainers=tuple(sorted(explainers, key=_rank)),
        differences=tuple(DifferenceLine.of(pair, pair.measure) for pair in pairs),
        wanted=wanted,
        rows_to_choose=contents.rows_to_choose,
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions={"python": platform.python_version()} | {name: version(name) for name in _MEASURED_WITH},
        together=len(pairs) if many else 0,
        agreeing=Agreeing.of(contents.agreement),
    )


def _explainer(
    name: str, result: ExplainerResult, breakdowns: Sequence[Breakdown], wanted: float, examples: int
) -> Explainer:
    estimates = [estimate for estimate in (result.consistency, result.sufficiency) if estimate is not None]
    measures = [estimate.measure for estimate in estimates]
    attempts = {measure: attempt("rows", measure, partial(result._plan, measure)) for measure in measures}
    plans = {measure: plan for measure, (plan, _) in attempts.items() if plan is not None}
    told = [estimate.measure for estimate in estimates if estimate.beyond_random is None]  # named features are no rule
    pairs, no_pairs = contradictions(result, told, examples) if examples else ((), ())
    hidden, not_hidden = Hidden.of(result)
    leaking, not_leaking = Leaking.of(result)
    discretizations, no_discretizations = attempt("discretizations", "consistency", lambda: result._discretized)
    provenance = result._provenance()
    return Explainer(
        name=wording(name),
        verdict=judge(estimates, {measure: _needed(plan) for measure, plan in plans.items()}, wanted),
        measures=tuple(estimates),
        uniqueness=plain(result.uniqueness),
        kind=wording(provenance.kind),
        settings=wording(provenance.explainer, longest=1000),
        discretizer=wording(provenance.discretizer),
        seed=plain(provenance.seed),
        seconds={wording(phase): float(spent) for phase, spent in provenance.seconds.items()},
        curves=tuple(Curve.of(measure, plan) for measure, plan in plans.items()),
        contradictions=pairs,
        populations=tuple(map(Groups.of, breakdowns)),
        discretizations=tuple(map(_discretization, discretizations or ())),
        notes=shown_notes(provenance.notes),
        clusters=wording(provenance.clusters),
        necessity=result.necessity,
        hidden=hidden,
        leaking=leaking,
        baseline=provenance.baseline,
        missing=(
            *(missing for _, no_plan in attempts.values() for missing in no_plan),
            *no_pairs,
            *not_hidden,
            *not_leaking,
            *no_discretizations,
        ),
    )


def _rank(explainer: Explainer) -> tuple[bool, int, float]:
    """The place of an explainer in a report: by verdict, ties by the lower limit of its weakest measure."""
    low = min(estimate.low for estimate in explainer.measures)
    return explainer.baseline, READING_ORDER.index(explainer.verdict.level), -low


def _needed(plan: Plan) -> str:
    """What more rows would do, in words that end a sentence."""
    if not plan.forecastable or plan.unverifiable <= plan.wanted:
        return ""
    low, high = plan.rows_needed_low, plan.rows_needed_high
    if low is None:
        return f"; even {FARTHEST * plan.n:,} rows would leave more than {plan.wanted:.0%} unverifiable"
    between = f"at least {low:,}" if high is None else f"{low:,} to {high:,}"
    rows = between if plan.rows_needed is None else f"about {plan.rows_needed:,} ({between})"
    return f"; it takes {rows} rows to leave only {plan.wanted:.0%} unverifiable"


def _discretization(line: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {name: plain(value) for name, value in line.items()}
    told = {"name": wording(line["discretizer"]), "upper": upper_of(numbers)}
    return told | {name: value for name, value in numbers.items() if name != "discretizer"}
