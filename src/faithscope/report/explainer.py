"""What a report tells of each explainer: verdict, measures, populations, remarks, and the answers of its sections."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from faithscope.errors import FaithscopeError
from faithscope.measures.comparing.differences import Difference
from faithscope.measures.estimate import Estimate
from faithscope.measures.planning import Plan
from faithscope.measures.slices import Slices
from faithscope.measures.telling import ExplainerVerdict, with_doubts
from faithscope.notes import doubts, reworded
from faithscope.report.document import Block
from faithscope.report.reported import OfOneExplainer
from faithscope.report.result import Breakdown
from faithscope.report.wording import wording
from faithscope.runtime.memory import ran_out

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Question:
    """A section of a report, explainer by explainer: each is a file of ``sections/``, and writes no HTML.

    Attributes
    ----------
    anchor, label, title, lead : str
        As of a `Section`.
    ask : function
        The blocks of one explainer.
    subject : str
        What would be told, if it cannot be.
    nothing : str
        What is said of an explainer that has nothing to tell; if empty, it is left out.
    detail : bool
        Whether it is left out on paper unless all is printed.
    """

    anchor: str
    label: str
    title: str
    lead: str
    ask: "Callable[[Explainer], Sequence[Block]]"
    subject: str = ""
    nothing: str = ""
    detail: bool = True


@dataclass(frozen=True)
class Missing:
    """A part of the report that could not be made: it is shown with its reason, never left out silently.

    Attributes
    ----------
    section : str
        The section of the page that lacks it.
    measure : str
        The measure that it would have been about.
    reason : str
    subject : str
        What would have been told.
    """

    section: str
    measure: str
    reason: str
    subject: str

    @property
    def sentence(self) -> str:
        """What is missing and why."""
        return f"{self.measure}: {self.subject} is not shown. {self.reason}"


def attempt(answer: Callable[[], Answer]) -> tuple[Answer | None, str]:
    """The answer; if there is none, None, and why."""
    try:
        return answer(), ""
    except FaithscopeError as problem:
        return None, wording(problem)
    except MemoryError as problem:
        return None, ran_out(problem, "use fewer rows")


def shown_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """What a reader should know before trusting an interval, as texts that can be shown, each of its kind."""
    return tuple(reworded(note, wording(note)) for note in notes)


@dataclass(frozen=True)
class Explainer:
    """Everything that is shown about one explainer; sections ask it, and add what is missing and what they doubt.

    Attributes
    ----------
    result : Evaluation or Audit
    measures : tuple of Estimate
        Consistency, and sufficiency if it was measured.
    verdict : ExplainerVerdict
    plans : mapping of str to Plan
        By measure, how many rows it needs.
    notes : tuple of str
        On all measures, as texts that can be shown.
    examples : int
        Contradictions shown per measure.
    slices : Slices or None
        Where it fails, if that was looked for.
    parts : dict of str to blocks
        The answers of the sections.
    missing : list of Missing
        Parts that could not be made.
    doubted : list of str
        What sections found that makes it look more faithful than it is.
    """

    name: str
    result: OfOneExplainer
    measures: tuple[Estimate, ...]
    verdict: ExplainerVerdict
    plans: Mapping[str, Plan]
    populations: tuple[Breakdown, ...]
    notes: tuple[str, ...]
    examples: int
    slices: Slices | None = None
    parts: dict[str, Sequence[Block]] = field(default_factory=dict)
    missing: list[Missing] = field(default_factory=list)
    doubted: list[str] = field(default_factory=list)

    def attempt(self, question: Question, measure: str, answer: Callable[[], Answer]) -> Answer | None:
        """The answer; if there is none, None, and why is kept."""
        known, reason = attempt(answer)
        if reason:
            self.missing.append(Missing(question.anchor, measure, reason, question.subject))
        return known

    @property
    def discretizer(self) -> str:
        """What made its explanations coarser."""
        return wording(self.result.discretizer)

    @cached_property
    def remarks(self) -> tuple[tuple[str, str], ...]:
        """What a reader should know: a measure and a note on it; no measure if the note is on all of them."""
        on: dict[str, list[str]] = {note: [] for note in self.notes}
        for estimate in self.measures:
            for note in shown_notes(estimate.notes):
                on.setdefault(note, []).append(estimate.measure)
        told = (("" if len(names) != 1 or len(self.measures) == 1 else names[0], note) for note, names in on.items())
        return tuple(sorted(told, key=lambda each: each[0] != ""))

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
    about : int
        The place of the explainer that the headline speaks of: the first that the caller named, but for baselines.
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
    about: int
    differences: tuple[Difference, ...]
    wanted: float
    rows_to_choose: int
    created: str
    versions: dict[str, str]
    together: int = 0
    agreement: Sequence[Block] = ()

    @property
    def estimates(self) -> list[Estimate]:
        """The measures of all explainers."""
        return [estimate for explainer in self.explainers for estimate in explainer.measures]
