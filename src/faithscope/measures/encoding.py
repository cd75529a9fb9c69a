"""Encoding: does the choice of an explanation say more than the explanation itself?

The gap between rows given an explanation and other rows that it covers, with its interval; and per explanation a test
whether both get the same predictions.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import kolmogorov

from faithscope.agreements import Agreement, Same
from faithscope.card import Table, framed
from faithscope.counting.counted import Encoded, LabelCells
from faithscope.counting.coverage import tallies
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.checks import check_whole
from faithscope.inputs.frames import frame
from faithscope.measures.covered import scoped
from faithscope.measures.intervals.local import log_choose
from faithscope.measures.intervals.margins import Deviations, LeftOutDeviations, check_confidence, margins
from faithscope.measures.sufficiency import FEWER
from faithscope.measures.telling import Answer, told_number
from faithscope.relations import check_rows
from faithscope.rounding import down, in_brackets, percent, up
from faithscope.runtime.of_logs import takes_log
from faithscope.sample import Sample
from faithscope.visible import visible
from faithscope.words import several

if TYPE_CHECKING:
    import pandas as pd


_MANY_LEAN = 0.05  # share of the tested rows whose comparisons lean on a single row, from which on that is told
_ENTRIES = 2**21  # outcomes of tables looked at at once
_ROUNDING = 1e-7  # outcomes as likely as the one seen, but for rounding, are not more likely


class ChoiceTests(NamedTuple):
    """One entry per explanation that can be tested, strongest first.

    Attributes
    ----------
    explanation : (t,) array
        The number of the explanation.
    given, others : (t,) arrays
        Rows that were given it, and other rows that it covers.
    distance : (t,) array
        How far the two distributions are apart: total variation of labels, Kolmogorov's distance of numbers.
    p, adjusted : (t,) arrays
        The probability of such a difference by chance, alone and among all tests (Benjamini and Hochberg).
    """

    explanation: Ints
    given: Ints
    others: Ints
    distance: Floats
    p: Floats
    adjusted: Floats

    @classmethod
    def of(cls, encoded: Encoded) -> "ChoiceTests":
        """The tests of all explanations that have rows of both kinds."""
        tables, tested = encoded.tables, np.flatnonzero(encoded.both)
        if isinstance(tables, LabelCells):
            which, distinct = tables.explanation, len(encoded.both)

            def total(column: Array) -> Array:
                return np.bincount(which, column, minlength=distinct)

            given, others, first_given, first_others = (total(column).astype(np.int64) for column in tables[2:])
            distance = total(np.abs(np.subtract(*_shares(tables)))) / 2
            seen, least = tables.first_given + tables.first_others, np.ones(distinct)
            labels, rows = total(seen > 0), (first_given + first_others)[which]
            np.minimum.at(least, which, fisher(tables.first_given, first_given[which], seen, rows))
            # With two labels both tables are the same one; beyond, the least of several is corrected by Bonferroni.
            p = np.minimum(1.0, least * np.where(labels > 2, labels, 1))
        else:
            given, others, distance = tables.given, tables.others, tables.distance
            one, other = tables.first_given, tables.first_others
            p = kolmogorov(np.sqrt(one * other / np.maximum(one + other, 1)) * distance)
        order = tested[np.lexsort((tested, -distance[tested], p[tested]))]
        return cls(order, given[order], others[order], distance[order], p[order], adjust(p[order]))


def fisher(seen: Ints, drawn: Ints, marked: Ints, rows: Ints) -> Floats:
    """Fisher's exact test, two-sided: the probability of outcomes no more likely than the one seen.

    Parameters
    ----------
    seen, drawn, marked, rows : (m,) arrays
        Of so many rows so many are marked and so many are drawn, of which `seen` are marked.

    Examples
    --------
    >>> fisher(np.array([3]), np.array([3]), np.array([3]), np.array([6])).round(3).tolist()
    [0.1]
    """
    low, high = np.maximum(0, drawn + marked - rows), np.minimum(drawn, marked)
    sizes = high - low + 1
    if len(seen) > 1 and sizes.sum() > _ENTRIES:  # one half after the other
        halves = zip(*(np.array_split(column, 2) for column in (seen, drawn, marked, rows)), strict=True)
        return np.concatenate([fisher(*half) for half in halves])
    table, begins = np.repeat(np.arange(len(seen)), sizes), np.cumsum(sizes) - sizes
    outcome = np.arange(len(table)) - begins[table] + low[table]
    likely = log_choose(marked[table], outcome) + log_choose((rows - marked)[table], drawn[table] - outcome)
    likely -= log_choose(rows, drawn)[table]
    limit = likely[begins + seen - low] + _ROUNDING
    return np.minimum(1.0, np.bincount(table, np.where(likely <= limit[table], np.exp(likely), 0.0)))


def adjust(p: Floats) -> Floats:
    """p-values that ascend, adjusted for their number by Benjamini and Hochberg.

    Examples
    --------
    >>> adjust(np.array([0.01, 0.02, 0.9])).tolist()
    [0.03, 0.03, 0.9]
    """
    scaled = p * len(p) / np.arange(1, len(p) + 1)
    return np.minimum.accumulate(scaled[::-1])[::-1]


@dataclass(frozen=True, repr=False, kw_only=True)
class Encoding(Answer):
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
        (``docs/proofs.md``). None if nothing could be tested.
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

    value: float | None  # type: ignore[assignment]
    unverifiable: float
    alone: float
    exclusive: float
    distinct: int
    tested: int
    flagged: int
    encodes: bool | None
    _encoded: Encoded = field(repr=False, compare=False)
    _tests: ChoiceTests = field(repr=False, compare=False)
    agreement: Agreement = field(default_factory=Same)
    method: str = "jackknife"
    measure: str = "encoding"

    def table(self, k: int | None = None) -> "pd.DataFrame":
        """One line per explanation that can be tested, strongest first; only the first k if k is given.

        ``n`` rows were given it and ``others`` are covered by it and were given another. Of labels, ``label`` is that
        whose shares among them, ``given_share`` and ``covered_share``, differ most, and ``p`` is that of Fisher's exact
        test (of more than two labels, the least of one label against the rest, corrected by Bonferroni). Of numbers,
        ``given_mean`` and ``covered_mean`` are their means, ``distance`` is Kolmogorov's, and ``p`` that of his test
        with Smirnov. ``p_adjusted`` allows for the number of tests (Benjamini and Hochberg), and ``flagged`` is whether
        it is at most 1 - confidence. Every row counts once, whatever its weight.
        """
        return frame(self._columns(k))

    def _columns(self, k: int | None = None) -> dict[str, Any]:
        shown: tuple[Any, ...] = tuple(column[: None if k is None else check_whole(k, "k")] for column in self._tests)
        first = ChoiceTests(*shown)
        cells, which = self._encoded.tables, first.explanation
        if isinstance(cells, LabelCells):
            one, other = _shares(cells)
            # Of labels whose shares differ as much, the commonest of those given it.
            order = np.lexsort((cells.given, np.abs(one - other).round(9), cells.explanation))
            top = order[np.searchsorted(cells.explanation, which, side="right") - 1]
            told: dict[str, Any] = {"label": [self._encoded.counts.labels[j] for j in cells.label[top].tolist()]}
            told |= {"given_share": one[top], "covered_share": other[top], "total_variation": first.distance}
        else:
            told = {"given_mean": cells.given_mean[which], "covered_mean": cells.others_mean[which]}
            told |= {"distance": first.distance}
        return {
            "explanation": [self._encoded.counts.explanations.describe(int(number)) for number in which],
            "n": first.given,
            "others": first.others,
            **told,
            "p": first.p,
            "p_adjusted": first.adjusted,
            "flagged": first.adjusted <= 1 - self.confidence,
        }

    def plot(self) -> Any:
        """An Altair chart: per explanation the share among rows given it against that among others; the diagonal is 0.

        Of numbers, it shows the means.
        """
        from faithscope.charts import encoding as chart

        return chart(self._columns())

    def __str__(self) -> str:
        rows = f"n={self.n:,}, {percent(self.unverifiable)} unverifiable"
        if self.value is None:
            return f"encoding unknown: no explanation could be tested; {rows}"
        word = "found" if self.encodes else "not found"
        of = f"{self.flagged:,} of {several(self.tested, 'explanation', 'explanations')}"
        return f"encoding {self.value:.3f} {in_brackets(self.low, self.high)}: {word} ({of}); {rows}"

    def _sentences(self) -> Iterable[str]:
        return [self._verdict]

    @property
    def _verdict(self) -> str:
        """What the result says, in plain sentences.

        Examples
        --------
        >>> import faithscope as fs
        >>> rules = fs.Rules.parse(["age <= 200"] * 9 + ["hours <= 200"] * 9, features=["age", "hours"])
        >>> print(fs.encoding(rules, ["yes"] * 9 + ["no"] * 9, [[40.0, 30.0]] * 18, clusters=range(18))._verdict)
        The choice of this explanation says more than it does: of the 9 rows given `age <= 200`, 100% get 'yes'; of \
the 9 other rows that it covers, 0% do. So it is with 2 of 2 explanations.
        """
        many = f"{self.flagged:,} of {several(self.tested, 'explanation', 'explanations')}"
        if self.encodes is None:
            if self.alone or self._encoded.counts.missed.any():
                return "Cannot tell: no explanation was given to several rows and covers others besides."
            return "Nothing is encoded in the choice of an explanation: none covers a row that was given another."
        ends = f"{100 * self.confidence:g}% interval {down(self.low)} to {up(self.high)}"
        gap = f"a gap of {self.value:.3f}, {ends}; {many} flagged"
        if not self.encodes:
            return (
                "No encoding found: the predictions of the rows given an explanation and of the other rows that it "
                f"covers differ by no more than chance gives ({gap})."
            )
        if not self.flagged:
            return f"The choice of an explanation says more than it does, although no single one shows it ({gap})."
        line = {name: column[0] for name, column in self._columns(1).items()}
        if self.agreement.of_numbers:
            get = f"the mean prediction is {told_number(float(line['given_mean']))}"
            do = f"it is {told_number(float(line['covered_mean']))}"
        else:
            get = f"{percent(line['given_share'])} get {visible(repr(line['label']))}"
            do = f"{percent(line['covered_share'])} do"
        return (
            "The choice of this explanation says more than it does: of the "
            f"{several(int(line['n']), 'row', 'rows')} given `{visible(str(line['explanation']))}`, {get}; of the "
            f"{several(int(line['others']), 'other row', 'other rows')} that it covers, {do}. So it is with {many}."
        )

    def _tables(self) -> Iterable[Table]:
        names = ("value", "low", "high", "alone", "exclusive", "tested", "flagged")
        below = f"{several(self.n, 'row', 'rows')}, {100 * self.confidence:g}% interval"
        return [framed(super().table(), names, below)]


def _shares(cells: LabelCells) -> list[Floats]:
    """The share of each label among the rows given each explanation, and among the others that it covers."""
    which = cells.explanation
    return [side / np.maximum(np.bincount(which, side), 1)[which] for side in (cells.given, cells.others)]


@takes_log(FEWER)
def encoding(
    explanations: Any,
    predictions: Any = None,
    X: Any = None,
    *,
    relation: Any = None,
    confidence: float = 0.95,
    weights: Any = None,
    agreement: Any = None,
    clusters: Any = None,
) -> Encoding:
    """Whether the choice of an explanation says more about the prediction than the explanation itself.

    It takes for granted that rows are independent draws (or `clusters` of rows are), and that the explainer was fixed
    before they were seen. Not every choice that says more is a fault: rules that are tried in order are each given to
    rows on which none before holds, and that says more than a rule which leaves it out. Write it into the rule.

    Parameters
    ----------
    explanations : Explanations that say where they apply, or a Log of them
        As for `sufficiency`.
    predictions : array-like, (n,)
    X : array-like or table, n rows
    relation : Alike, Nearest, Ball, Judged or callable, optional
        As for `sufficiency`.
    confidence : float
        The confidence of the interval, and of the verdict.
    weights : array-like, (n,), optional
        How much each row counts in the value; in tests, every row of positive weight counts once.
    agreement : Close, Tolerance or callable, optional
        How much two predictions agree if they are numbers, as for `consistency`.
    clusters : array-like, (n,), optional
        Which rows belong together, as for `consistency`; tests then take one row per cluster and explanation.

    Returns
    -------
    Encoding

    Examples
    --------
    >>> import faithscope as fs
    >>> rules = fs.Rules.parse(["age <= 40", "age <= 60"] * 4, features=["age"])
    >>> fs.encoding(rules, ["yes", "no"] * 4, [[30.0]] * 8).value
    1.0
    """
    check_rows(X, relation)
    sample = Sample.of(explanations, predictions, X, weights, agreement, clusters)
    return measure_encoding(*sample._scoped_by(relation), confidence)


def measure_encoding(sample: Sample, relation: Any = None, confidence: float = 0.95) -> Encoding:
    """The encoding of a sample.

    The least margin of its interval divides by the rows that can be tested. A row that was missed changes the value by
    its own term, which lies between -1 and 1, by the terms of rows that were given the same explanation, which lean on
    it by 1, and by those of rows whose explanation covers it, which lean on it by at most `reach`.
    """
    wrong, (counted, relation) = check_confidence(confidence), scoped(sample, relation, "encoding")
    read, notes = tallies(counted, [relation], ("gap",))[0].encoded(), counted.all_notes
    sums, tests, without = read.sums, ChoiceTests.of(read), read.sums.without
    missed = int(read.counts.missed.sum())
    value = None if sums.tested <= 0 else min(1.0, max(-1.0, sums.gap / sums.tested))
    middle, known, reach = value or 0.0, None, 0.0 if without is None else without.reach
    if value is not None and without is not None and not np.isnan(without.value).any():
        apart = Deviations.of(without.value)
        known = LeftOutDeviations(apart, apart)
    good = read.counts.effective_n * sums.tested / sums.total
    off = margins(known, good, confidence, own=3.0, lean=reach)
    encodes = None
    if len(tests.p):
        encodes = bool(tests.adjusted.min() <= wrong / 2 or abs(middle) > off.at(1 - wrong / 2).below)
    remarks = {
        "tests of single explanations take one row per cluster and explanation": counted.clusters is not None,
        "tests of single explanations count every row once": counted.clusters is None and counted.weights is not None,
        several(missed, "row that its explanation does not cover counts", "rows that theirs do not cover count")
        + " among the rows given it: that alone can make both differ": missed,
        f"the comparisons of {reach:,.0f} rows lean on one other row, which makes the interval wide": reach
        >= max(2.0, _MANY_LEAN * read.counts.n * sums.tested / sums.total),
    }
    notes = (*notes, *(remark for remark, holds in remarks.items() if holds))
    alone, exclusive = (min(1.0, part / sums.total) for part in (sums.alone, sums.exclusive))
    return Encoding(
        value=value,
        low=max(-1.0, middle - off.below),
        high=min(1.0, middle + off.below),
        confidence=confidence,
        unverifiable=min(1.0, alone + exclusive),
        alone=alone,
        exclusive=exclusive,
        n=read.counts.n,
        distinct=len(read.both),
        tested=len(tests.p),
        flagged=int(np.sum(tests.adjusted <= wrong)),
        encodes=encodes,
        notes=tuple(dict.fromkeys(notes)),
        agreement=counted.agreement,
        _encoded=read,
        _tests=tests,
    )
