"""Notes on pairs that a judge was asked about: how many, and whether they look as if they were drawn at random."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from faithscope.counting.asked import Asked
from faithscope.counting.tally import Coverage
from faithscope.explanations.base import several
from faithscope.sample import Sample
from faithscope.visible import visible

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_WRONG = 1e-3  # probability of a warning although pairs were drawn at random
_LABELS = 20  # labels that are told apart; rarer ones count as one
_LONGEST = 60  # characters of a label that are told
_ENOUGH = 5  # rows to expect before the normal distribution is believed


def asked_notes(coverage: Coverage, sample: Sample) -> tuple[str, ...]:
    """What a reader should know of the pairs that a judge was asked about; nothing if all pairs were."""
    relation, asked = coverage.counts.relation, coverage.asked
    told: tuple[str, ...] = getattr(relation, "notes", ())
    if asked is None:
        return told
    return (*told, _share(asked), *_own(coverage, asked), *_silent(coverage, asked), *_not_random(asked, sample))


def _share(asked: Asked) -> str:
    many = f"{len(asked.row):,} of {asked.distinct * len(asked.codes):,} pairs of an explanation and a row"
    return f"the judge was asked about {many} ({100 * asked.share:.2g}%): assumes that these were drawn at random"


def _own(coverage: Coverage, asked: Asked) -> tuple[str, ...]:
    """A note if the judge says of rows that their own explanation does not apply to them."""
    denied = int((asked.own & ~coverage.own).sum())
    rows = several(denied, "row", "rows")
    if not denied:
        return ()
    return (f"the judge says that their own explanation does not apply to {rows} of {int(asked.own.sum()):,} asked",)


def _silent(coverage: Coverage, asked: Asked) -> tuple[str, ...]:
    """Notes if explanations were not asked about, or apply to no row that they were asked about."""
    never = int((asked.per_explanation == 0).sum())
    nowhere = int(((coverage.counts.per_explanation == 0) & (asked.per_explanation > 0)).sum())
    remarks = (
        several(never, "explanation was", "explanations were") + " not asked about" if never else "",
        several(nowhere, "explanation applies", "explanations apply") + " to no row asked about" if nowhere else "",
    )
    return tuple(remark for remark in remarks if remark)


class _Surplus(NamedTuple):
    """How many more pairs of a kind were asked than random ones would be, and the standard deviation of that."""

    kind: str
    pairs: float
    expected: float
    deviation: float
    rows: float  # as how many rows it counts

    @property
    def z(self) -> float:
        return (self.pairs - self.expected) / self.deviation if self.deviation > 0 else 0.0


def _not_random(asked: Asked, sample: Sample) -> tuple[str, ...]:
    """A warning if random pairs would hardly ever be like these."""
    tried = [surplus for surplus in _surpluses(asked, sample) if surplus.rows >= _ENOUGH]
    if not tried:
        return ()
    limit = float(-ndtri(_WRONG / (2 * len(tried))))
    worst = max(tried, key=lambda surplus: abs(surplus.z))
    if abs(worst.z) <= limit:
        return ()
    seen = (
        f"{worst.pairs:,.0f} of {len(asked.row):,} are {worst.kind}, and of random ones {worst.expected:,.0f} would be"
    )
    return (f"pairs do not look random: {seen}; the value may be off, interval or not: draw them with fs.pairs_to_ask",)


def _surpluses(asked: Asked, sample: Sample) -> Iterator[_Surplus]:
    """Of pairs with the same prediction, of rows with each prediction, and of rows given the same explanation.

    A row's surplus is how often it was asked about less how often a random row would be, for the explanations of each
    label. Were pairs drawn without looking at predictions, these might as well be shuffled over the rows: that gives
    the variance, whatever else the surpluses are, such as those of a panel of rows that all explanations are asked
    about. A row that alone was given its explanation is not counted for it.
    """
    names, labels = _few_labels(sample)
    given = np.bincount(asked.codes, minlength=asked.distinct)
    alone, first = given == 1, np.zeros(asked.distinct, np.int64)
    first[asked.codes[::-1]] = np.arange(len(asked.codes))[::-1]
    kept = ~(alone[asked.which] & (asked.row == first[asked.which]))
    which, row = asked.which[kept], asked.row[kept]
    rate = np.bincount(which, minlength=asked.distinct) / np.maximum(1, len(asked.codes) - alone)
    label = _commonest(asked.codes, labels, asked.distinct, len(names))
    shape = (len(asked.codes), len(names))
    seen = np.bincount(row * len(names) + label[which], minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
    expected = np.zeros(shape) + np.bincount(label, rate, minlength=len(names))
    np.subtract.at(expected, (first[alone], label[alone]), rate[alone])
    share = np.bincount(labels, minlength=len(names)) / len(labels)
    yield _of_labels("of rows with the prediction of the explanation's row", seen, expected, labels, share)
    for number, name in enumerate(names):
        kind = f"about rows predicted {name}"
        wanted = labels == number
        yield _of_marked(kind, seen.sum(axis=1), expected.sum(axis=1), wanted)
    yield _of_same(which, row, asked.codes, given, rate)


def _of_labels(kind: str, seen: Floats, expected: Floats, labels: Ints, share: Floats) -> _Surplus:
    """Of pairs whose row has the label of the explanation, if labels are shuffled over the rows."""
    at, more = np.arange(len(labels)), seen - expected
    variance = np.maximum(0.0, (more**2) @ share - (more @ share) ** 2)
    pairs = float(seen[at, labels].sum())
    return _Surplus(kind, pairs, float(expected[at, labels].sum()), float(np.sqrt(variance.sum())), _rows(variance))


def _of_marked(kind: str, seen: Floats, expected: Floats, marked: NDArray[np.bool_]) -> _Surplus:
    """Of pairs with rows that are marked, if marks are shuffled over the rows."""
    more, share = seen - expected, float(marked.mean())
    variance = more**2 * share * (1 - share)
    rows = _rows(variance) * min(share, 1 - share)
    return _Surplus(
        kind, float(seen[marked].sum()), float(expected[marked].sum()), float(np.sqrt(variance.sum())), rows
    )


def _of_same(which: Ints, row: Ints, codes: Ints, given: Ints, rate: Floats) -> _Surplus:
    """Of pairs with rows that were given the same explanation, if each explanation draws its rows at random."""
    several_rows = given > 1
    expected = np.where(several_rows, given * rate, 0.0)
    variance = expected * (1 - rate) * (1 - given / len(codes))
    pairs = float((codes[row] == which).sum())
    return _Surplus(
        "of rows that were given the same explanation",
        pairs,
        float(expected.sum()),
        float(np.sqrt(variance.sum())),
        float(expected.sum()),
    )


def _rows(variance: Floats) -> float:
    """As how many equal rows they count: (Σv)² / Σv²."""
    squares = float(np.sum(variance**2))
    return float(variance.sum() ** 2 / squares) if squares else 0.0


def _few_labels(sample: Sample) -> tuple[list[str], Ints]:
    """The commonest labels and all others as one; of numbers, the lower and the upper half."""
    names, labels = sample.numbered_labels
    if sample.agreement.of_numbers:
        return ["in the lower half", "in the upper half"], (labels > np.median(labels)).astype(np.int64)
    order = np.argsort(-np.bincount(labels), kind="stable")
    place = np.minimum(np.argsort(order), _LABELS)
    told = [visible(repr(names[number]))[:_LONGEST] for number in order[:_LABELS]]
    return told + ["otherwise"] * (len(names) > _LABELS), place[labels]


def _commonest(codes: Ints, labels: Ints, distinct: int, many: int) -> Ints:
    """The commonest label of the rows that were given each explanation."""
    cells, times = np.unique(codes * many + labels, return_counts=True)
    order = np.argsort(times, kind="stable")
    commonest = np.zeros(distinct, np.int64)
    commonest[cells[order] // many] = cells[order] % many
    return commonest
