"""What is true of a planted system: every measure in its population."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from faithscope.testing.reasons.kinds import Facts, Kind, ReasonKinds
from faithscope.testing.reasons.wordings import LABELS, blanked

if TYPE_CHECKING:
    from faithscope.testing.reasons.system import ReasonSystem


@dataclass(frozen=True)
class ReasonTruth:
    """The measures of a `ReasonSystem` in its population, exactly.

    Attributes
    ----------
    codebook, text, template : float
        Consistency by the system's own codebook, of the reasons as compared (folded), and by `Template`.
    masked_codebook, masked_text : float
        The same with words of labels masked, as `leakage` measures them.
    named : float
        Share of reasons that name a label.
    sufficiency, necessity : float
        Of the rules that state the same facts as the reasons.
    chance : float
        Consistency of explanations that mean nothing: that two rows share a prediction.

    Examples
    --------
    >>> from faithscope.testing import ReasonSystem
    >>> truth = ReasonSystem(shortcut=1.0).truth
    >>> round(truth.codebook, 3), round(truth.chance, 3)
    (0.5, 0.5)
    """

    codebook: float
    text: float
    template: float
    masked_codebook: float
    masked_text: float
    named: float
    sufficiency: float
    necessity: float
    chance: float


def measured(system: "ReasonSystem", kinds: ReasonKinds) -> ReasonTruth:
    """All measures of the population."""
    sufficiency, necessity = _of_rules(kinds)
    return ReasonTruth(
        codebook=consistency(kinds, (_codes(system, kind) for kind in kinds.kinds)),
        text=consistency(kinds, _told(system, kinds, kinds.texts)),
        template=consistency(kinds, map(blanked, kinds.texts)),
        masked_codebook=consistency(kinds, (frozenset(kind.facts) for kind in kinds.kinds)),
        masked_text=consistency(kinds, _told(system, kinds, map(_without_labels, kinds.texts))),
        named=1.0 if system.says == "answer" else system.names_label,
        sufficiency=sufficiency,
        necessity=necessity,
        chance=consistency(kinds, ("" for _ in kinds.kinds)),
    )


def consistency(kinds: ReasonKinds, keys: Iterable[Hashable]) -> float:
    """The chance that two rows with the same key share a label."""
    places: dict[Hashable, int] = {}
    place = np.array([places.setdefault(key, len(places)) for key in keys])
    joint = np.zeros((len(places), 2))
    np.add.at(joint, (place, kinds.labels), kinds.p)
    return float(np.sum(joint**2 / joint.sum(axis=1, keepdims=True)))


def _codes(system: "ReasonSystem", kind: Kind) -> Hashable:
    """What the codebook makes of a reason: the facts that it states, or the answer that it copies."""
    return kind.label if system.says == "answer" else frozenset(kind.facts)


def _told(system: "ReasonSystem", kinds: ReasonKinds, texts: Iterable[str]) -> Iterator[Hashable]:
    """What a text tells of a decision: its wording, and by its numbers which of the facts are true.

    Names and numbers tell nothing else, since they are drawn independently of decisions.
    """
    for kind, text in zip(kinds.kinds, texts, strict=True):
        yield (text, *(kind.applicant.has((fact,)) for fact in kind.facts if system.details))


def _without_labels(text: str) -> str:
    for label in LABELS:
        text = text.lower().replace(label, "<label>")
    return text


def _of_rules(kinds: ReasonKinds) -> tuple[float, float]:
    """Sufficiency and necessity of the rules, by what each covers."""
    sufficiency = necessity = 0.0
    given: dict[Facts, NDArray[np.float64]] = {}
    for kind, p in zip(kinds.kinds, kinds.p, strict=True):
        given.setdefault(kind.facts, np.zeros(2))[kind.label] += p
    everybody = np.bincount(kinds.labels, kinds.p, 2)
    applicants = [kind.applicant for kind in kinds.kinds]
    for facts, masses in given.items():
        inside = np.array([applicant.has(facts) for applicant in applicants])
        covered = np.bincount(kinds.labels, kinds.p * inside, 2)
        sufficiency += float(masses @ covered / covered.sum())
        necessity += float(masses @ (covered / everybody))
    return sufficiency, necessity
