"""Whether explainers agree with each other, as a report shows it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from faithscope.measures.explainer_agreement import ExplainerAgreement
from faithscope.report.missing import attempt
from faithscope.report.wording import plain, wording

_MAPS = {
    "same": "Share of rows on which two explainers say the same",
    "feature_agreement": "Share of the features they name that both name",
}
_MOST_NAMES = 16  # explainers in a heat map that can be read


@dataclass(frozen=True)
class HeatMap:
    """One number for every two explainers; None for what cannot be told, and on the diagonal."""

    title: str
    names: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Agreeing:
    """How far explainers agree with each other.

    Attributes
    ----------
    maps : tuple of HeatMap
        Of measures that at least two explainers have.
    pairs : tuple of dict
        Every two explainers, with all numbers.
    notes, remarks : tuple of str
        At which granularity they were compared; what could not be compared, pair by pair.
    """

    maps: tuple[HeatMap, ...]
    pairs: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, measure: Callable[[], ExplainerAgreement] | None) -> "Agreeing | None":
        """What a report shows; None for a single explainer."""
        if measure is None:
            return None
        agreement, missing = attempt("agreement", "agreement", measure)
        if agreement is None:
            return cls((), (), tuple(each.sentence for each in missing), ())
        apart = [f"{pair.a} and {pair.b}: {note}" for pair in agreement.pairs for note in pair.notes]
        names = tuple(map(wording, agreement.explainers))
        maps = [HeatMap(title, names, _square(agreement, name)) for name, title in _MAPS.items()]
        drawn = [each for each in maps if len(names) <= _MOST_NAMES and any(any(_known(row)) for row in each.values)]
        lines = [{name: _shown(value) for name, value in pair.columns().items()} for pair in agreement.pairs]
        return cls(tuple(drawn), tuple(lines), tuple(map(wording, agreement.notes)), tuple(map(wording, apart)))


def _square(agreement: ExplainerAgreement, measure: str) -> tuple[tuple[float | None, ...], ...]:
    return tuple(tuple(map(plain, row)) for row in agreement._square(measure))


def _known(row: tuple[float | None, ...]) -> list[bool]:
    return [value is not None for value in row]


def _shown(value: Any) -> Any:
    return wording(value) if isinstance(value, str) else plain(value)
