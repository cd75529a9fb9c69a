"""What consistency and sufficiency do not show of explanations that say where they apply."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from faithscope.counting.counts import Counts
from faithscope.measures.encoding import Encoding
from faithscope.measures.estimate import Estimate
from faithscope.measures.scopes import largest_scopes
from faithscope.report.claims import Claims
from faithscope.report.missing import Missing, attempt
from faithscope.report.result import ExplainerResult
from faithscope.report.wording import plain, wording

_MOST_POINTS = 400  # explanations of which a picture is drawn
_MOST_FLAGGED = 8


@dataclass(frozen=True)
class Hidden:
    """Encoding, and the precision and recall of every explanation.

    Attributes
    ----------
    encoding : str
        What the choice of explanations says, in words.
    encodes : bool or None
        Whether it says more than the explanations; None if that cannot be told.
    flagged : tuple of dict
        The explanations whose choice says more than they do, strongest first; none unless `encodes`.
    points : tuple of dict
        Precision and recall of the explanations that most rows were given; none of numbers.
    left_out : int
        Explanations that are not among the points.
    claims : Claims or None
        The precision that explanations claim, beside the measured one; None if they claim none.
    """

    encoding: str
    encodes: bool | None
    flagged: tuple[dict[str, Any], ...]
    points: tuple[dict[str, Any], ...]
    left_out: int
    claims: Claims | None = None

    @classmethod
    def of(cls, result: ExplainerResult) -> "tuple[Hidden | None, tuple[Missing, ...]]":
        """What is hidden in a result; None if its explanations do not say where they apply, or name features."""
        sufficiency = result.sufficiency
        if sufficiency is None or sufficiency.beyond_random is not None:  # which features are named says much by itself
            return None, ()
        encoding, missing = attempt("hidden", "encoding", result.encoding)
        flagged = _flagged(encoding)
        points, many = _points(sufficiency, {line["explanation"] for line in flagged})
        verdict = "" if encoding is None else wording(encoding._verdict, longest=1000)
        encodes = None if encoding is None else encoding.encodes
        table, no_claims = attempt("hidden", "claims", result._claims)
        claims = None if table is None else Claims.of(table, sufficiency.confidence)
        hidden = cls(verdict, encodes, flagged[:_MOST_FLAGGED], points, many - len(points), claims)
        return hidden, (*missing, *no_claims)


def _flagged(encoding: Encoding | None) -> tuple[dict[str, Any], ...]:
    """The flagged explanations, which come first in the table; none if all in all nothing is encoded."""
    if encoding is None or not encoding.encodes or not encoding.flagged:
        return ()
    return tuple(map(_shown, encoding.table(encoding.flagged).to_dict("records")))


def _points(sufficiency: Estimate, flagged: set[str]) -> tuple[tuple[dict[str, Any], ...], int]:
    """The explanations that most rows were given, and how many explanations there are.

    None of numbers and of clustered rows, whose counts do not tell the labels of all rows that are covered.
    """
    counts = sufficiency.counts
    if not isinstance(counts, Counts) or counts.agreeing is not None or counts.relation.partial:
        return (), 0
    columns = largest_scopes(counts, sufficiency.confidence, _MOST_POINTS)
    lines = [_shown(dict(zip(columns, line, strict=True))) for line in zip(*columns.values(), strict=True)]
    drawn = [{**line, "flagged": line["explanation"] in flagged} for line in lines if line["precision"] is not None]
    return tuple(drawn), counts.distinct


def _shown(line: Mapping[Any, Any]) -> dict[str, Any]:
    """A line of a table, ready to be read and for JSON."""
    texts = {"explanation", "label"}
    kept = {str(name): value for name, value in line.items() if not isinstance(value, dict)}
    return {name: wording(value) if name in texts else plain(value) for name, value in kept.items()}
