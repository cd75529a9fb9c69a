"""What each number means, for somebody who has not read the paper: the words of ``glossary.json``."""

import json
from collections.abc import Sequence
from importlib.resources import files

from faithscope.agreements import Agreement, Spread
from faithscope.measures.telling import described
from faithscope.report.document import Facts, Group, Section

_KEPT: dict[str, dict[str, str]] = json.loads(
    files("faithscope.report").joinpath("page/glossary.json").read_text("utf-8")
)
GLOSSARY = _KEPT["words"]


def glossary(agreements: Sequence[Agreement]) -> dict[str, str]:
    """What each number of a report means, if its measures are by these agreements.

    Examples
    --------
    >>> glossary([Spread()])["consistency"][:43]
    'The share of the variance of the prediction'
    """
    if not any(agreement.of_numbers for agreement in agreements):
        return GLOSSARY
    spread = all(isinstance(agreement, Spread) for agreement in agreements)
    sentences = " ".join(dict.fromkeys(filter(None, map(described, agreements))))
    convex = all(agreement.convex for agreement in agreements)
    changed = _KEPT["of variance" if spread else "of numbers"] | ({} if convex else _KEPT["of numbers that merge"])
    return GLOSSARY | changed | {"agreement": f"How predictions are compared. {sentences}"}


def meanings(words: dict[str, str]) -> Section:
    """The section that explains these words."""
    folded = Group([Facts(tuple(words.items()), "glossary")], "means", fold=f"{len(words)} words explained")
    return Section("glossary", "What it means", "What each number means", [folded], detail=True)
