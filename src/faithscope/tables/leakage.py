"""Leakage of a log: reasons that name a label, counted where the rows are."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Agreement
from faithscope.errors import WrongType
from faithscope.explanations.keys import Plain
from faithscope.measures.consistency import measure_consistency
from faithscope.measures.intervals.margins import IndependentUnits
from faithscope.measures.leakage import (
    NO_REASONS,
    Leakage,
    assembled,
    further_words,
    masked_difference,
    refuse_no_words,
)
from faithscope.sample import Sample
from faithscope.tables.engine.answers import fetch, in_fixed_order, numbers_of
from faithscope.tables.measured_log import MeasuredLog


def leakage(measured: MeasuredLog, words: Sequence[str] | None) -> Leakage:
    """How many reasons of a log name a label, and their consistency with these words masked."""
    if measured.reasons is None:
        raise WrongType(
            NO_REASONS.format(f"{measured.log.kind.what} of a log").replace(
                "pass", "audit it with kind='reasons', or pass"
            )
        )
    further = tuple(further_words(words))
    if further:
        options = replace(measured.log.options, words=further)
        measured = MeasuredLog.of(measured.opened, options)
    assert measured.reasons is not None
    refuse_no_words(measured.reasons.words)
    named, given, hidden, options = measured.named_labels, measured.consistency, measured.masked, measured.log.options
    naming, parts = _samples(fetch(measured.log.paired_keys()), options.agreement)
    before, after = (measure_consistency(part, options.confidence, options.interval) for part in parts)
    difference, units = masked_difference(before, after, parts, options.confidence), IndependentUnits.of(parts[0])
    return assembled(naming, named.own / named.n, units, given, hidden, difference, named.words)


def _samples(answer: Any, agreement: Agreement) -> tuple[NDArray[np.bool_], list[Sample]]:
    """Which rows name a label; the rows as given and masked, with numbers in place of texts, labels and clusters."""
    answer = in_fixed_order(answer)
    given = numbers_of(answer, "given")
    outputs = [name for name in answer.column_names if name.startswith("y")]
    columns = {
        name: np.repeat(answer.column(name).to_numpy(), given) for name in answer.column_names if name != "given"
    }
    numbers = np.column_stack([columns[name] for name in outputs]).astype(np.float64) if outputs else None
    labels = columns["label"] if numbers is None else numbers[:, 0] if numbers.shape[1] == 1 else numbers
    clusters = columns.get("cluster")
    keys = (Plain(columns[name].astype(np.int64)) for name in ("key", "hidden"))
    naming = columns["naming"].astype(bool)
    return naming, [Sample(key, labels, clusters=clusters, agreement=agreement) for key in keys]
