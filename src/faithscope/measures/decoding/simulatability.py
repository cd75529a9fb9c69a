"""Simulatability: how well predictions of new rows can be told from their explanations alone."""

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from faithscope.agreements import Agreement, Same
from faithscope.inputs.frames import frame
from faithscope.measures.numbers.words import named
from faithscope.sinks.card import Card, Sentence, Table
from faithscope.sinks.lines import in_lines
from faithscope.sinks.shareable import Shareable
from faithscope.visible import visible

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd


@dataclass(frozen=True)
class Simulatability(Shareable):
    """How well predictions of new rows are decoded from explanations alone: `GibbsDecoder.accuracy` gives it.

    It is what somebody could predict who has seen the learned rows, and knows the explanation of a new row but not the
    row itself. The interval is for all rows like the new ones, with the decoder as it is.

    Attributes
    ----------
    value : float
        Share of the new rows that are decoded rightly; the Gibbs decoder's is the expected share over its draws. Of
        numbers, the mean agreement of what is decoded with the prediction; by `Spread`, the R² on the new rows, 1 less
        the mean squared error divided by that of the mean of the learned rows.
    low, high, confidence : float
        The interval, and its confidence.
    method : str
        How the interval was made: "exact" (Clopper and Pearson) or "jackknife".
    chance : float
        What the decoder reaches on the same rows without explanations: by the commonest of the labels that it learned
        (the mean of numbers), or by a draw from all rows that it learned.
    gain, gain_low, gain_high : float
        ``value - chance`` with its own interval, row by row.
    unseen : float
        Share of new rows whose explanation was never seen; they count as decoded wrongly, or by `Spread` as decoded
        without an explanation.
    seen : float or None
        The accuracy among the other rows; None if there are none.
    n : int
        Number of new rows.
    decoder : str
        The decoder's class.
    agreement : Agreement
        How much what is decoded and a prediction agree.
    notes : tuple of str
        What a reader should know before trusting the interval.

    Examples
    --------
    >>> import faithscope as fs
    >>> decoder = fs.OptimalDecoder().fit(["a", "a", "b", "b"], ["no", "no", "yes", "no"])
    >>> result = decoder.accuracy(["a", "b", "b", "c"], ["no", "no", "yes", "yes"])
    >>> result.value, result.chance, result.unseen
    (0.5, 0.5, 0.25)
    """

    value: float
    low: float
    high: float
    confidence: float
    method: str
    chance: float
    gain: float
    gain_low: float
    gain_high: float
    unseen: float
    seen: float | None
    n: int
    decoder: str
    agreement: Agreement = field(default_factory=Same)
    notes: tuple[str, ...] = ()

    @property
    def interval(self) -> tuple[float, float]:
        """The interval for the true accuracy, (low, high)."""
        return self.low, self.high

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        told = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {"measure": "simulatability"} | told | {"agreement": named(self.agreement), "notes": list(self.notes)}

    def table(self) -> "pd.DataFrame":
        """One line of numbers."""
        told = self.to_dict()
        return frame({name: [value] for name, value in told.items() if name not in {"measure", "notes"}})

    def plot(self) -> "alt.LayerChart":
        """The accuracy with its interval beside chance, as an Altair chart."""
        from faithscope.charts import estimates

        return estimates([(self.decoder, _Drawn(self))])

    def _card(self) -> Card:
        columns = ("decoder", "accuracy", "interval", "without explanations", "gain", "interval of the gain", "unseen")
        ends = (f"{self.low:.3f} to {self.high:.3f}", f"{self.gain_low:.3f} to {self.gain_high:.3f}")
        numbers = (
            f"{self.value:.3f}",
            ends[0],
            f"{self.chance:.3f}",
            f"{self.gain:.3f}",
            ends[1],
            f"{self.unseen:.1%}",
        )
        caption = f"{self.n:,} new rows, {100 * self.confidence:g}% intervals"
        table = Table(columns, ((self.decoder, *numbers),), caption=caption)
        return Card("simulatability", (Sentence(self._verdict()),), (table,), tuple(map(visible, self.notes)))

    def _verdict(self) -> str:
        if self.gain_low > 0:
            told = "Explanations tell more of the predictions of new rows than a guess without them"
        elif self.gain_high < 0:
            told = "Explanations tell less of the predictions of new rows than a guess without them"
        else:
            told = "These rows do not show that explanations tell more than a guess without them"
        return f"{told}: {self.value:.1%} against {self.chance:.1%}."

    def __str__(self) -> str:
        by = f" by {named(self.agreement)}" if self.agreement.of_numbers else ""
        value = f"simulatability {self.value:.3f}{by}, {self._interval()}"
        gain = f"{self.gain:+.3f} [{self.gain_low:.2f}, {self.gain_high:.2f}] over guessing"
        line = f"{value}; {gain} ({self.chance:.2f}); n={self.n:,}, {self.unseen:.0%} unseen"
        return in_lines(line, self.notes)

    __repr__ = __str__

    def _interval(self) -> str:
        return f"{100 * self.confidence:g}% interval [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class _Drawn:
    """What a chart of estimates reads: no row is silent here."""

    measured: Simulatability

    def to_dict(self) -> dict[str, Any]:
        value = self.measured.value
        return self.measured.to_dict() | {"upper": value, "unverifiable": 0.0, "verified": value}
