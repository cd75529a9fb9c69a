"""What does it hide? Encoding, and how far explanations reach."""

from typing import Any

from faithscope.card import Cell, Sentence, Table
from faithscope.measures.telling import number, recall_sentence
from faithscope.report.document import Block
from faithscope.report.explainer import Explainer, Question
from faithscope.report.wording import plain, wording
from faithscope.rounding import down, up

_MOST_LINES = 8  # of a table
_ENCODING = (
    "Explanations whose choice says more than they do: the rows given each beside the other rows that it covers, and "
    "the p-value, adjusted for the number of tests"
)
_COLUMNS = (
    *("explanation", "label", "n", "given_share", "given_mean", "others", "covered_share", "covered_mean"),
    "p_adjusted",
)


def _told(value: Any) -> Cell:
    known = plain(value)
    return Cell(f"{known:.3g}" if isinstance(known, float) else wording(known), known)


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
            lines = encoding.table(min(encoding.flagged, _MOST_LINES))
            columns = [name for name in _COLUMNS if name in lines]
            rows = tuple(tuple(map(_told, line)) for line in lines[columns].itertuples(index=False))
            blocks += [Table(tuple(columns), rows, 1 if asked.result.agreement.of_numbers else 2, _ENCODING)]
    if necessity is not None:
        interval = f"Necessity {number(necessity.verified)}, interval {down(necessity.low)} to {up(necessity.high)}."
        blocks += [Sentence(f"{recall_sentence(necessity)} {interval}")]
    return blocks


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
