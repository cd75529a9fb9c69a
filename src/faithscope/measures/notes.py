"""Notes on what is measured: predictions, explanations that restate them, rows and clusters, and a judge's pairs."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from faithscope.counting.counted import Coverage
from faithscope.counting.drawn import Counted
from faithscope.counting.layout import numbered_pairs
from faithscope.explanations.codes import Codes
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.columns import Rows
from faithscope.inputs.grouping import group
from faithscope.inputs.missing import missing_values
from faithscope.inputs.repeats import LARGEST, odd_occurrence
from faithscope.notes import NO_MERIT, RESTATE, TOO_HIGH, Note, Notes
from faithscope.relations import Same
from faithscope.sample import Sample
from faithscope.visible import visible
from faithscope.words import several

_FEW = 20  # so few labels, or different fractions, need no note
_ROWS_PER_LABEL = 20
_FEWEST_SHARES = 3  # fractions inside (0, 1) that make probabilities of labels between 0 and 1
_FEWEST_ROWS = 20  # with fewer, a prediction may have a single explanation by accident
_FEWEST_OF_SECOND = 5  # rows of the second commonest prediction
_PROBED = 1_000  # rows that are looked at first
_MISSING = object()
NOT_BY_PREDICTION = "assumes that weights do not depend on the prediction, among rows that an explanation covers"


def label_notes(labels: Sequence[Any], n: int) -> Notes:
    """A note if predictions look like numbers, or if there are very many labels for the rows.

    - Probabilities: all labels lie from 0 to 1, and at least 3 strictly inside.
    - Continuous: more than 20 different fractions.
    - Many: more than 20 labels, and more than one for every 20 rows.
    - Sets: each label is a set of labels, as 0 and 1 for each.

    Parameters
    ----------
    labels : sequence
        The different predictions.
    n : int
        Number of rows.
    """
    many = len(labels) > max(_FEW, n / _ROWS_PER_LABEL)
    kinds, known = (int, float, Decimal, np.number), [label for label in labels if label is not None]
    numbers = all(isinstance(each, kinds) and not isinstance(each, bool) for each in known)
    if not numbers or len(labels) < _FEWEST_SHARES:
        told = f"predictions have {len(labels):,} different labels in {n:,} rows, so that few can agree"
        return (f"{told}: merge rare labels, or measure more rows",) * many
    values = np.array([float(label) for label in known])
    fractions = values[values != np.floor(values)]
    inside = np.sum((fractions > 0) & (fractions < 1))
    equal, pass_on = "and agree only if they are equal", "pass agreement=fs.Spread() or fs.Close(eps)"
    shares = inside >= _FEWEST_SHARES and values.min() >= 0 and values.max() <= 1
    if shares or len(fractions) > _FEW:
        look, instead = ("like probabilities", "the predicted class") if shares else ("continuous", "bins")
        such = f"{len(values):,} different values, such as {fractions.min():g}"
        return (f"predictions look {look} ({such}) {equal}: {pass_on}, or {instead}",)
    told = f"predictions are {len(values):,} different numbers in {n:,} rows"
    return (f"{told} {equal}: if they are quantities, {pass_on}",) * many


def occurrence_notes(counts: Counted) -> Notes:
    """A note if no independent rows would be given explanations this often, whatever the explainer.

    Nothing is told of clustered rows, which need not be independent, nor of other relations than equality.

    Examples
    --------
    >>> from faithscope import count
    >>> occurrence_notes(count(range(100), [0] * 100))
    ()
    >>> occurrence_notes(count([*range(50)] * 2, [0] * 100))[0].partition(":")[0]
    '50 explanations were given to exactly 2 rows, 0 to 1 and 0 to 3'
    """
    if counts.clusters is not None or counts.relation != Same():
        return ()
    profile = counts.profile()
    size = np.minimum(profile.others + 1, LARGEST + 2)
    rows = np.bincount(size, profile.rows, minlength=LARGEST + 3)
    times = np.rint(rows / np.maximum(np.arange(len(rows)), 1)).astype(np.int64)
    k = odd_occurrence(times, profile.n)
    if k is None:
        return ()
    told = f"{several(int(times[k]), 'explanation was', 'explanations were')} given to exactly {k} rows"
    beside = f"{times[k - 1]:,} to {k - 1} and {times[k + 1]:,} to {k + 1}"
    unlike = f"independent rows and an explainer fixed beforehand do not give this, so that {TOO_HIGH}"
    advice = "pass clusters= if cases repeat, or other rows if the explainer was fitted on these or chose them"
    return (Note(f"{told}, {beside}", "rows", ("pass clusters=", "pass --cluster"), f"{unlike}; {advice}"),)


def restatement_notes(counts: Counted) -> Notes:
    """A note if every explanation has one prediction, and every prediction one explanation.

    The prediction as its own explanation is of this kind, and so are the two leaves of a tree with one split. Nothing
    is told of numbers, nor of few rows.

    Examples
    --------
    >>> from faithscope import count
    >>> restatement_notes(count(["yes", "no"] * 20, [1, 0] * 20))[0].partition(",")[0]
    'each prediction has exactly one explanation'
    >>> restatement_notes(count(["yes", "no", "no"] * 20, [1, 0, 1] * 20))
    ()
    """
    if counts.agreement.of_numbers or counts.relation != Same():
        return ()
    profile = counts.profile()
    predicted = np.count_nonzero(profile.label_rows)
    if profile.distinct != predicted or profile.modal != profile.n or not _are_enough(profile.label_rows):
        return ()
    so = f"so these explanations say no more than the prediction itself; {NO_MERIT}"
    check = "check that they are reasons, not its other name"
    return (Note(f"each prediction has exactly one explanation, {so}: {check}", "restates"),)


def _are_enough(label_rows: Ints) -> bool:
    """Whether rows of several predictions are so many that what they share is no accident."""
    most = np.sort(label_rows)[::-1]
    return len(most) > 1 and int(most.sum()) >= _FEWEST_ROWS and int(most[1]) >= _FEWEST_OF_SECOND


def given_code_notes(sample: Sample) -> Notes:
    """A note if all rows with a code are of one prediction, and all others of other ones."""
    if not isinstance(sample.explanations, Codes) or sample.agreement.of_numbers:
        return ()
    names, numbers = sample.numbered_labels
    has_code = np.fromiter(map(len, sample.explanations.values), np.int64, len(numbers)) > 0
    given, left = ({str(names[j]) for j in np.unique(numbers[has]).tolist()} for has in (has_code, ~has_code))
    if len(given) != 1 or not left or given & left:
        return ()
    whom = f"all rows predicted {visible(*given)} have codes and no other row has one; {NO_MERIT}"
    return (Note(f"{whom}: log the codes of every decision, whatever it was, to check them", "restates"),)


def copy_notes(sample: Sample) -> Notes:
    """A note per column that rules test and that has one value per prediction.

    Columns are compared with the predictions of 1,000 rows first, and those that pass with all of them.
    """
    rules = sample.explanations
    if sample.agreement.of_numbers or sample.X is None or not isinstance(rules, Rules):
        return ()
    labels = sample.numbered_labels[1]
    if not _are_enough(np.bincount(labels)):
        return ()
    rows, few, notes = Rows(sample.X), slice(_PROBED), []
    tested, different = rules_by_feature(rules)
    for feature, times in tested.items():
        place = rows.place(feature, "rules test") if rows.named else rules.features.index(feature)
        column = rows.column(place).values
        if _one_to_one(column[few], labels[few]) and _one_to_one(column, labels):
            test = f"rules that test it ({times:,} of {different:,}) {RESTATE} it is a copy of it"
            notes.append(Note(f"column {feature!r} has one value per prediction; {test}", "restates"))
    return tuple(notes)


def rules_by_feature(rules: Rules) -> tuple[dict[str, int], int]:
    """By feature, how many of the different rules test it; and how many different rules there are."""
    given: list[Any] = [rules.distinct[code] for code in np.unique(rules.codes)]
    tests = (condition.feature for conjunction in given for condition in conjunction if condition.position >= 0)
    return dict(Counter(tests)), len(given)


def _one_to_one(column: Array, labels: Ints) -> bool:
    """Whether rows have the same value, missing ones being one, if and only if they have the same label."""
    if column.dtype.kind == "O":
        column = column.copy()
        column[missing_values(column)] = _MISSING
        values = group([column])[0]
    else:
        values = np.unique(column, return_inverse=True)[1].reshape(-1)
    pairs = numbered_pairs(values, labels)[0]
    return len(np.unique(values)) == len(pairs) == len(np.unique(labels))


def asked_notes(coverage: Coverage) -> Notes:
    """What a reader should know of the pairs that a judge was asked about; nothing if all pairs were."""
    counts, asked = coverage.counts, coverage.asked
    if asked is None:
        return ()
    many, every = len(asked.row), asked.distinct * len(asked.codes)
    pairs = f"{many:,} of {every:,} pairs of an explanation and a row ({100 * many / every:.2g}%)"
    share = f"the judge was asked about {pairs}: assumes that these were drawn at random"
    denied = int((asked.own & ~coverage.own).sum())
    nowhere = int(((counts.per_explanation == 0) & (asked.per_explanation > 0)).sum())
    remarks = {
        f"the judge says that their own explanation does not apply to {several(denied, 'row', 'rows')} of "
        f"{int(asked.own.sum()):,} asked": denied,
        several(nowhere, "explanation applies", "explanations apply") + " to no row asked about": nowhere,
    }
    return (share, *(remark for remark, number in remarks.items() if number))
