"""Encoding: does the choice of an explanation say more than the explanation itself?"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faithscope.agreements import Agreement, Same
from faithscope.counting.encoding.sums import Encoded
from faithscope.inputs.checks import check_whole
from faithscope.inputs.frames import frame
from faithscope.measures.encoding.choice_tests import ChoiceTests
from faithscope.measures.encoding.columns import columns
from faithscope.sinks.card import Card
from faithscope.sinks.shareable import Shareable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Encoding(Shareable):
    """Whether the choice of an explanation says more about the prediction than the explanation itself.

    An explanation that says where it applies is compared with itself: the predictions of the rows that were *given* it,
    and those of the other rows that it covers. If these differ, then who reads that this explanation was chosen learns
    more than it says; a label can be hidden in that choice.

    Attributes
    ----------
    value : float or None
        Mean over rows of the agreement with the others that were given the same explanation, less that with the rows
        that it covers and that were given another; None if no row has both. 0 if nothing is encoded. It may be near 0
        or negative although the predictions differ: read it beside `encodes`.
    low, high : float
        Interval of the value, among rows that can be tested; -1 and 1 if there is none.
    confidence : float
    unverifiable : float
        Share of rows that cannot be tested: `alone` and `exclusive` together.
    alone, exclusive : float
        Share of rows whose explanation nobody else was given, and of the remaining rows whose explanation covers no
        row that was given another.
    n, distinct : int
        Rows, and different explanations.
    tested, flagged : int
        How many explanations could be tested, and how many of them have a ``p_adjusted`` of at most 1 - confidence.
    encodes : bool or None
        Whether explanations encode: half of what may be wrong, 1 - confidence, is for the tests of single
        explanations, and half for the interval of the value. In simulations, false alarms stay below it
        (``docs/statistics.md``). None if nothing could be tested.
    notes : tuple of str
    agreement : Agreement
    method : str

    Examples
    --------
    >>> import faithscope as fs
    >>> texts = ["age <= 200", "hours <= 200"] * 50  # both always hold; which of them is shown says the prediction
    >>> rows = [[20.0 + row % 50, 40.0] for row in range(100)]
    >>> rules = fs.Rules.parse(texts, features=["age", "hours"])
    >>> encoding = fs.encoding(rules, ["yes", "no"] * 50, rows)
    >>> encoding.value, encoding.encodes, encoding.table().given_share.tolist()
    (1.0, True, [1.0, 1.0])
    """

    value: float | None
    low: float
    high: float
    confidence: float
    unverifiable: float
    alone: float
    exclusive: float
    n: int
    distinct: int
    tested: int
    flagged: int
    encodes: bool | None
    notes: tuple[str, ...] = ()
    agreement: Agreement = field(default_factory=Same)
    method: str = "jackknife"
    _encoded: Encoded | None = field(default=None, repr=False, compare=False)
    _tests: ChoiceTests | None = field(default=None, repr=False, compare=False)

    @property
    def interval(self) -> tuple[float, float]:
        """The pair (low, high)."""
        return self.low, self.high

    def table(self, k: int | None = None) -> "pd.DataFrame":
        """One line per explanation that can be tested, strongest first; only the first k if k is given.

        ``n`` rows were given it and ``others`` are covered by it and were given another. Of labels, ``given`` and
        ``covered`` are their counts by label, ``label`` is the commonest of the rows given, ``given_share`` and
        ``covered_share`` its shares, and ``p`` is that of Fisher's exact test (of more than two labels, the least of
        one label against the rest, corrected by Bonferroni). Of numbers, ``given_mean`` and ``covered_mean`` are their
        means, ``distance`` is Kolmogorov's, and ``p`` that of his test with Smirnov. ``p_adjusted`` allows for the
        number of tests (Benjamini and Hochberg), and ``flagged`` is whether it is at most 1 - confidence. Every row
        counts once, whatever its weight.
        """
        return frame(self._columns(k))

    def _columns(self, k: int | None = None) -> dict[str, Any]:
        assert self._encoded is not None
        assert self._tests is not None
        many = None if k is None else check_whole(k, "k")
        return columns(self._encoded, self._tests, 1 - self.confidence, many)

    def plot(self) -> Any:
        """An Altair chart: per explanation the share among rows given it against that among others; the diagonal is 0.

        Of numbers, it shows the means.
        """
        from faithscope.charts import encoding as chart

        return chart(self._columns())

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        names = ("value", "low", "high", "confidence", "unverifiable", "alone", "exclusive", "n", "distinct")
        told = {name: getattr(self, name) for name in (*names, "tested", "flagged", "encodes", "method")}
        return {"measure": "encoding", **told, "agreement": repr(self.agreement), "notes": list(self.notes)}

    def __str__(self) -> str:
        from faithscope.measures.telling.encoding import encoding_line

        return encoding_line(self)

    __repr__ = __str__

    def _card(self) -> Card:
        from faithscope.measures.telling.encoding import encoding_card

        return encoding_card(self)
