"""What does it hide? Encoding, and how far explanations reach."""

from collections.abc import Mapping, Sequence
from typing import Any

from faithscope.measures.telling import number, recall_sentence
from faithscope.report.document import Block
from faithscope.report.explainer import Explainer, Question
from faithscope.report.wording import plain, wording
from faithscope.rounding import down, up
from faithscope.sinks.card import Cell, Sentence, Table

_MOST_LINES = 8  # of a table
_ENCODING = (
    "Explanations whose choice says more than they do: the rows given each and the other rows that it covers, {what}, "
    "and the p-value, adjusted for the number of tests"
)


def _ask(asked: Explainer) -> list[Block]:
    """Nothing if explanations do not say where they apply, or name features: which these are says much by itself."""
    sufficiency, necessity = asked.result.sufficiency, asked.result.necessity
    if sufficiency is None or sufficiency.beyond_random is not None:
        return []
    blocks: list[Block] = []
    encoding = asked.attempt(HIDDEN, "encoding", asked.result.encoding)
    if encoding is not None:
        verdict = wording(encoding._verdict, longest=1000)
        blocks += [Sentence(verdict)]
        if encoding.encodes:
            asked.doubted.append(verdict.rstrip("."))
        if encoding.encodes and encoding.flagged:
            lines = encoding.table(min(encoding.flagged, _MOST_LINES)).to_dict("records")
            blocks += [_flagged(lines, asked.numbers)]
    if necessity is not None:
        interval = f"Necessity {number(necessity.verified)}, interval {down(necessity.low)} to {up(necessity.high)}."
        blocks += [Sentence(f"{recall_sentence(necessity)} {interval}")]
    return blocks


def _flagged(lines: Sequence[Mapping[Any, Any]], numbers: bool) -> Table:
    """The explanations whose choice says more than they do, strongest first."""
    kind, what = ("mean", "their mean prediction") if numbers else ("share", "their share with this prediction")
    words = ("explanation",) if numbers else ("explanation", "label")
    names = ("n", f"given_{kind}", "others", f"covered_{kind}", "p_adjusted")
    rows = tuple((*(wording(line[name]) for name in words), *(_told(line[name]) for name in names)) for line in lines)
    columns = (*words, "given", kind, "others", kind, "p")
    return Table(columns, rows, len(words), _ENCODING.format(what=what))


def _told(value: Any) -> Cell:
    known = plain(value)
    shown = f"{known:,}" if isinstance(known, int) else "–" if known is None else f"{known:.3g}"
    return Cell(shown, known)


HIDDEN = Question(
    "hidden",
    "What it hides",
    "What does it hide?",
    "An explanation that is given to all rows of one prediction, and to no other, is consistent whatever it says. Two "
    "questions look behind that: does the choice of the explanation say more than the explanation itself ([encoding]), "
    "and how many of the rows with its prediction does it reach ([necessity])?",
    subject="what it hides",
    nothing="These explanations do not say where they apply, so neither can be asked.",
    ask=_ask,
)
