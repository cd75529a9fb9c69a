"""explainer_agreement(): how far several explainers agree with each other on the same rows, pair by pair.

An explanation that is compared for equality names one feature, itself; so one sum over rows (`shared`) gives how often
two explainers say the same, how many features they share with or without their signs, and both by chance.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.card import Table, framed
from faithscope.discretizers import (
    Grouped,
    Original,
    Pool,
    ReasonCodes,
    SignOfTop,
    TopFeatures,
    TopRegions,
    discretize,
    to_discretizer,
)
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, Incompatible, UnknownName, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.importances import Importances
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Ints
from faithscope.inputs.checks import by_name, check_share, check_whole, check_word, text_names
from faithscope.inputs.frames import frame
from faithscope.measures.intervals.local import mean_share
from faithscope.measures.intervals.margins import Deviations, IndependentUnits, Share, check_confidence
from faithscope.measures.named_features import NamedFeatures, matched, named_features, shared, shared_elsewhere
from faithscope.measures.repeatability import counted, in_the_form_of, side_by_side
from faithscope.measures.telling import in_clusters
from faithscope.notes import Notes
from faithscope.rounding import in_brackets
from faithscope.runtime.memory import in_memory
from faithscope.sample import Sample
from faithscope.shareable import Shareable
from faithscope.visible import visible
from faithscope.words import several

if TYPE_CHECKING:
    import pandas as pd

Named = Mapping[str, Explanations]
_Compared = tuple[Explanations, NamedFeatures | None]  # as compared for equality, and the features named

_USUAL = SignOfTop(5)  # of importances, and as many features they name
_KEEPING = SignOfTop | TopFeatures | TopRegions | ReasonCodes  # discretizers that keep k features
_ALONE = "Agreement takes at least two explainers; got {}."
_CERTAIN = 1 - 1e-12  # chance from which on nothing is left to exceed it
_WORDS = {
    "same": "share of rows on which both say the same",
    "chance": "the same by chance",
    "kappa": "kappa: how far both say the same beyond chance",
    "feature_agreement": "share of the named features that both name",
    "feature_chance": "share of the named features that both name, by chance",
    "sign_agreement": "share of the named features that both name with the same sign",
}


@dataclass(frozen=True, repr=False)
class PairAgreement(Shareable):
    """How far two explainers agree; what cannot be told is None, and `notes` say why.

    Attributes
    ----------
    a, b : str
        The names of the explainers.
    n : int
        Number of rows.
    same : Share or None
        Share of rows on which both say the same, with ``value``, ``low`` and ``high``.
    chance : float or None
        What two explainers reach that draw independently, each from its own frequencies.
    kappa : Share or None
        ``(same - chance) / (1 - chance)``.
    feature_agreement, sign_agreement : Share or None
        Means over rows of the share of the named features that both name: at all, and with the same sign.
    feature_chance : float or None
        The feature agreement of one row's explanation by a with another row's by b.
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
    sign_agreement: Share | None = None
    notes: Notes = ()

    def columns(self) -> dict[str, Any]:
        """One line of a table."""
        line: dict[str, Any] = {}
        for name in ("a", "b", *_WORDS, "n"):
            line[name] = getattr(self, name)
            if name in _WORDS and not name.endswith("chance"):
                line[name], line[f"{name}_low"], line[f"{name}_high"] = line[name] or (None, None, None)
        return line

    @property
    def _line(self) -> str:
        names, rows = f"{visible(self.a)} and {visible(self.b)}", several(self.n, "row", "rows")
        if self.same is None:
            return f"{names}: feature agreement {_told(self.feature_agreement)} on {rows}"
        line = f"{names}: the same on {self.same.value:.0%} of {rows} {in_brackets(self.same.low, self.same.high)}"
        line += "" if self.chance is None else f", chance {self.chance:.2f}"
        return line + ("" if self.kappa is None else f", kappa {_told(self.kappa)}")


def _told(number: Share | None) -> str:
    return "–" if number is None else f"{number.value:.2f} {in_brackets(number.low, number.high)}"


@dataclass(frozen=True, repr=False)
class ExplainerAgreement(Shareable):
    """How far explainers agree with each other on the same rows, pair by pair.

    Attributes
    ----------
    explainers : dict of str to str
        The discretizer by which each explainer is compared, by its name.
    pairs : tuple of PairAgreement
        Every two explainers, with ``same``, ``chance``, ``kappa`` and the measures of named features.
    n : int
        Number of rows.
    clusters : int or None
        Number of clusters of rows; None if rows are not clustered.
    k : int
        How many features importances name.
    confidence : float
        Of each interval by itself.
    notes : tuple of str
        What a reader should know; what is about two explainers is in ``notes`` of their pair.

    Examples
    --------
    >>> from faithscope import explainer_agreement
    >>> agreement = explainer_agreement({"one": ["a", "b", "a", "b"], "other": ["a", "b", "b", "b"]})
    >>> print(agreement)
    one and other: the same on 75% of 4 rows [0.19, 1.00], chance 0.42, kappa 0.57 [-1.00, 1.00]
    """

    explainers: dict[str, str]
    pairs: tuple[PairAgreement, ...]
    n: int
    clusters: int | None
    k: int
    confidence: float
    notes: Notes = ()

    def pair(self, a: str, b: str) -> PairAgreement:
        """Two explainers by their names, in whatever order; `PairAgreement.a` is the one that was given first."""
        for pair in self.pairs:
            if isinstance(a, str) and isinstance(b, str) and {a, b} == {pair.a, pair.b}:
                return pair
        raise UnknownName(f"{a!r} and {b!r} are no two of these explainers: {', '.join(map(repr, self.explainers))}.")

    def table(self) -> "pd.DataFrame":
        """One line per pair: all measures with their intervals; empty cells for what cannot be told."""
        import pandas as pd

        lines = pd.DataFrame([pair.columns() for pair in self.pairs])
        return lines.astype(dict.fromkeys(lines.columns.drop(["a", "b", "n"]), float))

    def matrix(self, measure: str = "same") -> "pd.DataFrame":
        """One measure of every two explainers, as a square table by their names; NaN for what cannot be told.

        Parameters
        ----------
        measure : str
            "same", "chance", "kappa", "feature_agreement", "feature_chance" or "sign_agreement". Ranks of features are
            compared by ``discretizer=fs.Rank()``.
        """
        square = np.array(self._square(measure), np.float64)
        if not measure.endswith("chance"):
            np.fill_diagonal(square, 1.0)
        return frame(dict(zip(self.explainers, square.T, strict=True)), list(self.explainers))

    def _square(self, measure: str) -> list[list[float | None]]:
        """One measure of every two explainers; None on the diagonal and for what cannot be told."""
        check_word(measure, "measure", _WORDS)
        names = self.explainers
        return [[None if a == b else self.pair(a, b).columns()[measure] for b in names] for a in names]

    def plot(self, measure: str = "same") -> Any:
        """One measure of every two explainers as a heat map, an Altair chart; see `matrix`."""
        from faithscope.charts import heat_map

        return heat_map(list(self.explainers), self._square(measure), measure=_WORDS[measure])

    _title = "agreement of explainers"

    @property
    def _line(self) -> str:
        """The numbers of one pair, or over how wide a range several say the same."""
        if len(self.pairs) == 1:
            return self.pairs[0]._line
        told = f"{len(self.pairs)} pairs of explainers, {several(self.n, 'row', 'rows')}"
        same = [pair.same.value for pair in self.pairs if pair.same is not None]
        return f"{told}: the same on {min(same):.0%} to {max(same):.0%}" if same else told

    def _tables(self) -> list[Table]:
        rows = f"{several(self.n, 'row', 'rows')}{in_clusters(self.clusters)}"
        below = f"{rows}, {100 * self.confidence:g}% intervals, each by itself"
        return [framed(self.table(), ("a", "b", "same", "same_low", "same_high", *list(_WORDS)[1:]), below)]

    def _told_notes(self) -> Iterable[str]:
        return [*self.notes, *(f"{pair.a} and {pair.b}: {note}" for pair in self.pairs for note in pair.notes)]


@in_memory("compare fewer explainers, or on fewer rows")
def explainer_agreement(
    explanations: Mapping[str, Any],
    *,
    discretizer: Any = None,
    k: int | None = None,
    confidence: float = 0.95,
    weights: Any = None,
    clusters: Any = None,
) -> ExplainerAgreement:
    """How far several explainers agree with each other: the same explanation, the same features, the same signs.

    ``same`` is the share of rows on which two of them say the same, ``chance`` what they would reach if each drew from
    its own frequencies, and ``kappa = (same - chance) / (1 - chance)``. Of importances, two measures of Krishna et al.
    ("The Disagreement Problem in Explainable Machine Learning", 2022, section 4) are means over rows, of the k features
    largest in size: the share that both name (``feature_agreement``), and with the same sign (``sign_agreement``);
    ``feature_chance`` is that of one row's explanation with another row's. A feature of importance 0 is never named:
    the denominator is the larger number of features that one of the two names, at most k, and a row on which neither
    names any agrees. Rules, highlights and counterfactuals name features too, and so have a feature agreement with
    importances. Ranks are compared by ``discretizer=fs.Rank()``.

    Explainers that agree need not be faithful: two may be wrong alike. `consistency` and `sufficiency` ask the model.

    Parameters
    ----------
    explanations : mapping of str to explanations
        One per explainer, by a name of your choice; each with one explanation per row, in the order of the same rows.
    discretizer : discretizer, str or callable, or mapping of str to these, optional
        At which granularity two explanations are the same: one for all explainers whose kind it takes, or one per
        explainer by name. By default importances are compared by ``SignOfTop(5)``, and all others as they are. One that
        learns, such as `CommonPhrases`, does so from one half of the rows, and the other half is compared.
    k : int, optional
        How many features importances name. By default as many as the discretizer keeps, such as 3 of ``SignOfTop(3)``,
        the most if they differ; 5 if none says.
    confidence : float
        Of each interval.
    weights, clusters : array-like, (n,), optional
        As for `consistency`.

    Returns
    -------
    ExplainerAgreement

    Examples
    --------
    >>> shap, lime = [[0.4, -0.1], [0.2, 0.3]], [[0.3, -0.2], [0.2, -0.1]]
    >>> agreement = explainer_agreement({"shap": shap, "lime": lime})
    >>> agreement.table()[["same", "feature_agreement", "sign_agreement"]].values.tolist()
    [[0.5, 1.0, 0.75]]
    """
    if not isinstance(explanations, Mapping):
        raise WrongType(
            "explainer_agreement takes explanations by name, such as {'shap': values, 'lime': weights}; got "
            f"{type(explanations).__name__}."
        )
    named = text_names(explanations)
    if len(named) < 2:
        raise BadInput(_ALONE.format(len(named)))
    rows, given = side_by_side(
        {f"explanations of {visible(name)!r}": each for name, each in named.items()}, None, weights, clusters
    )
    raw = dict(zip(named, given.values(), strict=True))
    return measure_agreement(rows, raw, discretizer, k, confidence)


def measure_agreement(
    rows: Sample, raw: Named, discretizer: Any, k: int | None, confidence: float
) -> ExplainerAgreement:
    """The agreement of every two explainers on the rows of a sample, whose notes are told."""
    if len(raw) < 2:
        raise BadInput(_ALONE.format(len(raw)))
    rows, given, chosen = _at_granularity(*counted(rows, raw), discretizer)
    kept = [[0, *(step.k for step in steps(each) if isinstance(step, _KEEPING))][-1] for each in chosen.values()]
    k = check_whole(max(kept) or _USUAL.k if k is None else k, "k, the number of features that importances name,")
    check_share(confidence, "confidence")
    units = IndependentUnits.of(rows)
    compared = {name: _compared(given[name], chosen[name], k) for name in raw}
    pairs = tuple(_pair(both, compared, units, confidence) for both in combinations(raw, 2))
    if all(pair.same is None and pair.feature_agreement is None for pair in pairs):
        reason = pairs[0].notes[0].rstrip(".")
        raise BadInput(f"No two of these explainers can be compared; {pairs[0].a!r} and {pairs[0].b!r}: {reason}.")
    return ExplainerAgreement(
        explainers={name: repr(Original() if each is None else each) for name, each in chosen.items()},
        pairs=pairs,
        n=rows.n,
        clusters=None if rows.clusters is None else len(units.mass),
        k=k,
        confidence=float(confidence),
        notes=rows.notes,
    )


def _compared(raw: Explanations, chosen: Any, k: int) -> _Compared:
    """An explainer by a discretizer, of which only sums of features change which are named."""
    coarse, naming, rest = discretize(raw, chosen), raw, steps(chosen)
    while rest and isinstance(rest[0], Grouped | Pool):
        naming, rest = discretize(naming, rest[0]), rest[1:]
    if naming is not raw:  # sums of one-hot features are comparable with others
        naming, coarse = naming._with(form=""), coarse._with(form=" | ".join(map(repr, rest)))
    return coarse, named_features(naming, k)


def _at_granularity(rows: Sample, raw: Named, discretizer: Any) -> tuple[Sample, Named, Mapping[str, Any]]:
    """The rows to compare on, their explanations, and the discretizers that a caller chose.

    One discretizer for all that take it, one by name, or none: then importances are compared by ``SignOfTop(5)``, since
    sixteen decimals are never the same. Features are in the order of the first importances with names, so that ties are
    decided alike.
    """
    importances = {name: given for name, given in raw.items() if isinstance(given, Importances)}
    if first := next((given for given in importances.values() if given.names), None):
        raw = {**raw, **{name: first._with_my_order(given) for name, given in importances.items()}}
    asked: Mapping[str, Any]
    notes: list[str] = []
    if isinstance(discretizer, Mapping):
        asked = by_name(discretizer, raw, "discretizer")
    elif discretizer is None:
        asked = {name: _USUAL for name, each in importances.items() if type(each) is Importances and not each.form}
        if asked:
            notes.append(
                f"importances were compared by {_USUAL!r}, since no discretizer was given: pass what people see of them"
            )
    else:
        one = to_discretizer(discretizer)
        reasons = {name: refusal(one, given) for name, given in raw.items()}
        if all(reasons.values()):
            raise next(iter(reasons.values()))
        asked = {name: one for name, why in reasons.items() if not why}
        told = "{} is compared as it is, since {!r} does not take its explanations"
        notes += [told.format(name, one) for name, why in reasons.items() if why]
    chosen = {name: to_discretizer(asked.get(name)) for name in raw}
    return rows.noting(tuple(notes)).learned(chosen, raw)


def refusal(discretizer: Any, explanations: Explanations) -> Any:
    """The error of a discretizer that does not take this kind of explanations; None if it does."""
    try:
        discretize(explanations.take(slice(0, 1)), discretizer)
    except WrongType as why:
        return why
    except BadInput:
        if not getattr(discretizer, "learns", False):  # it takes them once it has learned
            raise
    return None


def _pair(
    names: tuple[str, str], compared: Mapping[str, _Compared], units: IndependentUnits, confidence: float
) -> PairAgreement:
    """All measures of two explainers, without those that cannot be told, and why they cannot."""
    (a, first), (b, second) = (compared[name] for name in names)
    told: dict[str, Any] = {}
    notes: list[str] = []
    try:
        told |= _equality(*_numbered(a, b), units, confidence)
    except Incompatible as reason:
        notes.append(str(reason))
    try:
        if first is None or second is None:
            raise Incompatible("not both name features, so features cannot be compared either")
        second, alike, unmatched = matched(first, second)
        own = shared(first, second)
        told["feature_agreement"] = mean_share(own, units, confidence)[0]
        told["feature_chance"] = units.by_chance(shared_elsewhere(first, second, own, units).sum())
        if alike and first.signs is not None and second.signs is not None:
            told["sign_agreement"] = mean_share(shared(first.signed, second.signed), units, confidence)[0]
        notes += unmatched
    except Incompatible as reason:
        notes += [] if "same" in told else [str(reason)]
    return PairAgreement(*names, len(units.weight), **told, notes=tuple(notes))


def _equality(a: Ints, b: Ints, units: IndependentUnits, confidence: float) -> dict[str, Any]:
    """How often two explainers say the same, exactly (Clopper and Pearson) if rows count alike; chance, and kappa.

    The interval of kappa, ``(same - chance) / (1 - chance)``, is Student's t by the jackknife over clusters, at least
    as wide as that of a share of rows of which none was seen to differ, by ``1 - chance``. It is -1 to 1 if one cluster
    decides whether kappa is defined, and there is none if chance is 1 or unknown.
    """
    first, second = (NamedFeatures(len(a), (), np.arange(len(a)), codes) for codes in (a, b))
    own, mass = shared(first, second), units.mass
    same = mean_share(own, units, confidence, exact=True)[0]
    asked, answered = shared_elsewhere(first, second, own, units), shared_elsewhere(second, first, own, units)
    chance = units.by_chance(asked.sum())
    told = {"same": same, "chance": chance}
    if chance is None or chance >= _CERTAIN:
        return told
    value, margin = 1 - (1 - same.value) / (1 - chance), np.inf
    if len(mass) > 2:
        strangers = mass * (mass.sum() - mass)
        left = np.clip((asked.sum() - asked - answered) / (strangers.sum() - 2 * strangers), 0, 1)
        if (left < _CERTAIN).all():
            apart, wrong = units.sums(1 - own), check_confidence(confidence) / 2
            left_out = Deviations.of(-(apart.sum() - apart) / (mass.sum() - mass) / (1 - left))
            margin = max(left_out.margin(wrong)[0], min(1.0, units.least(wrong)) / (1 - chance))
    return told | {"kappa": Share(value, min(value, max(-1.0, value - margin)), min(1.0, value + margin))}


def _numbered(a: Explanations, b: Explanations) -> tuple[Ints, Ints]:
    """Numbers of a's explanations, and of b's by the same numbers, or the next one if a does not have it.

    What does not matter to equality is left aside, such as how documents are read, and the list of features.
    """
    if isinstance(a, Rules) and isinstance(b, Rules) and a.features != b.features:
        if a.features and b.features and not set(a.features) & set(b.features):
            raise Incompatible(f"rules are over different features, {a.features[0]!r} and {b.features[0]!r} among them")
        features = tuple(dict.fromkeys([*a.features, *b.features]))
        a, b = a._over(features, True), b._over(features, True)
    if len({each.names for each in (a, b) if isinstance(each, Counterfactuals) and each.names}) > 1:
        raise Incompatible("counterfactuals are over different features: give both the same columns")
    codes, first = a.group()
    places = a.take(first).locate(in_the_form_of(a, b))
    return codes, np.where(places < 0, len(first), places)
