"""All numbers: every measure of every explainer, drawn and as a table, and how explainers differ."""

from typing import Any

from faithscope.agreements import Spread
from faithscope.card import Cell, Table
from faithscope.charts import specs
from faithscope.measures.comparing.differences import difference_tables
from faithscope.measures.estimate import Estimate
from faithscope.measures.telling import COLUMNS, READING_ORDER, WORDS, caption, numbers
from faithscope.report.document import Block, Chart, Group, Key, Picker, Section
from faithscope.report.explainer import Summary
from faithscope.report.sections.verdicts import ICONS
from faithscope.report.wording import plain

_LEAD = (
    "An explanation is [faithful] when rows that are explained alike are predicted alike. [Consistency|consistency] "
    "asks it of rows with the same explanation, [sufficiency] of all rows to which an explanation applies."
)
_CERTAIN = (
    "Whatever is left of an interval's left end is certain, at the stated confidence; whatever is hatched is unknown, "
    "neither good nor bad."
)
_DRAWN = (
    *("measure", "agreement", "value", "low", "high", "unverifiable", "upper", "chance", "n"),
    *("verified", "verified_low", "verified_high"),
)


def drawn_row(name: str, estimate: Estimate) -> dict[str, Any]:
    """The numbers of an estimate that a chart draws, under a name."""
    told = estimate.to_dict()
    return {"name": name} | {field: plain(told[field]) for field in _DRAWN}


def measures(summary: Summary) -> Section:
    """The section of all numbers."""
    several = len(summary.explainers) > 1
    rows = [drawn_row(each.name, estimate) for each in summary.explainers for estimate in each.measures]
    variance = all(isinstance(estimate.agreement, Spread) for estimate in summary.estimates)
    key = Key(
        (
            ("known", "variance accounted for" if variance else "shown to agree"),
            ("hatched", "[cannot be checked|unverifiable]"),
            ("whisker", "[interval]"),
            ("diamond", f"{'the share' if variance else 'agreement'} [where it can be checked]"),
            ("tick", "[chance]"),
        )
    )
    blocks: list[Block] = [key, Chart(specs.estimates(rows), specs.in_words(rows), _CERTAIN, "picture")]
    blocks += [Picker("filter", "Show only explainers whose name contains")] if several else []
    blocks += [measures_table(summary)]
    apart = [
        table
        for title, lines in by_measure(summary)
        for table in difference_tables(lines, title, summary.together, len(lines))
    ]
    blocks += [Group(apart, fold=f"Differences between explainers ({len(summary.differences):,})")] if apart else []
    return Section("picture", "All numbers", "All explainers" if several else "The measures", blocks, _LEAD)


def measures_table(summary: Summary) -> Table:
    """The table of all numbers."""
    names = ("explainer", "verdict", "discretization", "measure")
    badges = {level: Cell(f"{ICONS[level]} {WORDS[level]}", place, level) for place, level in enumerate(READING_ORDER)}
    rows = tuple(
        (
            explainer.name,
            Cell("–") if estimate is explainer.result.necessity else badges[explainer.verdict.level],
            explainer.discretizer,
            estimate.measure,
            *numbers(estimate),
            Cell(f"{explainer.result.uniqueness:.1%}", explainer.result.uniqueness),
        )
        for explainer in summary.explainers
        for estimate in explainer.result._estimates()
    )
    chosen = f"; discretizations were chosen on {summary.rows_to_choose:,} other rows" if summary.rows_to_choose else ""
    below = f"{caption(summary.estimates[0])}; faithscope {summary.versions['faithscope']}{chosen}"
    columns, wide = (*names, *COLUMNS, "uniqueness"), ("verdict", "uniqueness")
    return Table(columns, rows, len(names), "", below, wide, "overview")


def by_measure(summary: Summary) -> list[tuple[str, list[Any]]]:
    """Differences of explainers by measure, with the title of each table."""
    return [
        (f"{name}: differences of explainers", [line for line in summary.differences if line.measure == name])
        for name in dict.fromkeys(line.measure for line in summary.differences)
    ]
