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
    kind = "mean" if numbers else "share"
    rows = tuple(
        (
            wording(line["explanation"]),
            *(() if numbers else (wording(line["label"]),)),
            Cell(f"{line['n']:,}", plain(line["n"])),
            _told(line[f"given_{kind}"], numbers),
            Cell(f"{line['others']:,}", plain(line["others"])),
            _told(line[f"covered_{kind}"], numbers),
            Cell(f"{line['p_adjusted']:.2g}", plain(line["p_adjusted"])),
        )
        for line in lines
    )
    names = ("explanation",) if numbers else ("explanation", "prediction")
    what = "their mean prediction" if numbers else "their share with this prediction"
    columns = (*names, "given", kind, "others", kind, "p")
    return Table(columns, rows, len(names), _ENCODING.format(what=what))


def _told(value: float, numbers: bool) -> Cell:
    known = plain(value)
    return number(known) if numbers or known is None else Cell(f"{known:.1%}", known)


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
