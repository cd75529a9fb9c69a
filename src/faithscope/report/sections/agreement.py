"""Do the explainers agree? On how many rows every two of them say the same, and which features both name."""

from collections.abc import Callable
from dataclasses import replace

from faithscope.charts.specs import heat_map, pairs_in_words
from faithscope.measures.explainer_agreement import ExplainerAgreement
from faithscope.report.document import Block, Chart, Group, aside
from faithscope.report.explainer import attempt
from faithscope.report.wording import plain, wording

_MAPS = {
    "same": "Share of rows on which two explainers say the same",
    "feature_agreement": "Share of the features they name that both name",
}
_MOST_NAMES = 16  # explainers in a heat map that can be read
LEAD = (
    "Two explainers may both be faithful and say different things, and two that agree may both be wrong. Where they "
    "differ, it matters which of them is shown. Some agreement is chance: it stands beside each number in the table of "
    "all pairs."
)


def agreement_blocks(measure: Callable[[], ExplainerAgreement] | None) -> list[Block]:
    """What a report shows of how far explainers agree; nothing for a single one."""
    if measure is None:
        return []
    agreement, reason = attempt(measure)
    if agreement is None:
        return [aside(f"agreement: whether explainers agree is not shown. {reason}")]
    names, maps = list(map(wording, agreement.explainers)), list[Block]()
    for name, title in _MAPS.items() if len(names) <= _MOST_NAMES else ():
        square = [list(map(plain, row)) for row in agreement._square(name)]
        if any(value is not None for row in square for value in row):
            caption = f"{title}; hatched: they cannot be compared."
            chart = Chart(heat_map(names, square, title), pairs_in_words(names, square, title), caption)
            maps.append(Group([chart]))
    pairs = agreement.pairs
    apart = [aside(wording(f"{pair.a} and {pair.b}: {note}")) for pair in pairs for note in pair.notes]
    tables = [replace(table, title="Agreement of explainers on the same rows") for table in agreement._tables()]
    folded = Group([*tables, *apart], fold=f"All pairs ({len(pairs)})")
    notes = [aside(wording(note)) for note in agreement.notes]
    return [*([Group(maps, "pair")] if maps else []), *([folded] if pairs else []), *notes]
