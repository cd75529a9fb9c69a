"""What does it hide? Encoding, the precision that explanations claim, and precision against recall of each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from faithscope.charts import specs
from faithscope.counting.counts import Counts
from faithscope.measures.estimate import Estimate
from faithscope.measures.scopes import largest_scopes
from faithscope.measures.telling import number, recall_sentence
from faithscope.report.document import Block, Chart, Group
from faithscope.report.question import Asked, Question
from faithscope.report.wording import plain, wording
from faithscope.rounding import down, up
from faithscope.sinks.card import Cell, Sentence, Table

_MOST_POINTS = 400  # explanations of which a picture is drawn
_MOST_LINES = 8  # of a table
_SPOKEN = 6  # points that are told in words
_ENCODING = (
    "Explanations whose choice says more than they do: the rows given each and the other rows that it covers, {what}, "
    "and the p-value, adjusted for the number of tests"
)


def _ask(asked: Asked) -> list[Block]:
    """Nothing if explanations do not say where they apply, or name features: which these are says much by itself."""
    sufficiency, necessity = asked.result.sufficiency, asked.result.necessity
    if sufficiency is None or sufficiency.beyond_random is not None:
        return []
    blocks: list[Block] = []
    encoding, flagged = asked.attempt(HIDDEN, "encoding", asked.result.encoding), set[str]()
    if encoding is not None:
        verdict = wording(encoding._verdict, longest=1000)
        blocks += [Sentence(verdict)]
        if encoding.encodes:
            asked.doubts.append(verdict.rstrip("."))
        if encoding.encodes and encoding.flagged:
            lines = encoding.table(encoding.flagged).to_dict("records")
            flagged = {wording(line["explanation"]) for line in lines}
            blocks += [_flagged(lines[:_MOST_LINES], asked.numbers)]
    if necessity is not None:
        interval = f"Necessity {number(necessity.verified)}, interval {down(necessity.low)} to {up(necessity.high)}."
        blocks += [Sentence(f"{recall_sentence(necessity)} {interval}")]
    claims = asked.attempt(HIDDEN, "claims", asked.result._claims)
    if claims is not None:
        blocks += [Sentence(_claimed(np.asarray(claims["claim"], object), sufficiency.confidence))]
    return [*blocks, *_picture(asked.name, *points(sufficiency, flagged), bool(flagged))]


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


def _claimed(verdicts: Any, confidence: float) -> str:
    """How many claims lie within the interval of the measured precision."""
    many = {verdict: int(np.sum(verdicts == verdict)) for verdict in ("holds", "too high", "too low")}
    checked = sum(many.values())
    if not checked:
        return "These explanations claim a precision of their own, which no row here can check."
    off = ", ".join(f"{count:,} {word}" for word, count in many.items() if word != "holds" and count)
    return (
        f"These explanations claim a precision of their own. On these rows {many['holds']:,} of {checked:,} claims lie "
        f"within the {confidence:.0%} interval of the measured precision{'; ' + off if off else ''} (scopes() lists "
        "them). Of many intervals a few fail by chance, and a claim may be about other inputs, such as perturbed rows."
    )


def points(sufficiency: Estimate, flagged: set[str]) -> tuple[list[dict[str, Any]], int]:
    """Precision and recall of the explanations that most rows were given, and how many explanations there are.

    None of numbers and of clustered rows, whose counts do not tell the labels of all rows that are covered.
    """
    counts = sufficiency.counts
    if not isinstance(counts, Counts) or counts.agreeing is not None or counts.relation.partial:
        return [], 0
    columns = largest_scopes(counts, sufficiency.confidence, _MOST_POINTS)
    lines = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    told = [
        {name: wording(value) if name in {"explanation", "label"} else plain(value) for name, value in line.items()}
        for line in lines
    ]
    drawn = [{**line, "flagged": line["explanation"] in flagged} for line in told if line["precision"] is not None]
    return drawn, counts.distinct


def _picture(name: str, drawn: list[dict[str, Any]], many: int, ringed: bool) -> list[Block]:
    if len(drawn) < 2:  # one point is no picture
        return []
    told = "; ".join(
        f"{p['explanation']}: precision {p['precision']:.2f}, recall {p['recall']:.2f}" for p in drawn[:_SPOKEN]
    )
    words = f"Precision against recall of {len(drawn):,} explanations of {name}. {told}."
    ring = "; ringed: its choice says more than it does" if ringed else ""
    left = f". {many - len(drawn):,} more explanations, given to fewer rows, are not drawn" if many > len(drawn) else ""
    caption = f"Each point is an explanation, larger if more rows were given it{ring}{left}."
    return [Group([Chart(specs.precision_recall(drawn), words, caption)], "chart-narrow")]


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
