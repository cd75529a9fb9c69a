"""Audit: how faithful the explanations of a log are, and every question one can ask about it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from faithscope.counting.counts import Counts
from faithscope.discretizers.reasons.words import label_phrases
from faithscope.errors import BadInput, NotScoped
from faithscope.inputs.array_types import Ints
from faithscope.inputs.checks import check_whole, check_word
from faithscope.inputs.frames import frame
from faithscope.measures.comparing.populations import AMONG, BESIDE_REFERENCE, Populations
from faithscope.measures.counterexamples import counterexamples, stranger_pairs
from faithscope.measures.estimate import MEASURES, Estimate
from faithscope.measures.local import per_explanation
from faithscope.measures.slices import Slices, find_slices
from faithscope.report.reported import OfOneExplainer
from faithscope.sample import Sample, number_labels
from faithscope.tables.audited import AuditedLog
from faithscope.tables.cells import Cells
from faithscope.tables.columns import CLUSTER, keys_of, predicted
from faithscope.tables.engines import Expression, Table, fetch
from faithscope.tables.reference import Reference
from faithscope.tables.scopes import encoding, read_rows, scoped_by
from faithscope.tables.source import Names
from faithscope.tables.windows import Windows
from faithscope.words import readable

if TYPE_CHECKING:
    import pandas as pd

    from faithscope.measures.encoding import Encoding
    from faithscope.measures.leakage import Leakage
    from faithscope.report.result import Breakdown

_SHOWN = 100  # explanations whose rows are fetched to be shown
_EXAMPLES = 50  # rows of each label of an explanation that are fetched to be shown
_COLUMNS = 6  # of a row that has no id
_CHARACTERS = 40  # of a cell
_COUNTER = re.compile(r"(?i)^(unnamed: \d+|index|(.*[\W_])?id)$")  # what numbers rows, if nobody named an id


class Examples(NamedTuple):
    """Some rows of each label of the worst explanations, to be shown, with the columns that name them.

    Attributes
    ----------
    sample : Sample
        Its X is what says how near two rows are: `others`.
    ids : dict of columns
        Those that identify rows; empty if none do.
    others : dict of columns
        Every other column that can be shown and is neither prediction nor explanation.
    """

    sample: Sample
    ids: dict[str, list[Any]]
    others: dict[str, list[Any]]

    @classmethod
    def of(cls, measured: AuditedLog) -> "Examples":
        """Rows of the worst explanations; of numbers, those of the pairs that are farthest apart."""
        found = read_rows(measured, answered=lambda rows: _some_rows(measured, rows))
        ids, others = found.ids.to_pydict(), found.columns.to_pydict()
        for name in [name for name in others if _COUNTER.search(name)]:
            if len(set(others[name])) == len(found.predictions):
                ids[name] = others.pop(name)
        compared = found.columns.select(list(others)) if others else None
        clusters = None if found.clusters is None else number_labels(found.clusters)[1]
        labels, agreement = found.predictions, measured.options.agreement
        return cls(Sample(found.explanations, labels, compared, clusters=clusters, agreement=agreement), ids, others)

    def name(self, row: int) -> str:
        """A row by its ids, else by the first of its own columns."""
        cells = self.ids or dict(list(self.others.items())[:_COLUMNS])
        text = ", ".join(f"{_short(name)} {_short(column[row])}" for name, column in cells.items())
        more = 0 if self.ids else len(self.others) - len(cells)
        return (text + (f", … ({more} more)" if more else "")) or "a row without other columns"

    def names(self, pairs: dict[str, Any]) -> dict[str, list[str]]:
        """The names of the rows of pairs, which are given by position, as the columns `index_a` and `index_b`."""
        return {f"index_{side}": list(map(self.name, pairs[f"row_{side}"].tolist())) for side in "ab"}

    def without_positions(self, pairs: dict[str, Any]) -> dict[str, Any]:
        """Pairs of rows by name in place of their positions: ids first, then `index_a` and `index_b` to read."""
        named: dict[str, Any] = {}
        for name, column in self.ids.items():
            for side in "ab":
                named[f"{name}_{side}"] = [column[row] for row in pairs[f"row_{side}"].tolist()]
        others = {name: column for name, column in pairs.items() if not name.startswith("row_")}
        return {**named, **self.names(pairs), **others, **named}


def _short(value: Any) -> str:
    text = " ".join(readable(value).split())
    return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…"


@dataclass(frozen=True, repr=False)
class Audit(OfOneExplainer):
    """How faithful the explanations in a log are to its predictions.

    Attributes
    ----------
    consistency : Estimate
        Same explanation, same prediction?
    sufficiency : Estimate or None
        Wherever the explanation applies, same prediction? None if explanations do not say where they apply, or if
        the log does not hold the inputs they speak of; then `notes` say so.
    necessity : Estimate or None
        Of the rows with a row's prediction, how many does its explanation cover? None as for `sufficiency`, and for
        `Spread`. No verdict is made of it.
    name : str
        The log.
    explainer, discretizer : str
        What the explanations are, and what made them coarser.
    populations, sufficiency_populations, necessity_populations : Populations or None
        Consistency by the columns that were asked for; sufficiency and necessity, if explanations are rules or words
        and all rows have them.
    windows : Windows or None
        Over time, if that was asked for.
    reference : Reference or None
        How it differs from another log, if that was asked for.
    notes : tuple of str
        Which rows were left out, how the explanation was read, what could not be measured, and why.

    Examples
    --------
    >>> import pandas as pd, faithscope as fs
    >>> log = pd.DataFrame({"leaf": [1, 1, 1, 2, 2, 2], "yhat": ["yes", "yes", "no", "no", "no", "no"]})
    >>> audited = fs.audit(log, prediction="yhat", explanation="leaf")
    >>> audited.table(1).explanation.tolist(), audited.uniqueness
    (['1'], 0.0)
    """

    consistency: Estimate
    sufficiency: Estimate | None
    name: str
    explainer: str
    discretizer: str
    populations: Populations | None = None
    sufficiency_populations: Populations | None = None
    necessity_populations: Populations | None = None
    windows: Windows | None = None
    reference: Reference | None = None
    notes: tuple[str, ...] = ()
    necessity: Estimate | None = None
    _measured: AuditedLog = field(repr=False, compare=False, kw_only=True)

    _written = (
        *(*MEASURES, "uniqueness", "name", "explainer", "discretizer", "agreement"),
        *("populations", "sufficiency_populations", "necessity_populations", "windows", "reference", "notes"),
    )

    def table(self, k: int | None = 100) -> "pd.DataFrame":
        """One line per explanation, the k worst first; all of them if k is None.

        Every row counts once. If rows are clustered, intervals take each cluster for a single draw, and
        ``consistency`` is that of rows of different clusters.
        """
        measured, clustered = self._measured, None
        with measured.source.one_state():
            counts = _counts(measured, k)
            if measured.clusters:
                cells = measured.everything
                clustered = np.repeat(cells.codes, cells.given), cells.sample
            return frame(per_explanation(counts, self.consistency.confidence, k, clustered))

    def counterexamples(self, k: int = 10) -> "pd.DataFrame":
        """Pairs of rows, same explanation, different prediction: worst explanations first, nearest rows first.

        Of numbers, the rows that are farthest apart come first: those with the lowest and the highest prediction.
        If rows are clustered, both rows of a pair are of different clusters; of numbers, the worst explanations and
        their ``disagreement`` are those of all rows.

        A log has no row numbers. The columns that ``id=`` named stand first, as ``<column>_a`` and ``<column>_b``;
        ``index_a`` and ``index_b`` name rows by them, or else by the first of the rows' own columns. The nearest are
        sought among a few rows of each label; ids do not count in the distance.
        """
        pairs = self._pairs(k)
        return frame(self._examples.without_positions(pairs))

    def _counterexamples(self, k: int) -> "pd.DataFrame":
        """The same with rows as positions in `X` too, for a report that shows them side by side."""
        pairs = self._pairs(k)
        return frame({**pairs, **self._examples.names(pairs)})

    def _pairs(self, k: int) -> dict[str, Any]:
        if check_whole(k, "k, the number of pairs wanted,") > _SHOWN:
            raise BadInput(f"An audit shows at most {_SHOWN} pairs of rows; got k={k}: ask for fewer.")
        measured = self._measured
        with measured.source.one_state():
            sample, counts = self._examples.sample, _counts(measured, _SHOWN)
        return counterexamples(counts, sample, k, None if measured.cells is None else _apart(measured.cells))

    @property
    def X(self) -> "pd.DataFrame":  # noqa: N802
        """Rows of the worst explanations: ids first, then what is neither prediction nor explanation."""
        return frame({**self._examples.ids, **self._examples.others})

    @cached_property
    def _examples(self) -> Examples:
        return Examples.of(self._measured)

    def by(
        self, columns: Names, measure: Literal["consistency", "sufficiency", "necessity"] = "consistency"
    ) -> Populations:
        """A measure for each value of a column, or of several crossed.

        Beside everybody, rows of the group ask and all rows answer; ``.among`` compares rows of one group alone.
        Sufficiency and necessity are those of rules and words.
        """
        names = self._measured.source.named(columns, "by")
        if check_word(measure, "measure", MEASURES) == "consistency":
            with self._measured.source.one_state():
                return self._measured.by(names)
        if getattr(self, measure) is None:
            why = "; ".join(self.notes) or "its explanations do not say where they apply"
            raise NotScoped(f"This audit has no {measure}: {why}.")
        if self.sufficiency is not None and self.sufficiency.beyond_random is not None:
            raise NotScoped(
                f"An audit measures the {measure} of importances of all rows. By population ask the log: "
                f"fs.{measure}(fs.Log(...), relation=fs.Alike(), by=...)."
            )
        with self._measured.source.one_state():
            return scoped_by(self._measured, names, [measure])[measure]

    def slices(self, *, most: int = 5, seed: int = 0) -> Slices:
        """Where explanations fail, found without being told where to look: `Evaluation.slices` of the rows of the log.

        Looked at are the log's columns besides prediction, explanation, clusters and ids. Rows are fetched, as
        many as fit.
        """
        measured = self._measured
        with measured.source.one_state():
            rows = read_rows(measured)
        if not rows.columns.num_columns:
            raise BadInput("The log has no columns besides predictions, explanations and ids, so there are no slices.")
        sample = rows._replace(X=None).sample(measured.options.agreement)
        return find_slices(sample, rows.columns, most=most, confidence=self.consistency.confidence, seed=seed)

    def encoding(self) -> "Encoding":
        """Whether the choice of an explanation says more than the explanation: `fs.encoding` of the rows of the log.

        Explanations must be rules or words, and the log must hold the inputs that they speak of.
        """
        with self._measured.source.one_state():
            return encoding(self._measured)

    def leakage(self, words: Sequence[str] | None = None) -> "Leakage":
        """How many reasons in words name a label, and their consistency with these words masked: `fs.leakage`.

        Parameters
        ----------
        words : list of str, optional
            Further words or phrases that name a label, besides those of the predictions.
        """
        with self._measured.source.one_state():
            return self._measured.leakage(words)

    def _leakage(self) -> "Leakage | None":
        """The same for a report; None of other explanations, and if no word names a label."""
        reasons = self._measured.reasons
        if reasons is None or reasons.sample.agreement.of_numbers:
            return None
        return self.leakage() if label_phrases(reasons.sample.numbered_labels[0]) else None

    @property
    def _remarks(self) -> tuple[str, ...]:
        """How the measures differ from those of another log, in sentences, and the notes."""
        return (*(() if self.reference is None else self.reference.lines()), *self.notes)

    def _breakdowns(self) -> "list[Breakdown]":
        from faithscope.report.result import Breakdown

        breakdowns = super()._breakdowns()
        for windows in () if self.windows is None else (self.windows, self.windows.among):
            if windows is not None:
                by = f"windows of {windows.every}"
                breakdowns.append(Breakdown(by, windows.estimates, windows.compared, windows.whom))
        if self.windows is not None and self.windows.by is not None:
            breakdowns += Breakdown.of(self.windows.by)[:1]
        if self.reference is not None:
            breakdowns += self._of_logs(self.reference)
        return breakdowns

    def _of_logs(self, reference: Reference) -> "list[Breakdown]":
        """The log and its reference, each measure: beside the reference if it is known, and then among themselves."""
        from faithscope.report.result import Breakdown

        told: list[Breakdown] = []
        for measure, their in reference.estimates.items():
            name, beside = reference.name, reference.beside if measure == "consistency" else None
            if beside is not None:
                logs = {self.name: beside, name: their}
                told.append(Breakdown("log", logs, compared=BESIDE_REFERENCE, apart=reference._apart))
            logs = {self.name: reference.audited[measure], name: their}
            told.append(Breakdown("log", logs, compared="" if beside is None else AMONG))
        return told

    def _row_pairs(self, measure: str, k: int) -> list[dict[str, Any]]:
        """The same; none for sufficiency."""
        return self._counterexamples(k).to_dict("records") if measure == "consistency" else []


def _counts(measured: AuditedLog, k: int | None) -> Counts:
    """Counts of the k worst explanations; of all without k, and if all are in memory."""
    if measured.cells is not None or k is None:
        return measured.everything.counts
    rows = measured.rows()
    return measured.fetched(_among(rows, _worst(rows, k), keys_of(rows.columns))).counts


def _apart(cells: Cells) -> Ints:
    """For each explanation, how many pairs of rows of different clusters get different predictions."""
    return stranger_pairs(cells.numbered, cells.sample, np.repeat(cells.codes, cells.given))


def _worst(rows: Table, k: int) -> Table:
    """The keys of the k explanations with most disagreeing pairs of rows, then most rows, as an expression."""
    import ibis

    keys = keys_of(rows.columns)
    table = rows.group_by([*keys, "label"]).aggregate(given=rows.count())
    given = table["given"]
    pairs = given.sum() * given.sum() - (given * given).sum()
    ranked = table.group_by(keys).aggregate(rows=given.sum(), disagreeing=pairs)
    return ranked.order_by([ibis.desc("disagreeing"), ibis.desc("rows"), *keys]).limit(check_whole(k, "k"))


def _among(table: Table, chosen: Table, keys: Sequence[str]) -> Table:
    """The rows of a table whose keys are among the chosen ones, missing values included."""
    return table.semi_join(chosen, [table[key].identical_to(chosen[key]) for key in keys])


def _some_rows(measured: AuditedLog, rows: Table) -> Any:
    """A few rows of each label of the worst explanations; of numbers, one of each number and cluster of far pairs."""
    import ibis

    cells, numbers = measured.cells, measured.options.agreement.of_numbers
    kind = [*keys_of(rows.columns), *predicted(rows.columns)]
    told = kind if numbers else keys_of(rows.columns)
    if cells is None:
        worst = _worst(rows, _SHOWN)
    else:
        if numbers:
            pairs = counterexamples(cells.numbered, cells.sample, _SHOWN)
            either = np.concatenate([pairs["row_a"], pairs["row_b"]])
            chosen = np.unique(np.repeat(np.arange(len(cells.given)), cells.given)[either])
        else:
            chosen = np.flatnonzero(np.isin(cells.codes, np.argsort(-_apart(cells), kind="stable")[:_SHOWN]))
        worst = ibis.memtable(cells.lines.take(chosen).select(told))

    def place(kind: list[str], order: list[str]) -> Expression:
        return ibis.row_number().over(ibis.window(group_by=kind, order_by=order))

    columns = [name for name in rows.columns if name[0] in "xi"]  # those that are shown
    whose = [CLUSTER] if measured.clusters else []
    # A row of each cluster comes before any cluster's second.
    table = _among(rows, worst, told).mutate(turn=place([*kind, *whose], columns or kind))
    table = table.mutate(number=place(kind, ["turn", *columns]))
    table = table.filter(table["turn"] == 0 if numbers else table["number"] < _EXAMPLES)
    table = table.order_by([*kind, *(whose if numbers else ()), "number"])
    return fetch(table.mutate(**{name: table[name].cast("string") for name in whose}))
