"""Two explainers on the same rows: how often they say the same, and how far they name the same features."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import Incompatible
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.keys import Plain
from faithscope.explanations.rules import Rules
from faithscope.measures.explainer_agreement.beyond_chance import GivenWeights, beyond_chance
from faithscope.measures.explainer_agreement.granularity import ComparedExplainer
from faithscope.measures.explainer_agreement.named_features import NamedFeatures
from faithscope.measures.explainer_agreement.overlap import OVERLAPS, Overlap, overlap
from faithscope.measures.explainer_agreement.shares import CountedRows, Floats, Ints, Share

MEASURES = ("same", "kappa", *OVERLAPS)
_KEYS = "keys were compared as they are: make sure that equal keys mean the same in both"


@dataclass(frozen=True)
class PairAgreement:
    """How far two explainers agree; what cannot be told is None, and `notes` say why.

    Attributes
    ----------
    a, b : str
        The names of the explainers.
    same : Share or None
        Share of rows on which both say the same, with ``value``, ``low`` and ``high``.
    chance : float or None
        What two explainers reach that draw independently, each from its own frequencies.
    kappa : Share or None
        ``(same - chance) / (1 - chance)``.
    feature_agreement, rank_agreement, sign_agreement, signed_rank_agreement : Share or None
        Means over rows of the share of the named features that both name: at all, at the same rank, with the same
        sign, and both.
    feature_chance : float or None
        The feature agreement of one row's explanation by a with another row's by b.
    n : int
        Number of rows.
    notes : tuple of str
    """

    a: str
    b: str
    n: int
    same: Share | None = None
    chance: float | None = None
    kappa: Share | None = None
    feature_agreement: Share | None = None
    feature_chance: float | None = None
    rank_agreement: Share | None = None
    sign_agreement: Share | None = None
    signed_rank_agreement: Share | None = None
    notes: tuple[str, ...] = ()
    differing: NDArray[np.bool_] | None = field(default=None, repr=False, compare=False)  # per row
    shared: Floats | None = field(default=None, repr=False, compare=False)  # feature agreement per row

    @property
    def comparable(self) -> bool:
        """Whether anything can be told of the two."""
        return self.same is not None or self.feature_agreement is not None

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this pair, ready for JSON."""
        shares = {name: getattr(self, name) for name in MEASURES}
        told: dict[str, Any] = {name: None if share is None else share._asdict() for name, share in shares.items()}
        told |= {"chance": self.chance, "feature_chance": self.feature_chance}
        return {"a": self.a, "b": self.b, "n": self.n, **told, "notes": list(self.notes)}

    def columns(self) -> dict[str, Any]:
        """One line of a table."""
        line: dict[str, Any] = {"a": self.a, "b": self.b}
        for name in MEASURES:
            share = getattr(self, name)
            ends = (None, None, None) if share is None else share
            line |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
            line |= {"chance": self.chance} if name == "same" else {}
            line |= {"feature_chance": self.feature_chance} if name == "feature_agreement" else {}
        return line | {"n": self.n}


def pair_agreement(a: ComparedExplainer, b: ComparedExplainer, rows: CountedRows, confidence: float) -> PairAgreement:
    """How far two explainers agree on these rows."""
    told: dict[str, Any] = {"a": a.name, "b": b.name, "n": len(rows.weights)}
    notes: list[str] = []
    try:
        told |= _equality(*numbered(a.explanations, b.explanations), rows, confidence)
        notes += [_KEYS] if isinstance(a.explanations, Plain) else []
    except Incompatible as reason:
        notes.append(_different(a, b, reason))
    try:
        shared = _overlap(a.named, b.named, rows)
        means = {name: getattr(shared, name) for name in OVERLAPS}
        told |= {name: rows.mean(each, confidence) for name, each in means.items() if each is not None}
        told |= {"shared": shared.feature_agreement, "feature_chance": shared.chance}
        notes += shared.notes
    except Incompatible as reason:
        notes += [str(reason)] if "same" not in told else []
    return PairAgreement(**told, notes=tuple(notes))


def _equality(a: Ints, b: Ints, rows: CountedRows, confidence: float) -> dict[str, Any]:
    holds, chance = a == b, GivenWeights.of(a, b, rows).chance(rows)
    return {
        "same": rows.share(holds, confidence),
        "chance": chance.value,
        "kappa": beyond_chance(holds, chance, rows, confidence),
        "differing": ~holds,
    }


def _overlap(a: NamedFeatures | None, b: NamedFeatures | None, rows: CountedRows) -> Overlap:
    if a is None or b is None:
        raise Incompatible("not both name features, so features cannot be compared either")
    return overlap(a, b, rows)


def _different(a: ComparedExplainer, b: ComparedExplainer, reason: Incompatible) -> str:
    """Why two explanations cannot be equal."""
    if type(a.explanations) is type(b.explanations) and a.discretizer != b.discretizer:
        return f"{a.discretizer} and {b.discretizer} cannot give the same: pass one discretizer for both"
    if type(a.explanations) is type(b.explanations):
        return str(reason)
    kinds = (each.explanations.kind.partition(" over ")[0] for each in (a, b))  # without the names of features
    return f"{' and '.join(kinds)} cannot be the same explanation"


def numbered(a: Explanations, b: Explanations) -> tuple[Ints, Ints]:
    """Numbers of a's explanations, and of b's by the same numbers, -1 for one that a does not have."""
    a, b = _comparable(a, b)
    codes, first = a.group()
    return codes, a.take(first).locate(b)


def _comparable(a: Explanations, b: Explanations) -> tuple[Explanations, Explanations]:
    """Both without what does not matter to equality: how documents and distances are read, and the list of features."""
    if isinstance(a, Highlights) and isinstance(b, Highlights) and type(a) is type(b):
        return a, b._with(tokenizer=a.tokenizer, vocabulary=a.vocabulary)
    if isinstance(a, Counterfactuals) and isinstance(b, Counterfactuals):
        if a.names is not None and b.names is not None and a.names != b.names:
            raise Incompatible("counterfactuals are over different features: give both the same columns")
        return a, b._with(metric=a.metric)
    if isinstance(a, Rules) and isinstance(b, Rules) and a.features != b.features:
        if a.features and b.features and not set(a.features) & set(b.features):
            raise Incompatible(f"rules are over different features, {a.features[0]!r} and {b.features[0]!r} among them")
        features = tuple(dict.fromkeys([*a.features, *b.features]))
        return _over(a, features), _over(b, features)
    return a, b


def _over(rules: Rules, features: tuple[str, ...]) -> Rules:
    """The same rules over more features."""
    codes, first = rules.group()
    return Rules.from_conditions(rules.take(first).to_conditions(), features).take(codes)
