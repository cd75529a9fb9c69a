"""Agreement of explainers in words: one line, and a card."""

from collections.abc import Sequence

from faithscope.explanations.base import several
from faithscope.measures.explainer_agreement.overlap import OVERLAPS
from faithscope.measures.explainer_agreement.pair import PairAgreement
from faithscope.measures.explainer_agreement.shares import Share
from faithscope.sinks.card import Card, Sentence, Table
from faithscope.visible import visible

_LONGEST = 12  # characters of a name in a line
_COLUMNS = ("explainer", "and", "same", "interval", "chance", "kappa", "interval")
_NAMED = ("features", "by chance", "ranks", "signs", "ranks and signs")


def in_a_line(pairs: Sequence[PairAgreement], n: int) -> str:
    """The numbers of one pair, or the span over several."""
    if len(pairs) == 1:
        return _pair_line(pairs[0])
    same = [pair.same.value for pair in pairs if pair.same is not None]
    kappas = [pair.kappa.value for pair in pairs if pair.kappa is not None]
    features = [pair.feature_agreement.value for pair in pairs if pair.feature_agreement is not None]
    parts = [f"same {_span(same, '.0%')}"] if same else []
    parts += [f"kappa {_span(kappas, '.2f')}"] if kappas else []
    parts += [f"features {_span(features, '.2f')}"] if features else []
    return f"{several(len(pairs), 'pair', 'pairs')} of explainers, {several(n, 'row', 'rows')}: {', '.join(parts)}"


def _pair_line(pair: PairAgreement) -> str:
    names, rows = f"{_short(pair.a)} and {_short(pair.b)}", several(pair.n, "row", "rows")
    if pair.same is None:
        return f"{names}: feature agreement {_told(pair.feature_agreement)} on {rows}"
    line = f"{names}: the same on {pair.same.value:.0%} of {rows} [{pair.same.low:.2f}, {pair.same.high:.2f}]"
    chance = "" if pair.chance is None else f", chance {pair.chance:.2f}"
    return line + chance + ("" if pair.kappa is None else f", kappa {_told(pair.kappa)}")


def _told(share: Share | None) -> str:
    return "unknown" if share is None else f"{share.value:.2f} [{share.low:.2f}, {share.high:.2f}]"


def _span(numbers: Sequence[float], form: str) -> str:
    low, high = (format(number, form) for number in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def _short(name: str) -> str:
    told = visible(name)
    return told if len(told) <= _LONGEST else told[: _LONGEST - 1] + "…"


def agreement_card(
    pairs: Sequence[PairAgreement], n: int, clusters: int | None, confidence: float, notes: Sequence[str]
) -> Card:
    """All pairs with their intervals, most alike first in words."""
    rows = tuple(_cells(pair) for pair in pairs)
    grouped = "" if clusters is None else f" in {several(clusters, 'cluster', 'clusters')}"
    below = f"{several(n, 'row', 'rows')}{grouped}, {100 * confidence:g}% intervals, each by itself"
    about = [f"{visible(pair.a)} and {visible(pair.b)}: {visible(note)}" for pair in pairs for note in pair.notes]
    table = Table((*_COLUMNS, *_NAMED), rows, 2, caption=below)
    return Card("agreement of explainers", _sentences(pairs), (table,), (*map(visible, notes), *about))


def _sentences(pairs: Sequence[PairAgreement]) -> tuple[Sentence, ...]:
    known = sorted((pair for pair in pairs if pair.same is not None), key=lambda pair: -_value(pair.same))
    if not known:
        return (Sentence("These explainers are of different kinds: only the features that they name can be compared."),)
    most, least = known[0], known[-1]
    sentences = [f"{_both(most)} say the same on {_value(most.same):.1%} of the rows{_beside(most)}."]
    if len(known) > 1:
        sentences.append(f"Least alike are {_both(least)}, on {_value(least.same):.1%}{_beside(least)}.")
    return tuple(map(Sentence, sentences))


def _both(pair: PairAgreement) -> str:
    return f"{visible(pair.a)} and {visible(pair.b)}"


def _beside(pair: PairAgreement) -> str:
    return "" if pair.chance is None else f", while chance alone gives {pair.chance:.1%}"


def _value(share: Share | None) -> float:
    return 0.0 if share is None else share.value


def _cells(pair: PairAgreement) -> tuple[str, ...]:
    same, kappa = _ends(pair.same), _ends(pair.kappa)
    named = (_ends(getattr(pair, name)) for name in OVERLAPS)
    chance, by_chance = ("–" if each is None else f"{each:.3f}" for each in (pair.chance, pair.feature_chance))
    cells = [f"{value} ({ends})" if ends else value for value, ends in named]
    cells.insert(1, by_chance)
    return (visible(pair.a), visible(pair.b), same[0], same[1] or "–", chance, kappa[0], kappa[1] or "–", *cells)


def _ends(share: Share | None) -> tuple[str, str]:
    return ("–", "") if share is None else (f"{share.value:.3f}", f"{share.low:.3f}–{share.high:.3f}")
