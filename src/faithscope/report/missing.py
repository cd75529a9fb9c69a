"""Parts of a report that could not be made: each is shown with its reason, never left out silently."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from faithscope.errors import FaithscopeError
from faithscope.report.wording import wording
from faithscope.runtime.memory import ran_out

Section = Literal["rows", "contradictions", "hidden", "leakage", "agreement", "discretizations"]
Answer = TypeVar("Answer")

_SUBJECT: dict[Section, str] = {
    "rows": "how many rows are enough",
    "contradictions": "where it fails",
    "hidden": "what it hides",
    "leakage": "whether reasons name a label",
    "agreement": "whether explainers agree",
    "discretizations": "how fine explanations should be",
}


@dataclass(frozen=True)
class Missing:
    """A part of the report that could not be made.

    Attributes
    ----------
    section : str
        The section of the page that lacks it.
    measure : str
        The measure that it would have been about.
    reason : str
    """

    section: Section
    measure: str
    reason: str

    @property
    def sentence(self) -> str:
        """What is missing and why."""
        return f"{self.measure}: {_SUBJECT[self.section]} is not shown. {self.reason}"


def attempt(
    section: Section, measure: str, question: Callable[[], Answer]
) -> tuple[Answer | None, tuple[Missing, ...]]:
    """The answer to a question; if it cannot be answered, None and the reason."""
    try:
        return question(), ()
    except FaithscopeError as problem:
        return None, (Missing(section, measure, wording(problem)),)
    except MemoryError as problem:
        return None, (Missing(section, measure, ran_out(problem, "use fewer rows")),)
