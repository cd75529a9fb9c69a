"""Quoted spans of the input as highlights."""

import re
from collections.abc import Iterable
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.base import several, shorten
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.rule_json import remarks_on
from faithscope.explanations.tokenizers import folded_words

NO_QUOTE = "nothing quoted"  # in place of words: no tokenizer here makes a word with a space, so it covers no document
_ADVICE = 'Pass unreadable="uncovered" to count such rows as unverifiable, or leave these rows out.'
_PAIRS = ["“”", "«»", "»«", "„“", "‹›", "「」", "『』", "＂＂"]  # what opens and what closes
# A plain quote opens where no word ends and closes where none begins, so that 6' 2" and isn't are no quotes.
_STRAIGHT = r'(?<!\w)"(?=\S)([^"]*)(?<=\S)"(?!\w)'
_SINGLE = r"(?<!\w)'(?=\S)((?:[^']|(?<=\w)'(?=\w))*)(?<=\S)'(?!\w)"
_CURLY = r"(?<!\w)‘(?=\S)((?:[^‘’]|(?<=\w)’(?=\w))*)(?<=\S)’(?!\w)"
_SPANS = re.compile(
    "|".join([*(f"{pair[0]}([^{pair}]*){pair[1]}" for pair in _PAIRS), _STRAIGHT, _SINGLE, _CURLY, r"`([^`]+)`"]),
    re.DOTALL,
)
_ELLIPSIS = re.compile(r"\[?(?:…|\.{3,})\]?")


def quoted_spans(text: str) -> list[str]:
    """What stands in quotes, in order; a span with an ellipsis is the pieces around it.

    Examples
    --------
    >>> quoted_spans("He says “a dull plot”, 'isn't it', and `no … fun` at 6' 2.")
    ['a dull plot', "isn't it", 'no', 'fun']
    """
    spans = [next(filter(None, match.groups()), "") for match in _SPANS.finditer(text)]
    return [piece.strip() for span in spans for piece in _ELLIPSIS.split(span) if piece.strip()]


def quoted_highlights(texts: Iterable[str], inputs: Iterable[Any], unreadable: str) -> Highlights:
    """The words of each text's quotes that stand in its input, as highlights of folded words."""
    strangers, quotes = [], 0
    problems: dict[int, str] = {}
    words: list[set[str]] = []
    for row, (text, about) in enumerate(zip(texts, inputs, strict=True)):
        if about is None:
            raise BadInput(f"Row {row} has no input whose words could be quoted: pass fs.Reasons(texts, inputs).")
        spans = {span: folded_words(span) for span in quoted_spans(text)}
        document = f" {' '.join(folded_words(about))} "
        outside = {span: None for span, quoted in spans.items() if quoted and f" {' '.join(quoted)} " not in document}
        inside = {word for span, quoted in spans.items() if span not in outside for word in quoted}
        quotes += len(spans)
        strangers += [(row, span) for span in outside]
        if not inside and outside:
            named = shorten([repr(span[:60]) for span in outside], 2)
            problems[row] = f"its input does not hold what it quotes ({named})"
        elif not inside:
            problems[row] = f"it quotes nothing ({text[:60]!r})"
        words.append(inside or {NO_QUOTE})
    remarks = remarks_on(problems, len(words), unreadable, _ADVICE)
    if strangers:
        (row, span), count = strangers[0], several(len(strangers), "quote does", "quotes do")
        remarks += (f"{count} not stand in the input, of {quotes:,}; the first is {span[:60]!r}, at row {row}",)
    return Highlights(words, tokenizer=folded_words)._with(remarks=remarks)
