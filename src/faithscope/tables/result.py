"""Audit: how faithful the explanations of a log are, and every question one can ask about it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from faithscope.discretizers.reasons.words import label_phrases
from faithscope.errors import BadInput, NotScoped
from faithscope.inputs.checks import check_whole, check_word
from faithscope.inputs.frames import frame
from faithscope.measures.comparing.populations import AMONG, BESIDE_REFERENCE, Populations
from faithscope.measures.counterexamples import counterexamples
from faithscope.measures.estimate import MEASURES, Estimate
from faithscope.measures.local import per_explanation
from faithscope.measures.slices import Slices, find_slices
from faithscope.report.reported import OfOneExplainer
from faithscope.sinks.card import in_lines
from faithscope.tables.measured_log import MeasuredLog
from faithscope.tables.reference import Reference
from faithscope.tables.scopes import encoding, read_rows, scoped_by
from faithscope.tables.sources.source import Names
from faithscope.tables.windows import Windows
from faithscope.tables.worst import Examples, apart, worst_counts
from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd

    from faithscope.measures.encoding import Encoding
    from faithscope.measures.leakage import Leakage
    from faithscope.report.result import Breakdown

_SHOWN = 100  # explanations whose rows are fetched to be shown


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
    _measured: MeasuredLog = field(repr=False, compare=False, kw_only=True)

    _written = (
        *(*MEASURES, "uniqueness", "name", "explainer", "discretizer", "agreement"),
        *("populations", "sufficiency_populations", "necessity_populations", "windows", "reference", "notes"),
    )

    def table(self, k: int | None = 100) -> "pd.DataFrame":
        """One line per explanation, the k worst first; all of them if k is None.

        Every row counts once. If rows are clustered, intervals take each cluster for a single draw, and
        ``consistency`` is that of rows of different clusters.
        """
        measured = self._measured
        with measured.asked():
            cells, clustered = measured.cells, None
            if cells is not None and cells.clusters is not None:
                clustered = cells.numbered.explanations.locate(cells.sample.explanations), cells.sample
            return frame(per_explanation(worst_counts(measured, k), self.consistency.confidence, k, clustered))

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
        with measured.asked():
            sample, counts = self._examples.sample, worst_counts(measured, _SHOWN)
        return counterexamples(counts, sample, k, None if measured.cells is None else apart(measured.cells))

    @property
    def X(self) -> "pd.DataFrame":  # noqa: N802
        """Rows of the worst explanations: ids first, then what is neither prediction nor explanation."""
        return frame({**self._examples.ids, **self._examples.others})

    @cached_property
    def _examples(self) -> Examples:
        return Examples.of(self._measured, _SHOWN)

    def by(
        self, columns: Names, measure: Literal["consistency", "sufficiency", "necessity"] = "consistency"
    ) -> Populations:
        """A measure for each value of a column, or of several crossed.

        Beside everybody, rows of the group ask and all rows answer; ``.among`` compares rows of one group alone.
        Sufficiency and necessity are those of rules and words.
        """
        names = self._measured.log.source.named(columns, "by")
        if check_word(measure, "measure", MEASURES) == "consistency":
            with self._measured.asked():
                return self._measured.by(names)
        if getattr(self, measure) is None:
            why = "; ".join(self.notes) or "its explanations do not say where they apply"
            raise NotScoped(f"This audit has no {measure}: {why}.")
        if self.sufficiency is not None and self.sufficiency.beyond_random is not None:
            raise NotScoped(
                f"An audit measures the {measure} of importances of all rows. By population ask the log: "
                f"fs.{measure}(fs.Log(...), relation=fs.Alike(), by=...)."
            )
        with self._measured.asked():
            return scoped_by(self._measured, names, [measure])[measure]

    def slices(self, *, most: int = 5, seed: int = 0) -> Slices:
        """Where explanations fail, found without being told where to look: `Evaluation.slices` of the rows of the log.

        Looked at are the log's columns besides prediction, explanation, clusters and ids. Rows are fetched, as
        many as fit.
        """
        measured = self._measured
        with measured.asked():
            rows = read_rows(measured.log)
        if not rows.columns.num_columns:
            raise BadInput("The log has no columns besides predictions, explanations and ids, so there are no slices.")
        sample = rows._replace(X=None).sample(measured.agreement)
        return find_slices(sample, rows.columns, most=most, confidence=self.consistency.confidence, seed=seed)

    def encoding(self) -> "Encoding":
        """Whether the choice of an explanation says more than the explanation: `fs.encoding` of the rows of the log.

        Explanations must be rules or words, and the log must hold the inputs that they speak of.
        """
        with self._measured.asked():
            return encoding(self._measured)

    def leakage(self, words: Sequence[str] | None = None) -> "Leakage":
        """How many reasons in words name a label, and their consistency with these words masked: `fs.leakage`.

        Parameters
        ----------
        words : list of str, optional
            Further words or phrases that name a label, besides those of the predictions.
        """
        with self._measured.asked():
            return self._measured.leakage(words)

    def _leakage(self) -> "Leakage | None":
        """The same for a report; None of other explanations, and if no word names a label."""
        reasons = self._measured.reasons
        if reasons is None or reasons.sample.agreement.of_numbers:
            return None
        return self.leakage() if label_phrases(reasons.sample.numbered_labels[0]) else None

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *map(in_lines, map(visible, self._remarks))])

    @property
    def _remarks(self) -> tuple[str, ...]:
        """How the measures differ from those of another log, in sentences, and the notes."""
        return (*(() if self.reference is None else self.reference.lines()), *self.notes)

    def _told_notes(self) -> "Iterable[str]":
        return (*super()._told_notes(), *self._remarks)

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
