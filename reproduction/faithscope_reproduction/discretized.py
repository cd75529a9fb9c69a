"""Explanations under the paper's discretizations: the measures and claims that Tables 5, 6 and 7 share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from math import hypot
from types import ModuleType
from typing import Any

from scipy.stats import norm

import faithscope as fs
from faithscope_reproduction.authors.literal_top import LiteralTop
from faithscope_reproduction.claims import by_interval, by_signs
from faithscope_reproduction.models.splits import NAMES
from faithscope_reproduction.printed import printed
from faithscope_reproduction.ranges import Draws, by_seed, ranged
from faithscope_reproduction.records import FAR, SETTINGS, Claim, Outcome, Record, Setting, record_of, total
from faithscope_reproduction.settings import Settings, Steps

AS_RUN = (
    "Models are scikit-learn's (for Covtype a stand-in that follows its rule), split by random_state=42 with a test "
    "size of .33 (Adult: as UCI splits it), and explainers learn from the test rows that they explain. Evidence: "
    "Table 1's 15,888 words give the seed away, the accuracies of Heart and Bank the share and the models, and the "
    "fnlwgt <= 116736 of Figure 2 is a quartile of the test rows. These settings, and n, were chosen by looking at the "
    "printed numbers, one choice for a whole table. Bank under LIME takes the settings chosen on Adult, though its n "
    "was judged by its own numbers too; the uniqueness of anchors in Table 1 was not looked at."
)


def on_six_data_sets(
    part: ModuleType,
    step: Callable[[str, Setting, Settings], Outcome],
    settings: Settings,
    draws: Mapping[str, Draws] | None = None,
) -> Outcome:
    """A part's records of every data set in both settings, and the claims about them.

    Numbers as run have a range over the draws of their data set; Heart's, of a hundred rows, over ten splits.
    """
    steps = Steps(settings, part)
    every = {"heart": by_seed(step, "heart", settings), **(draws or {})}
    outcome = total(
        steps.do(f"{name} {setting}", step, name, setting, settings) for name in NAMES for setting in SETTINGS
    )
    for name in [] if settings.dice else every:
        outcome = ranged(outcome, every[name], steps)
    tested = [claim for setting in SETTINGS for claim in claims(part.ID, setting, outcome.records)]
    return outcome + Outcome(claims=tuple(tested))


def importances(setting: Setting) -> dict[str, Any]:
    """The discretizations of importances, by the paper's names."""
    coarse: dict[str, Any] = {"sign": fs.Sign(), "rank": fs.Rank()}
    if setting == "as_defined":
        return {"original": None, "2-fp": fs.Floor(2), "1-fp": fs.Floor(1), **coarse, "sign-of-top-5": fs.SignOfTop(5)}
    return {"original": None, "2-fp": fs.Truncate(2), "1-fp": fs.Truncate(1), **coarse, "sign-of-top-5": LiteralTop(5)}


def measured(
    like: Record, given: Any, predictions: Any, discretizers: Mapping[str, Any], why: str = "unexplained"
) -> tuple[Record, ...]:
    """Consistency and uniqueness under each discretization.

    Parameters
    ----------
    like : Record
        Gives the table and the setting; its case is the data set.
    given : Explanations
    predictions : (n,) array
    discretizers : mapping of str to discretizer
        By the paper's names.
    why : str
        The note if ours differs from the printed number.
    """
    records: list[Record] = []
    for word, discretizer in discretizers.items():
        est = fs.consistency(given, predictions, discretizer=discretizer, interval="jackknife")
        # The printed tables show distinct explanations / n; the text defines the share of rows.
        unique = est.distinct / est.n if like.setting == "as_run" else est.unverifiable
        consistency, uniqueness = _beside(like, word)
        records += [noted(record_of(est, consistency), why), noted(replace(uniqueness, n=est.n, ours=unique), why)]
    return tuple(records)


def unmeasured(like: Record, discretizers: Mapping[str, Any], why: str) -> tuple[Record, ...]:
    """Records without a number of ours, and the reason."""
    return tuple(replace(record, note=why) for word in discretizers for record in _beside(like, word))


def _beside(like: Record, word: str) -> list[Record]:
    """Records of consistency and uniqueness, with the printed numbers alone."""
    case = f"{like.case} {word}"
    return [
        replace(
            like, case=case, measure=measure, printed=printed(like.table, measure, dataset=like.case, discretizer=word)
        )
        for measure in ("consistency", "uniqueness")
    ]


def noted(record: Record, why: str) -> Record:
    """The record, with a note if it is far from the printed number."""
    return replace(record, note=why) if record.off is not None and record.off > FAR else record


def claims(table: str, setting: Setting, records: Sequence[Record]) -> tuple[Claim, ...]:
    """The paper's claims about discretizations in general, tested on all data sets of a table."""
    values = _by_data_set(setting, records)
    first = {name: next(iter(words)) for name, words in values.items()}
    gains = [
        estimate[0] - words[first[name]][0]
        for name, words in values.items()
        for word, estimate in words.items()
        if word != first[name]
    ]
    return (
        by_signs(
            Claim(
                table,
                setting,
                words="every discretization raises the estimate above that of the explanations as they are",
                test="sign test over data sets and discretizations",
            ),
            gains,
        ),
        _depends(table, setting, values),
    )


def _by_data_set(setting: Setting, records: Sequence[Record]) -> dict[str, dict[str, tuple[float, float]]]:
    """Per data set and discretization: the estimate, and how far its interval reaches below it."""
    values: dict[str, dict[str, tuple[float, float]]] = {}
    for record in records:
        if (record.measure, record.setting) != ("consistency", setting) or record.printed is None:
            continue
        if record.ours is not None and record.low is not None:
            name, _, word = record.case.partition(" ")
            values.setdefault(name, {})[word] = (record.ours, record.ours - record.low)
    return values


def _depends(table: str, setting: Setting, values: Mapping[str, Mapping[str, tuple[float, float]]]) -> Claim:
    """Whether there are two data sets on each of which its own best discretization beats the other's."""
    best = {name: max(words, key=lambda word: words[word][0]) for name, words in values.items()}
    pairs = [(a, b) for a, b in permutations(values, 2) if a < b and best[a] != best[b]]
    wider = norm.ppf(1 - 0.025 / max(1, len(pairs))) / norm.ppf(0.975)  # Bonferroni's correction
    least = {
        (a, b): min(_ahead(values[a], best[a], best[b], wider), _ahead(values[b], best[b], best[a], wider))
        for a, b in pairs
    }
    test = "differences of estimates on two data sets, 95% intervals corrected for all pairs"
    words = "the best discretization depends on the data set"
    if not least:
        return by_interval(Claim(table, setting, words=words, test=test), -1.0, 0.0)
    (a, b), ahead = max(least.items(), key=lambda item: item[1])
    note = f"{a}: {best[a]}; {b}: {best[b]}"
    return by_interval(Claim(table, setting, words=words, test=test, note=note), ahead[0], ahead[1])


def _ahead(words: Mapping[str, tuple[float, float]], better: str, worse: str, wider: float) -> tuple[float, float]:
    """Interval of how far one discretization's estimate is ahead of another's."""
    gap = words[better][0] - words[worse][0]
    margin = wider * hypot(words[better][1], words[worse][1])
    return gap - margin, gap + margin
