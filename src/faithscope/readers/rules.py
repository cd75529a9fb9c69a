"""Rules as other libraries print or list them: anchor-exp and alibi, calibrated-explanations, PyXAI; or as dicts.

Bounds are in full where the library's bins are known, and categories come with their codes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations, claims
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.rule_json import structured_rules
from faithscope.explanations.rule_text import BOUNDS, Triple, parse_rule
from faithscope.explanations.rules import Rules
from faithscope.explanations.tokenizers import split_lower_words, split_words
from faithscope.readers.wanted import Wanted, common_names

_EQUALS = " = "
_ROUNDED = "bounds are as printed, to 2 decimals, so that a rule may not cover the row that it explains"
_ALIKE = "bounds that print alike to 2 decimals were taken as the widest of them"


# -- conditions that were printed ---------------------------------------------------------------------------------


class Printed:
    """Conditions that a library printed, read row by row, with what is to be said of their bounds.

    Attributes
    ----------
    names : sequence of str, optional
        The features, as far as they are known.
    remarks : list of str
    codes : dict from feature to a dict from code to category
    """

    def __init__(self, names: Sequence[str] | None, *remarks: str) -> None:
        self.names, self.by_column, self.remarks = names, dict(enumerate(names or ())), list(remarks)
        self.codes: dict[str, dict[int, str]] = {}

    def read(self, text: str, column: int, bins: Any, texts: Mapping[int, str], code: Any) -> list[Triple]:
        """The conditions of one printed text, such as two bounds of one feature.

        Parameters
        ----------
        text : str
        column : int
            The column of its feature, which has a name if that is known.
        bins : object
            The library's discretizer, which knows the bounds of features in full; None if it is not known.
        texts : mapping
            The categories that its codes stand for, as far as they are known.
        code : number, optional
            Its value in the row explained.
        """
        number = isinstance(code, int | float | np.number) and float(code).is_integer()
        name = self.by_column.get(column, text.partition(_EQUALS)[0])
        if texts and number:
            category = texts[int(code)]
        elif text.startswith(name + _EQUALS):
            category = text.removeprefix(name + _EQUALS)
        else:
            edges = _edges(bins, column)
            return [self._in_full(triple, edges) for triple in parse_rule(text, self.names)]
        known = texts or ({int(code): category} if number else {})
        for each, meant in known.items():
            if (other := self.codes.setdefault(name, {}).setdefault(each, meant)) != meant:
                raise BadInput(f"The code {each} of {name!r} stands for {other!r} and for {meant!r}.")
        return [(name, "==", category)]

    def _in_full(self, triple: Triple, edges: Sequence[float]) -> Triple:
        """A condition with the bound of which it prints two decimals; a remark if that is not known for sure.

        Of several bounds that print alike the widest is taken, so that the rule covers the row that it explains.
        """
        name, operator, value = triple
        if operator not in BOUNDS:
            return triple
        alike = {edge for edge in edges if f"{edge:.2f}" == f"{value:.2f}"}
        self.remarks += [] if len(alike) == 1 else [_ALIKE if alike else _ROUNDED]
        return (name, operator, max(alike) if "<" in operator else min(alike)) if alike else triple

    def rules(self, rows: Sequence[Iterable[Triple]], wanted: Wanted) -> Rules:
        """The rules over the features that the caller names, else those that the library knows or conditions name."""
        wanted.refuse("these are rules", "class_index")
        rules = Rules.from_conditions(rows, wanted.features or self.names)
        return rules._with(remarks=tuple(dict.fromkeys(self.remarks)), categories=self.codes)


def _edges(discretizer: Any, feature: int) -> list[float]:
    """The bounds of a feature's bins, as lime's discretizers keep them; none if this is no such discretizer."""
    highest = getattr(discretizer, "maxs", None)
    known = highest.get(feature) if isinstance(highest, Mapping) else None
    return [] if known is None else [float(edge) for edge in list(known)[:-1]]


# -- anchors ------------------------------------------------------------------------------------------------------

_CLAIM = (
    "the anchors claim a precision of {precision} and a coverage of {coverage} on average, on rows that their "
    "explainer made up"
)


class Anchor(NamedTuple):
    """One anchor, whichever library made it.

    Attributes
    ----------
    conditions : list of str
        As the library prints them: conditions of a table, or words of a text.
    positions : list of int
        The column of each condition.
    instance : array, or str
        The row explained, categories as codes; or the text.
    precision, coverage : float
        What the library claims.
    explainer : object
        anchor-exp's, which knows the bins in full; None of alibi's, whose objects do not lead back to it.
    """

    conditions: list[str]
    positions: list[int]
    instance: Any
    precision: float
    coverage: float
    explainer: Any


def are_anchors(item: Any) -> bool:
    """Whether this is an anchor of anchor-exp's or alibi's, or what alibi's ``to_json()`` writes."""
    return isinstance(getattr(item, "exp_map", None), Mapping) or _of_alibi(item) is not None


def read_anchors(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    """Rules with bounds in full where they are known; highlights if texts were explained.

    What the library claims is in `Rules.claimed`, and its mean in the notes, to be held against sufficiency.
    """
    anchors = list(map(_to_anchor, rows))
    claimed = claims({name: [getattr(anchor, name) for anchor in anchors] for name in ("precision", "coverage")})
    explanations: Explanations
    if any(isinstance(anchor.instance, str) for anchor in anchors):
        wanted.refuse("anchors have all their words in them, of one class", "class_index", "top")
        words = [{part for token in anchor.conditions for part in split_words(token)} for anchor in anchors]
        lower = all(word == word.lower() for row in words for word in row)
        explanations = Highlights(words, split_lower_words if lower else split_words)
    else:
        explanations = _anchor_rules(anchors, wanted)
    return explanations._with(claimed=claimed, claim=_CLAIM)


def _of_alibi(item: Any) -> Mapping[str, Any] | None:
    held = item if isinstance(item, Mapping) else getattr(item, "__dict__", {})  # alibi's objects have no others
    saved = held.get("data") if "meta" in held else None
    known = isinstance(saved, Mapping) and {"anchor", "precision", "coverage", "raw"} <= set(saved)
    return saved if known else None


def _to_anchor(item: Any) -> Anchor:
    saved = _of_alibi(item)
    if saved is None:
        names, precision, coverage, raw = item.names(), item.precision(), item.coverage(), item.exp_map
    else:
        names, precision, coverage, raw = (saved[part] for part in ("anchor", "precision", "coverage", "raw"))
    if np.ndim(names) > 1 or not isinstance(raw, Mapping):
        raise BadInput(
            "These anchors of alibi are pieces of images, which are no rules: pass their masks as an array, "
            "fs.Importances(values) of shape (n_rows, height, width)."
        )
    positions = list(dict.fromkeys(int(position) for position in raw["feature"]))  # a range has its feature twice
    precise, covered = (float(np.ravel(each)[-1]) for each in (precision, coverage))
    explainer = getattr(getattr(item, "as_html_fn", None), "__self__", None)
    return Anchor(list(map(str, names)), positions, raw.get("instance"), precise, covered, explainer)


def _anchor_rules(anchors: Sequence[Anchor], wanted: Wanted) -> Rules:
    wanted.refuse("these are anchors of a table", "top")
    names = common_names("anchors", (getattr(anchor.explainer, "feature_names", None) for anchor in anchors))
    printed, rows = Printed(names or wanted.features), list[list[Triple]]()
    for number, (conditions, positions, instance, *_, explainer) in enumerate(anchors):
        rows.append([])
        codes = {} if instance is None else dict(enumerate(instance))
        ordinal, named = (getattr(explainer, name, {}) for name in ("ordinal_features", "categorical_names"))
        try:
            for text, j in zip(conditions, positions, strict=True):
                texts = {} if j in ordinal else {code: str(label) for code, label in enumerate(named.get(j, ()))}
                rows[-1] += printed.read(text, j, getattr(explainer, "disc", None), texts, codes.get(j))
        except BadInput as problem:
            raise BadInput(f"Row {number}: {problem} Name the columns: fs.read(anchors, features=[...]).") from None
    return printed.rules(rows, wanted)


# -- calibrated-explanations --------------------------------------------------------------------------------------

_KEYS = {"rule", "predict", "predict_low", "predict_high", "weight", "feature"}
_INTERVALS = "calibrated intervals of the predictions are {width} wide on average (claimed)"


def are_calibrated(item: Any) -> bool:
    """Whether this is one explanation of what ``explain_factual`` and its like give."""
    rules = getattr(item, "rules", None)
    return isinstance(rules, Mapping) and set(rules) >= _KEYS and callable(getattr(item, "get_explainer", None))


def read_calibrated(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    """One rule per row: the conjunction of its factual conditions, or of the `top` of them that weigh most.

    A factual explanation is a list of conditions that hold on its row, each with a weight: what the prediction would
    lose if the feature were otherwise. Together they say why the row is predicted as it is, so their conjunction is
    what should be sufficient for the prediction; one condition by itself does not claim to be. The weights are left
    out. `Rules.claimed` keeps the calibrated prediction of every row and its interval, to be held against ours.

    An alternative explanation says what would be predicted elsewhere, and nothing about its own row, and a fast one has
    weights without conditions: they are refused.
    """
    if any(hasattr(row, "is_super_explanation") or not row.binned for row in rows):
        raise BadInput(
            "These are alternative or fast explanations, which are no rules that hold on the rows that they explain: "
            "pass factual ones, explainer.explain_factual(X)."
        )
    names = common_names("calibrated-explanations", (row.get_explainer().feature_names for row in rows))
    predicted, low, high = (
        np.array([float(row.prediction[key]) for row in rows]) for key in ("predict", "low", "high")
    )
    claimed = claims({"prediction": predicted, "low": low, "high": high, "width": high - low})
    which = "all conditions" if wanted.top is None else f"the {wanted.top} conditions that weigh most"
    printed = Printed(names, f"the rule of a row joins {which} of its explanation, without their weights")
    conditions: list[list[Triple]] = []
    for row in rows:
        rules, explainer = row.rules, row.get_explainer()
        single = [place for place, feature in enumerate(rules["feature"]) if np.ndim(feature) == 0]  # others join these
        heaviest = sorted(single, key=lambda place: -abs(float(rules["weight"][place])))[: wanted.top]
        conditions.append([])
        for place in sorted(heaviest):
            feature = int(rules["feature"][place])
            known = (explainer.categorical_labels or {}).get(feature, ())
            named = known if isinstance(known, Mapping) else dict(enumerate(known))
            texts = {int(code): str(name) for code, name in named.items() if feature in explainer.categorical_features}
            text, code = str(rules["rule"][place]), float(row.x_test[feature])
            conditions[-1] += printed.read(text, feature, explainer.discretizer, texts, code)
    return printed.rules(conditions, wanted)._with(claimed=claimed, claim=_INTERVALS)


# -- PyXAI: what ``explainer.to_features(reason, details=True)`` gives ---------------------------------------------

_SIGNED, _THRESHOLD = "operator_sign_considered", "threshold"


def are_pyxai(item: Any) -> bool:
    """Whether this is the reason of one row: a list of dicts per feature; texts of reasons are for `Rules.parse`."""
    if not isinstance(item, Mapping) or not all(isinstance(part, list | tuple) for part in item.values()):
        return False
    literals = [literal for part in item.values() for literal in part]
    known = all(isinstance(literal, Mapping) and {"name", _SIGNED, _THRESHOLD} <= set(literal) for literal in literals)
    return known and bool(literals)


def read_pyxai(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    """Rules over the columns that the model sees, with thresholds in full."""

    def condition(literal: Mapping[str, Any]) -> dict[str, Any]:
        sign = str(getattr(literal[_SIGNED], "value", literal[_SIGNED]))
        return {"feature": str(literal["name"]), "op": sign, "value": literal[_THRESHOLD]}

    return read_conditions([[condition(each) for part in reason.values() for each in part] for reason in rows], wanted)


# -- conditions as dicts -------------------------------------------------------------------------------------------


def read_conditions(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    """Rules over the features that the caller names, or those that conditions name."""
    wanted.refuse("these are rules", "class_index", "top")
    return structured_rules(rows, wanted.features, "error")
