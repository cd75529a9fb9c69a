"""The cards of estimates: the columns that terminals, Markdown and pages share, and the verdict on each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from faithscope.explanations.base import several
from faithscope.measures.comparing.populations import shown_differences, shown_groups
from faithscope.measures.estimate import NECESSITY, Estimate
from faithscope.measures.numbers.words import named
from faithscope.measures.telling.differences import difference_tables
from faithscope.measures.telling.recall import recall_sentence
from faithscope.measures.telling.rounding import down, up
from faithscope.measures.telling.verdict import doubts, judge, with_doubts
from faithscope.sinks.card import Card, Sentence, Table
from faithscope.visible import visible

COLUMNS = ("value", "interval", "unverifiable", "checked", "chance")  # of every table of estimates that is shown
_COUNTED = ("rows", "bound")  # columns of numbers, which follow those of words


def numbers(estimate: Estimate) -> tuple[str, ...]:
    """The numbers of an estimate as text, in the order of `COLUMNS`.

    Examples
    --------
    >>> from faithscope import consistency
    >>> numbers(consistency(["old", "young"], [1, 0]))
    ('0.000', '0.000–1.000', '100.0%', '–', '0.000')
    """
    interval = f"{down(estimate.low)}–{up(estimate.high)}"
    shares = (f"{estimate.value:.3f}", interval, f"{estimate.unverifiable:.1%}")
    return (*shares, number(estimate.verified), number(estimate.chance))


def number(value: float | None) -> str:
    """A number as text; a dash if it is undefined."""
    return "–" if value is None else f"{value:.3f}"


def caption(estimate: Estimate) -> str:
    """How many rows, at which confidence, by which agreement."""
    clusters = "" if estimate.clusters is None else f" in {several(estimate.clusters, 'cluster', 'clusters')}"
    alike = estimate.effective_n in (estimate.n, estimate.clusters)
    weighted = "" if alike else f" (as good as {estimate.effective_n:,.0f} independent ones that count alike)"
    return f"{several(estimate.n, 'row', 'rows')}{clusters}{weighted}, {intervals(estimate)}"


def intervals(estimate: Estimate) -> str:
    """At which confidence, by which agreement."""
    by = f", by {named(estimate.agreement)}" if estimate.agreement.of_numbers else ""
    return f"{100 * estimate.confidence:g}% intervals{by}"


def estimate_table(
    names: Sequence[str], lines: Iterable[tuple[Sequence[str], Estimate]], title: str = "", below: str = ""
) -> Table:
    """A table of estimates: columns under `names`, of words or of numbers of rows, then the numbers."""
    rows = tuple((*words, *numbers(estimate)) for words, estimate in lines)
    return Table((*names, *COLUMNS), rows, len([name for name in names if name not in _COUNTED]), title, below)


def estimate_card(estimate: Estimate) -> Card:
    """One estimate: what it says in a word, its numbers and its notes."""
    told = tuple(map(visible, estimate.notes))
    if estimate.measure == NECESSITY:
        sentence = Sentence(recall_sentence(estimate))
    else:
        sentence = Sentence(with_doubts(judge([estimate], {}), doubts(told)))
    table = estimate_table((), [((), estimate)], below=caption(estimate))
    return Card(estimate.measure, (sentence,), (table,), tuple(note for note in told if note not in doubts(told)))


def curve_card(title: str, name: str, points: Sequence[tuple[float, Estimate]], note: str = "") -> Card:
    """Estimates by a number, such as a distance."""
    lines = [((f"{point:g}",), estimate) for point, estimate in points]
    told = [(f"{name} {point:g}", estimate) for point, estimate in points]
    table = estimate_table((name,), lines, below=caption(lines[0][1]))
    return Card(title, (), (table,), (*([visible(note)] if note else []), *notes(told)))


def populations_card(by: str, estimates: Mapping[str, Estimate], differences: bool) -> Card:
    """Estimates by group with the verdict on each, and how the groups differ if that is wanted."""
    shown = {group: estimates[group] for group in shown_groups(estimates)}
    lines = [((name, *_word(each), f"{each.n:,}"), each) for name, each in shown.items()]
    left_out = len(estimates) - len(shown)
    more = f"; {left_out:,} more groups, whose intervals begin no lower, are not shown" if left_out else ""
    first = lines[0][1]
    words = ("verdict",) if _word(first) else ()
    told = estimate_table((by or "group", *words, "rows"), lines, below=f"{intervals(first)}{more}")
    pairs, together = shown_differences(estimates, shown) if differences else ([], 0)
    tables = (told, *difference_tables(pairs, together=together))
    return Card(f"{first.measure} by {by or 'group'}", (), tables, notes(shown.items()))


def _word(estimate: Estimate) -> tuple[str, ...]:
    """The verdict in a word; none on necessity."""
    return () if estimate.measure == NECESSITY else (judge([estimate], {}).word,)


def joined(cards: Sequence[Card]) -> Card:
    """Several cards as one, under the title of the last."""
    tables = tuple(table for card in cards for table in card.tables)
    told = dict.fromkeys(note for card in cards for note in card.notes)
    return replace(cards[-1], tables=tables, notes=tuple(told))


def notes(estimates: Iterable[tuple[str, Estimate]]) -> tuple[str, ...]:
    """What a reader should know of several estimates, each line with whom it is about."""
    return tuple(f"{name}: {visible(note)}" for name, estimate in estimates for note in estimate.notes)
