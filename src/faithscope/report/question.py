"""Questions of a report: each is a file of ``sections/``, which asks a result and makes blocks of the answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from faithscope.errors import FaithscopeError
from faithscope.measures.estimate import Estimate
from faithscope.measures.planning.plan import Plan
from faithscope.report.document import Block
from faithscope.report.reported import OfOneExplainer
from faithscope.report.wording import wording
from faithscope.runtime.memory import ran_out

Answer = TypeVar("Answer")


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


@dataclass(frozen=True)
class Question:
    """A section of a report, explainer by explainer.

    Attributes
    ----------
    anchor, label, title, lead : str
        As of a `Section`.
    subject : str
        What would be told, if it cannot be.
    nothing : str
        What is said of an explainer that has nothing to tell; if empty, it is left out.
    ask : function, optional
        The blocks of one explainer, from its result.
    tell : function, optional
        The blocks of one explainer, from what was summarized of it.
    detail : bool
        Whether it is left out on paper unless all is printed.
    """

    anchor: str
    label: str
    title: str
    lead: str
    subject: str = ""
    nothing: str = ""
    ask: "Callable[[Asked], Sequence[Block]] | None" = None
    tell: Callable[[Any], Sequence[Block]] | None = None
    detail: bool = True
    lead_of_numbers: str = ""  # if predictions are numbers


@dataclass(frozen=True)
class Asked:
    """One explainer whose result is asked, and what came out beside blocks.

    Attributes
    ----------
    examples : int
        Contradictions shown per measure.
    missing : list of Missing
        What could not be told.
    doubts : list of str
        What makes it look more faithful than it is.
    """

    name: str
    result: OfOneExplainer
    estimates: Sequence[Estimate]
    plans: dict[str, Plan]
    examples: int
    missing: list[Missing] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    @property
    def numbers(self) -> bool:
        """Whether predictions are numbers."""
        return self.estimates[0].agreement.of_numbers

    def attempt(self, question: Question, measure: str, answer: Callable[[], Answer]) -> Answer | None:
        """The answer; if there is none, None, and why is kept."""
        known, reason = attempt(answer)
        if reason:
            self.missing.append(Missing(question.anchor, measure, reason, question.subject))
        return known


def attempt(answer: Callable[[], Answer]) -> tuple[Answer | None, str]:
    """The answer; if there is none, None, and why."""
    try:
        return answer(), ""
    except FaithscopeError as problem:
        return None, wording(problem)
    except MemoryError as problem:
        return None, ran_out(problem, "use fewer rows")
