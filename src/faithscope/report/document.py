"""A document: sections of typed blocks, which a page shows; whoever makes one writes no HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from faithscope.card import Sentence


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification, what it shows in words, and what stands below it."""

    spec: dict[str, Any]
    words: str
    caption: str = ""
    anchor: str = ""  # its name on the page, if something refers to it


@dataclass(frozen=True)
class Facts:
    """Names with what is told of them; of a glossary, each can be linked to."""

    items: Sequence[tuple[str, str]]
    look: str = "facts"


@dataclass(frozen=True)
class Key:
    """What the marks of charts mean: the look of each with its words, which may link to a glossary (`Section`)."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Finding:
    """One verdict: its level, whom it is about, a badge, a sentence, what makes one doubt it, and whose details."""

    level: str
    name: str
    badge: str
    text: str
    doubts: tuple[str, ...] = ()
    place: int | None = None


@dataclass(frozen=True)
class Findings:
    """Verdicts below each other."""

    items: Sequence[Finding]


@dataclass(frozen=True)
class Group:
    """Blocks that belong together.

    Attributes
    ----------
    look : str
        "pair": side by side; "chart-narrow": no wider than a column; "detail": not on paper unless all is printed.
    title : str
        Their own heading, if they have one.
    fold : str
        The line that unfolds them; empty if they are always seen.
    place : int or None
        Whose they are, if a reader picks one of several explainers.
    """

    blocks: "Sequence[Block]"
    look: str = ""
    title: str = ""
    fold: str = ""
    place: int | None = None


@dataclass(frozen=True)
class Picker:
    """Where a reader picks an explainer, or (anchor "filter") narrows what is shown to some of them."""

    anchor: str
    label: str


Block = Any  # Sentence, Table, Chart, Facts, Key, Findings, Group, Picker, or a pair of rows


@dataclass(frozen=True)
class Section:
    """A question and its answer.

    Attributes
    ----------
    anchor, label, title : str
        Its name in links, in the list of sections, and above it.
    lead : str
        What is asked, in our own words: ``[faithful]`` and ``[cannot be checked|unverifiable]`` link to a glossary.
    detail : bool
        Whether it is left out on paper unless all is printed.
    """

    anchor: str
    label: str
    title: str
    blocks: Sequence[Block]
    lead: str = ""
    detail: bool = False


@dataclass(frozen=True)
class Document:
    """What a page shows.

    Attributes
    ----------
    brand, title, headline, lead : str
        The headline is the sentence to quote.
    names : tuple of str
        The explainers among which a reader picks; none if there is one.
    glossary : mapping of str to str
        The words that leads, keys and headings of tables link to.
    foot : sequence of str
        What stands at the end.
    printed : str
        What is said on paper about what is left out; empty if nothing is.
    about : int
        The place of the explainer that is picked at first.
    alarmed : bool
        Whether the headline is an alarm.
    """

    brand: str
    title: str
    headline: str
    lead: str
    created: str
    sections: Sequence[Section | Picker]
    names: Sequence[str] = ()
    glossary: Mapping[str, str] = field(default_factory=dict)
    foot: Sequence[str] = ()
    printed: str = ""
    about: int = 0
    alarmed: bool = False


def missing(text: str) -> Sentence:
    """The sentence in place of something that is not there."""
    return Sentence(text, look="nothing")


def aside(text: str) -> Sentence:
    """A sentence that is told beside."""
    return Sentence(text, look="aside")
