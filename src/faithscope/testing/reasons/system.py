"""Planted systems: applicants for a loan, decisions, and reasons in words whose faithfulness is known."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from faithscope.discretizers import Discretize, discretize
from faithscope.discretizers.reasons.codebook import Codebook
from faithscope.errors import BadInput
from faithscope.explanations.reasons import Reasons
from faithscope.inputs.checks import check_flag, check_whole, check_word, is_real
from faithscope.testing.reasons.kinds import ReasonKinds
from faithscope.testing.reasons.rows import ReasonedRows, drawn
from faithscope.testing.reasons.truth import ReasonTruth, consistency, measured
from faithscope.testing.reasons.wordings import CLAUSES, LABELS, WORDINGS, cues

Says = Literal["policy", "decision", "answer", "hint", "chance"]


@dataclass(frozen=True)
class ReasonSystem:
    """Who decides on loans and gives reasons in words, with known truth.

    The stated policy approves applicants who missed no more than 2 payments, if their debts are low or their income is
    high. A planted shortcut approves whoever lives north of the river, which no reason ever names.

    Parameters
    ----------
    says : {"policy", "decision", "answer", "hint", "chance"}
        What reasons state: the facts by which the policy decides; facts that suit the decision, however it was made,
        true ones if there are any; the answer itself; the answer in other words; the facts of somebody else.
    shortcut : float
        Share of decisions that follow the shortcut, from 0 to 1.
    tied : float
        Share of applicants who live north of the river exactly if they paid on time; the others live anywhere.
    online_only : bool
        Whether the shortcut is used for applicants who apply online alone, 30% of all.
    noise : float
        Share of decisions that a coin makes.
    wordings : int
        In how many wordings each reason is given, from 1 to 8.
    details : bool
        Whether reasons name the applicant and his numbers, so that hardly two texts are equal.
    style : float
        Share of reasons whose wording is chosen by the decision: one half of the wordings for each.
    names_label : float
        Share of reasons that end with the decision.

    Examples
    --------
    >>> import faithscope as fs
    >>> from faithscope.testing import ReasonSystem
    >>> system = ReasonSystem(shortcut=0.4, wordings=8, details=True)
    >>> rows = system.draw(1000, seed=0)
    >>> rows.reasons.texts[0]
    'Rosa Ruiz: Put simply, what is owed elsewhere is a lot, 51% and what comes in is scarce, 19,400.'
    >>> estimate = fs.consistency(rows.reasons, rows.predictions, discretizer=system.codebook)
    >>> round(system.truth.codebook, 3), estimate.low <= system.truth.codebook <= estimate.high
    (0.68, True)
    """

    says: Says = "policy"
    shortcut: float = 0.0
    tied: float = 0.0
    online_only: bool = False
    noise: float = 0.0
    wordings: int = 1
    details: bool = False
    style: float = 0.0
    names_label: float = 0.0

    def __post_init__(self) -> None:
        check_word(self.says, "says", get_args(Says))
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is float and not (is_real(value) and 0 <= value <= 1):
                raise BadInput(f"{field.name} must be a number from 0 to 1; got {value!r}.")
            if field.type is bool:
                check_flag(value, field.name)
        if check_whole(self.wordings, "wordings", 1, WORDINGS) == 1 and self.style:
            raise BadInput("A style takes several wordings to choose from: pass wordings=8.")

    @cached_property
    def _kinds(self) -> ReasonKinds:
        """All kinds of rows, each with its probability."""
        return ReasonKinds.of(self)

    @cached_property
    def _listed(self) -> Reasons:
        """The reason of each kind of row, if reasons have no details."""
        return Reasons(list(self._kinds.texts))

    @cached_property
    def truth(self) -> ReasonTruth:
        """The measures in the population, exactly."""
        return measured(self, self._kinds)

    @cached_property
    def codebook(self) -> Codebook:
        """The codebook that finds the facts in all wordings; of reasons that copy the answer, the answer too."""
        facts = {f"{factor} {'for' if good else 'against'}": cues((factor, good)) for factor, good in CLAUSES}
        answers = {label: rf"\b{label}\b" for label in LABELS} if self.says == "answer" else {}
        return Codebook(facts | answers)

    def consistency_by(self, discretizer: Discretize | None) -> float:
        """The true consistency by a discretizer of reasons that looks at one text at a time.

        Parameters
        ----------
        discretizer : discretizer, its word, or None
            Such as phrases that were learned elsewhere. None: the texts as they are compared.

        Examples
        --------
        >>> import faithscope as fs
        >>> from faithscope.testing import ReasonSystem
        >>> round(ReasonSystem(shortcut=1.0).consistency_by(fs.Phrases(["missed"])), 3)
        0.5
        """
        if self.details:
            raise BadInput("Texts with details are too many to list: ask a system with details=False.")
        codes, _ = discretize(self._listed, discretizer).group()
        return consistency(self._kinds, codes.tolist())

    def draw(self, n: int, seed: int = 0) -> ReasonedRows:
        """Independent rows: applicants, decisions, reasons in words, and rules that state the same.

        Parameters
        ----------
        n : int
            How many, up to a million.
        seed : int
            Of the draws.

        Returns
        -------
        ReasonedRows

        Examples
        --------
        >>> from faithscope.testing import ReasonSystem
        >>> rows = ReasonSystem("answer").draw(3)
        >>> rows.predictions.tolist(), rows.reasons.texts[0]
        (['denied', 'approved', 'approved'], 'This is denied, as requests of this kind are denied.')
        """
        rng = np.random.default_rng(check_whole(seed, "seed", 0))
        return drawn(self, check_whole(n, "n", 1, 1_000_000), rng)
