"""What a report tells of each explainer: verdict, measures, populations, remarks, and blocks of its sections."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from faithscope.measures.comparing.differences import Difference
from faithscope.measures.comparing.populations import AMONG, shown_groups
from faithscope.measures.estimate import Estimate
from faithscope.measures.slices import Slices
from faithscope.measures.telling import ExplainerVerdict, with_doubts
from faithscope.notes import doubts, reworded
from faithscope.report.document import Block
from faithscope.report.question import Missing
from faithscope.report.result import Breakdown, Provenance
from faithscope.report.wording import wording

_MOST_NAMED = 12  # groups that a sentence names


def shown_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """What a reader should know before trusting an interval, as texts that can be shown, each of its kind."""
    return tuple(reworded(note, wording(note)) for note in notes)


def worded(difference: Difference) -> Difference:
    """A difference whose names can be shown."""
    return replace(difference, a=wording(difference.a), b=wording(difference.b))


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
    differences: tuple[Difference, ...]
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

    @property
    def more(self) -> str:
        """How many groups are not shown, in words; empty if all are."""
        return f"{self.left_out:,} more, whose intervals begin no lower, are not shown" if self.left_out else ""

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
            differences=tuple(map(worded, pairs)),
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
    """Everything that is shown about one explainer.

    Attributes
    ----------
    necessity : Estimate or None
        Shown beside the measures; no verdict is made of it.
    notes : tuple of str
        Of its provenance, as texts that can be shown.
    parts : mapping of str to blocks
        What it tells in each section that asked its result.
    missing : tuple of Missing
        Parts that could not be made.
    doubted : tuple of str
        What sections found that makes it look more faithful than it is.
    slices : Slices or None
        Where it fails, if that was looked for.
    """

    name: str
    verdict: ExplainerVerdict
    measures: tuple[Estimate, ...]
    uniqueness: float | None
    provenance: Provenance
    populations: tuple[Groups, ...]
    notes: tuple[str, ...]
    necessity: Estimate | None = None
    parts: Mapping[str, Sequence[Block]] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()
    doubted: tuple[str, ...] = ()
    slices: Slices | None = None

    @property
    def baseline(self) -> bool:
        """Whether it says nothing on purpose."""
        return self.provenance.baseline

    @property
    def discretizer(self) -> str:
        """What made its explanations coarser."""
        return wording(self.provenance.discretizer)

    @property
    def told(self) -> tuple[Estimate, ...]:
        """All estimates of a table: the measures, and necessity, of which no verdict is made."""
        return self.measures if self.necessity is None else (*self.measures, self.necessity)

    @cached_property
    def remarks(self) -> tuple[tuple[str, str], ...]:
        """What a reader should know: a measure and a note on it; no measure if the note is on all of them."""
        noted = [(estimate.measure, shown_notes(estimate.notes)) for estimate in self.measures]
        told = [(measure, note) for measure, notes in noted for note in notes]
        shared = [note for _, note in told if all(note in notes for _, notes in noted)]
        general = [("", note) for note in dict.fromkeys((*self.notes, *shared))]
        return (*general, *((measure, note) for measure, note in told if note not in shared))

    @property
    def doubts(self) -> tuple[str, ...]:
        """What makes the explainer look more faithful than it is, such as an assumption that may not hold."""
        return (*doubts(note for _, note in self.remarks), *self.doubted)

    @property
    def said(self) -> str:
        """The verdict in a sentence, and what makes one doubt it."""
        return with_doubts(self.verdict, self.doubts)


def remarks(explainer: Explainer, *, over_time: bool) -> list[str]:
    """What a reader should know beside the verdict, each line with the explainer, population and measure it is about.

    Parameters
    ----------
    over_time : bool
        Whether windows of time are among the populations that are shown.
    """
    told = [(measure, note) for measure, note in explainer.remarks if note not in explainer.doubts]
    general = [f"{explainer.name}{f', {measure}' if measure else ''}: {note}" for measure, note in told]
    noted = [
        f"{explainer.name}, {groups.by or 'population'} {name}{groups.whom}, {estimate.measure}: {note}"
        for groups in explainer.populations
        if over_time or not groups.over_time
        for name, estimate in groups.groups
        for note in shown_notes(estimate.notes)
    ]
    return [*general, *noted, *(f"{explainer.name}, {missing.sentence}" for missing in explainer.missing)]


@dataclass(frozen=True)
class Summary:
    """Everything that is shown about one or several explainers.

    Attributes
    ----------
    explainers : tuple of Explainer
        From the most faithful to the least, baselines last.
    about : str
        The explainer that the headline speaks of: the first that the caller named, but for baselines.
    differences : tuple of Difference
        Of explainers.
    wanted : float
        What a faithful explainer is asked to reach.
    rows_to_choose : int
        Rows on which discretizations were chosen, none of them reported on.
    versions : dict of str to str
        The versions of what measured it.
    together : int
        Of how many differences the intervals hold together; 0 if each holds by itself.
    agreement : blocks
        How far explainers agree with each other; none for a single one.
    """

    title: str
    explainers: tuple[Explainer, ...]
    about: str
    differences: tuple[Difference, ...]
    wanted: float
    rows_to_choose: int
    created: str
    versions: dict[str, str]
    together: int = 0
    agreement: Sequence[Block] = ()

    @property
    def first(self) -> Explainer:
        """The explainer that the report is about."""
        return next((each for each in self.explainers if each.name == self.about), self.explainers[0])

    @property
    def estimates(self) -> list[Estimate]:
        """The measures of all explainers."""
        return [estimate for explainer in self.explainers for estimate in explainer.measures]
