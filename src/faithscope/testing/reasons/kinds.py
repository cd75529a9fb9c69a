"""All kinds of rows of a planted system, each with its probability: an applicant, a decision and a reason."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.testing.reasons.wordings import FACTORS, Fact, wording

if TYPE_CHECKING:
    from faithscope.testing.reasons.system import ReasonSystem

GOOD = {"payments": 0.7, "debt": 0.5, "income": 0.5}  # the chance that a factor speaks for the loan
ONLINE = 0.3  # share of applicants who apply online

Facts = tuple[Fact, ...]


class Applicant(NamedTuple):
    """What a decision may depend on: three factors that reasons name, and two that they never name."""

    payments: bool
    debt: bool
    income: bool
    north: bool
    online: bool

    def has(self, facts: Facts) -> bool:
        """Whether facts are true of this applicant."""
        return all(getattr(self, factor) == good for factor, good in facts)


class Kind(NamedTuple):
    """One kind of row; label 0 is approved, 1 is denied."""

    p: float
    applicant: Applicant
    label: int
    facts: Facts
    voice: int
    closing: bool


@dataclass(frozen=True, eq=False)
class ReasonKinds:
    """All kinds of rows that a system can draw.

    Attributes
    ----------
    p : (k,) array
        The probability of each, which add up to 1.
    labels : (k,) array of int
    texts : tuple of str
        The reason of each, with fields for details.
    """

    kinds: tuple[Kind, ...]
    p: NDArray[np.float64]
    labels: NDArray[np.int64]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, system: "ReasonSystem") -> "ReasonKinds":
        """Enumerate applicants, decisions, what reasons say, and how they say it."""
        kinds = tuple(kind for kind in _enumerate(system) if kind.p > 0)
        p = np.array([kind.p for kind in kinds])
        texts = tuple(
            wording(
                system.says, kind.facts, kind.voice, detailed=system.details, closing=kind.closing, label=kind.label
            )
            for kind in kinds
        )
        return cls(kinds, p / p.sum(), np.array([kind.label for kind in kinds]), texts)


def policy(applicant: Applicant) -> Facts:
    """The facts that decide by the stated policy: no missed payments, and low debts or a high income."""
    if not applicant.payments:
        return (("payments", False),)
    if applicant.debt:
        return (("payments", True), ("debt", True))
    return (("payments", True), ("income", True)) if applicant.income else (("debt", False), ("income", False))


def approves(applicant: Applicant) -> bool:
    """What the stated policy decides."""
    return applicant.payments and (applicant.debt or applicant.income)


_STATED = (  # all that the policy ever states
    (("payments", False),),
    (("payments", True), ("debt", True)),
    (("payments", True), ("income", True)),
    (("debt", False), ("income", False)),
)


def suiting(applicant: Applicant, approved: bool) -> Facts:
    """Facts that speak for a decision, whatever it was made by; an untrue one about debts if there are none."""
    if approves(applicant) == approved:
        return policy(applicant)
    true = tuple((factor, approved) for factor in FACTORS if getattr(applicant, factor) == approved)
    return true or (("debt", approved),)


def _enumerate(system: "ReasonSystem") -> Iterator[Kind]:
    for levels in product((True, False), repeat=len(Applicant._fields)):
        applicant = Applicant(*levels)
        yes = _approved(system, applicant)
        for label, chance in enumerate((yes, 1 - yes)):
            decided = _probability(system, applicant) * chance
            for (facts, a), (voice, b), (closing, c) in product(
                _said(system, applicant, label), _voices(system, label), _closings(system)
            ):
                yield Kind(decided * a * b * c, applicant, label, facts, voice, closing)


def _probability(system: "ReasonSystem", applicant: Applicant) -> float:
    """Factors are independent, but that some live north exactly if their payments are in order."""
    p = ONLINE if applicant.online else 1 - ONLINE
    for factor, good in GOOD.items():
        p *= good if getattr(applicant, factor) else 1 - good
    return p * ((1 - system.tied) / 2 + system.tied * (applicant.north == applicant.payments))


def _approved(system: "ReasonSystem", applicant: Applicant) -> float:
    """The chance of approval: by the shortcut, by the policy, or by a coin."""
    shortcut = system.shortcut if applicant.online or not system.online_only else 0.0
    decided = shortcut * applicant.north + (1 - shortcut) * approves(applicant)
    return (1 - system.noise) * decided + system.noise / 2


def _said(system: "ReasonSystem", applicant: Applicant, label: int) -> Sequence[tuple[Facts, float]]:
    """The facts that reasons state, each with its chance."""
    if system.says == "policy":
        return [(policy(applicant), 1.0)]
    if system.says == "decision":
        return [(suiting(applicant, label == 0), 1.0)]
    if system.says != "chance":
        return [((), 1.0)]
    return [(facts, 1 / len(_STATED)) for facts in _STATED]


def _voices(system: "ReasonSystem", label: int) -> list[tuple[int, float]]:
    """The wordings with their chances: even ones for approvals, odd ones for denials, as far as the style tells."""
    voices = range(system.wordings)
    own = [voice for voice in voices if voice % 2 == label]
    told = {voice: system.style / len(own) for voice in own} if system.style else {}
    return [(voice, (1 - system.style) / system.wordings + told.get(voice, 0.0)) for voice in voices]


def _closings(system: "ReasonSystem") -> list[tuple[bool, float]]:
    return [(True, system.names_label), (False, 1 - system.names_label)]
