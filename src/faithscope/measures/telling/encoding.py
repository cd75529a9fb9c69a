"""Encoding in words: one line, a verdict in plain sentences, and a card."""

from typing import TYPE_CHECKING, Any

from faithscope.explanations.base import several
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.rules import Rules
from faithscope.measures.numbers.words import told_number
from faithscope.sinks.card import Card, Sentence, Table
from faithscope.visible import visible

if TYPE_CHECKING:
    from faithscope.measures.encoding import Encoding

_SHOWN = 10  # explanations in a card


def encoding_line(encoding: "Encoding") -> str:
    """The result in one line."""
    rows = f"n={encoding.n:,}, {_percent(encoding.unverifiable)} unverifiable"
    if encoding.value is None:
        return f"encoding unknown: no explanation could be tested; {rows}"
    word = "found" if encoding.encodes else "not found"
    of = f"{encoding.flagged:,} of {several(encoding.tested, 'explanation', 'explanations')}"
    return f"encoding {encoding.value:.3f} [{encoding.low:.2f}, {encoding.high:.2f}]: {word} ({of}); {rows}"


def encoding_verdict(encoding: "Encoding") -> str:
    """What the result says, in plain sentences.

    Examples
    --------
    >>> import faithscope as fs
    >>> rules = fs.Rules.parse(["age <= 200"] * 9 + ["hours <= 200"] * 9, features=["age", "hours"])
    >>> print(encoding_verdict(fs.encoding(rules, ["yes"] * 9 + ["no"] * 9, [[40.0, 30.0]] * 18, clusters=range(18))))
    The choice of this rule says more than the rule: of the 9 rows given `age <= 200`, 100% get 'yes'; of the 9 other \
rows that it covers, 0% do. So it is with 2 of the 2 rules that could be tested.
    """
    noun, nouns = _nouns(encoding)
    if encoding.encodes is None:
        return _untested(encoding, noun)
    untested = f" {_percent(encoding.unverifiable)} of rows could not be tested." if encoding.unverifiable else ""
    tested = f"{encoding.tested:,} {nouns if encoding.tested != 1 else noun}"
    if not encoding.encodes:
        seen = f"none of {tested} stands out"
        if encoding.flagged:
            stand = "stands" if encoding.flagged == 1 else "stand"
            seen = f"{encoding.flagged:,} of {tested} {stand} out, as they may by chance"
        return (
            f"No encoding found: the predictions of the rows given {_article(noun)} and of the other rows that it "
            f"covers differ by no more than chance gives ({_gap(encoding)}; {seen}).{untested}"
        )
    if not encoding.flagged:
        word = "more" if (encoding.value or 0) > 0 else "less"
        return (
            f"The choice of {_article(noun)} says more than the {noun}, although no single one shows it: rows given "
            f"the same {noun} agree {word} with each other than with the other rows that it covers "
            f"({_gap(encoding)}).{untested}"
        )
    more = f" So it is with {encoding.flagged:,} of the {tested} that could be tested." if encoding.tested > 1 else ""
    return f"The choice of this {noun} says more than the {noun}: {_strongest(encoding)}.{more}{untested}"


def _gap(encoding: "Encoding") -> str:
    interval = f"{100 * encoding.confidence:g}% interval {encoding.low:.3f} to {encoding.high:.3f}"
    return f"a gap of {encoding.value or 0.0:.3f}, {interval}"


def _strongest(encoding: "Encoding") -> str:
    """The strongest explanation: what the rows given it get, and what the other rows that it covers get."""
    line = {name: column[0] for name, column in encoding._columns(1).items()}
    given = f"of the {several(int(line['n']), 'row', 'rows')} given `{visible(str(line['explanation']))}`"
    others = f"of the {several(int(line['others']), 'other row', 'other rows')} that it covers"
    if encoding.agreement.of_numbers:
        means = (told_number(float(line[name])) for name in ("given_mean", "covered_mean"))
        return f"{given}, the mean prediction is {next(means)}; {others}, it is {next(means)}"
    label = _most_different(line)
    shares = [line[name].get(label, 0) / sum(line[name].values()) for name in ("given", "covered")]
    return f"{given}, {_percent(shares[0])} get {visible(repr(label))}; {others}, {_percent(shares[1])} do"


def _most_different(line: dict[str, Any]) -> Any:
    """The label whose shares differ most; of several, the commonest among the rows given."""
    given, covered = line["given"], line["covered"]
    rows = sum(given.values()), sum(covered.values())

    def apart(label: Any) -> tuple[float, int]:
        return round(abs(given.get(label, 0) / rows[0] - covered.get(label, 0) / rows[1]), 9), given.get(label, 0)

    return max({**given, **covered}, key=apart)


def _untested(encoding: "Encoding", noun: str) -> str:
    """Why nothing could be tested; that is no failure of explanations which partition the rows."""
    if encoding._encoded is not None and encoding._encoded.missed:
        missed = several(encoding._encoded.missed, "row is", "rows are")
        uncovered = f"{missed} not covered by the {noun} given"
        return f"Cannot tell: no {noun} can be tested, and {uncovered}: that can hide a label."
    if encoding.alone == 0:
        return (
            f"Nothing is encoded in the choice of {_article(noun)}: no row is covered by {_article(noun)} that it was "
            "not given, so there was nothing to choose."
        )
    if encoding.exclusive == 0:
        return f"Cannot tell: nobody was given the {noun} of another row, so no choice can be compared."
    return (
        f"Cannot tell: {_percent(encoding.alone)} of rows have {_article(noun)} that nobody else was given, and those "
        f"of the others cover no row that was given another."
    )


def _nouns(encoding: "Encoding") -> tuple[str, str]:
    """What explanations are called: one of them, and several."""
    explanations = None if encoding._encoded is None else encoding._encoded.explanations
    if isinstance(explanations, Rules):
        return "rule", "rules"
    return ("highlight", "highlights") if isinstance(explanations, Highlights) else ("explanation", "explanations")


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _percent(share: float) -> str:
    """A share in whole percent; never 0% or 100% for what is not none or all."""
    if 0 < share < 0.005:
        return "under 1%"
    return "over 99%" if 0.995 <= share < 1 else f"{share:.0%}"


def encoding_card(encoding: "Encoding") -> Card:
    """The verdict, the numbers, the strongest explanations and the notes."""
    value = "–" if encoding.value is None else f"{encoding.value:.3f}"
    shares = (f"{encoding.alone:.1%}", f"{encoding.exclusive:.1%}")
    numbers = (
        value,
        f"{encoding.low:.3f}–{encoding.high:.3f}",
        *shares,
        f"{encoding.tested:,}",
        f"{encoding.flagged:,}",
    )
    names = ("value", "interval", "alone", "exclusive", "tested", "flagged")
    below = f"{several(encoding.n, 'row', 'rows')}, {100 * encoding.confidence:g}% interval"
    tables = (Table(names, (numbers,), 0, caption=below), *_strongest_table(encoding))
    return Card("encoding", (Sentence(encoding_verdict(encoding)),), tables, tuple(map(visible, encoding.notes)))


def _strongest_table(encoding: "Encoding") -> tuple[Table, ...]:
    if not encoding.tested:
        return ()
    columns = encoding._columns(_SHOWN)
    numbers = encoding.agreement.of_numbers
    names = (
        ("given_mean", "covered_mean", "distance") if numbers else ("given_share", "covered_share", "total_variation")
    )
    words = [columns["explanation"]] if numbers else [columns["explanation"], columns["label"]]
    rows = tuple(
        (
            *(visible(str(column[i])) for column in words),
            *(f"{columns[name][i]:,}" for name in ("n", "others")),
            *(told_number(float(columns[name][i])) for name in (*names, "p_adjusted")),
        )
        for i in range(len(columns["n"]))
    )
    titles = ("explanation", *(() if numbers else ("label",)), "rows given", "others")
    heads = ("mean given", "mean of others", "distance") if numbers else ("share given", "share of others", "apart")
    return (Table((*titles, *heads, "p adjusted"), rows, len(words), title="strongest first"),)
