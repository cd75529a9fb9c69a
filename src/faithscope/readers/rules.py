"""Rules as other libraries print them: anchor-exp's and alibi's anchors, calibrated-explanations, PyXAI's reasons.

Bounds are in full where the library's bins are known, and categories come with their codes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations, claims
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.rule_text import BOUNDS, ROUNDED, SPELLINGS, Triple, parse_rule
from faithscope.explanations.rules import Rules
from faithscope.explanations.tokenizers import split_lower_words, split_words
from faithscope.readers.wanted import Wanted, first_of, one_per_row

_EQUALS = " = "
_ALIKE = "bounds that print alike to 2 decimals were taken as the widest of them"


# -- conditions that were printed ---------------------------------------------------------------------------------


class Printed:
    """Conditions that a library printed, as they are read: row by row, with what is to be said of them.

    Attributes
    ----------
    names : sequence of str, optional
        The features, as far as they are known.
    rows : list of lists of (feature, operator, value)
    remarks : list of str
        What to say of bounds.
    codes : dict from feature to a dict from code to category, or to an empty text if that is unclear
    """

    def __init__(self, names: Sequence[str] | None, *remarks: str) -> None:
        self.names, self.remarks = names, list(remarks)
        self.rows: list[list[Triple]] = []
        self.codes: dict[str, dict[int, str]] = {}

    def read(self, text: str, name: str | None, edges: Sequence[float], texts: dict[int, str], code: Any) -> None:
        """One condition of the last row, from its text and what is known of its column.

        Parameters
        ----------
        text : str
        name : str, optional
        edges : list of float
            The bounds of its bins; none if they are not known.
        texts : dict
            The categories that its codes stand for, as far as they are known.
        code : float, optional
            Its value in the row explained.
        """
        category = None
        if name is None and _EQUALS in text:
            name, _, category = text.partition(_EQUALS)
        elif name is not None and texts:
            category = texts[int(code or 0)]
        elif name is not None and name not in text:  # one with < in it stands alone
            category = text
        elif name is not None and text.startswith(name + _EQUALS):
            category = text.removeprefix(name + _EQUALS)
        if name is None or category is None:
            self.rows[-1] += [self._in_full(triple, edges) for triple in parse_rule(text, self.names)]
            return
        self.rows[-1].append((name, "==", category))
        known = texts or ({int(code): category} if code is not None and code.is_integer() else {})
        held = self.codes.setdefault(name, {})
        unclear = any(held.get(each, meant) != meant for each, meant in known.items())
        self.codes[name] = held | (dict.fromkeys(known, "") if unclear else known)

    def _in_full(self, triple: Triple, edges: Sequence[float]) -> Triple:
        """A condition with the bound of which it prints two decimals; a remark if that is not known for sure.

        Of several bounds that print alike the widest is taken, so that the rule covers the row that it explains.
        """
        name, operator, value = triple
        if operator not in BOUNDS:
            return triple
        alike = {edge for edge in edges if f"{edge:.2f}" == f"{value:.2f}"}
        self.remarks += [] if len(alike) == 1 else [_ALIKE if alike else ROUNDED]
        return (name, operator, max(alike) if "<" in operator else min(alike)) if alike else triple

    def rules(self, wanted: Wanted, names: Sequence[str] | None) -> Rules:
        """The rules, with what is to be said of their bounds, and their codes."""
        clear = {name: texts for name, texts in self.codes.items() if "" not in texts.values()}
        rules = _to_rules(self.rows, names, wanted)
        return rules._with(remarks=tuple(dict.fromkeys(self.remarks)), categories=clear)


def _edges(discretizer: Any, feature: int) -> list[float]:
    """The bounds of a feature's bins, as lime's discretizers keep them; none if this is no such discretizer."""
    highest = getattr(discretizer, "maxs", None)
    known = highest.get(feature) if isinstance(highest, Mapping) else None
    return [] if known is None else [float(edge) for edge in list(known)[:-1]]


def _to_rules(rows: Sequence[Iterable[Triple]], names: Sequence[str] | None, wanted: Wanted) -> Rules:
    """Rules over the features that the caller names, else those that the library knows, else those of conditions."""
    wanted.refuse_class("these are rules")
    return Rules.from_conditions(rows, names if wanted.features is None else wanted.features)


# -- anchors ------------------------------------------------------------------------------------------------------

_CLAIM = (
    "the anchors claim a precision of {precision} and a coverage of {coverage} on average, on rows that their "
    "explainer made up"
)


@dataclass(frozen=True)
class Anchor:
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
    explainer: Any = None


def are_anchors(thing: Any) -> bool:
    """Whether this is one anchor, or a list of them: objects, or what alibi's ``to_json()`` writes."""
    return _to_anchor(thing) is not None or _to_anchor(first_of(thing)) is not None


def read_anchors(thing: Any, wanted: Wanted) -> Explanations:
    """Rules with bounds in full where they are known; highlights if texts were explained.

    What the library claims is in `Rules.claimed`, and its mean in the notes, to be held against sufficiency.
    """
    given = [thing] if _to_anchor(thing) is not None else one_per_row(thing)
    anchors = [_to_anchor(item) for item in given]
    rows = [anchor for anchor in anchors if anchor is not None]
    if len(rows) < len(given):
        odd = anchors.index(None)
        raise BadInput(f"Row {odd} is a {type(given[odd]).__name__} among anchors: pass one anchor per row.")
    claimed = claims({"precision": [row.precision for row in rows], "coverage": [row.coverage for row in rows]})
    texts = any(isinstance(row.instance, str) for row in rows)
    explanations: Explanations = _anchored_words(rows, wanted) if texts else _anchor_rules(rows, wanted)
    return explanations._with(claimed=claimed, claim=_CLAIM)


def _to_anchor(thing: Any) -> Anchor | None:
    """What anchor-exp or alibi made, as an anchor; None for anything else."""
    if isinstance(getattr(thing, "exp_map", None), Mapping) and callable(getattr(thing, "names", None)):
        explainer = getattr(getattr(thing, "as_html_fn", None), "__self__", None)
        return _from_map(thing.names(), thing.precision(), thing.coverage(), thing.exp_map, explainer)
    if isinstance(thing, str) and '"anchor"' in thing:
        try:
            thing = json.loads(thing)
        except ValueError:
            return None
    held = thing if isinstance(thing, Mapping) else getattr(thing, "__dict__", {})  # alibi's objects have no others
    saved = held.get("data") if "meta" in held else None
    if not isinstance(saved, Mapping) or not {"anchor", "precision", "coverage", "raw"} <= set(saved):
        return None
    if np.ndim(saved["anchor"]) > 1 or not isinstance(saved["raw"], Mapping):
        raise BadInput(
            "These anchors of alibi are pieces of images, which are no rules: pass their masks as an array, "
            "fs.Importances(values) of shape (n_rows, height, width)."
        )
    return _from_map(saved["anchor"], saved["precision"], saved["coverage"], saved["raw"], None)


def _from_map(names: Any, precision: Any, coverage: Any, raw: Mapping[str, Any], explainer: Any) -> Anchor:
    positions = list(dict.fromkeys(int(position) for position in raw["feature"]))  # a range has its feature twice
    precise, covered = (float(np.asarray(each, np.float64).reshape(-1)[-1]) for each in (precision, coverage))
    return Anchor([str(name) for name in names], positions, raw.get("instance"), precise, covered, explainer)


def _anchored_words(rows: Sequence[Anchor], wanted: Wanted) -> Highlights:
    if wanted.class_index is not None or wanted.top is not None:
        raise BadInput("Anchors have all their words in them, of one class: leave class_index= and top= out.")
    words = [{part for token in row.conditions for part in split_words(token)} for row in rows]
    lower = all(word == word.lower() for row in words for word in row)
    return Highlights(words, split_lower_words if lower else split_words)


def _anchor_rules(rows: Sequence[Anchor], wanted: Wanted) -> Rules:
    wanted.refuse_top("anchors of a table")
    known = getattr(rows[0].explainer, "feature_names", None)
    names = None if known is None else tuple(map(str, known))
    features = names or wanted.features
    printed = Printed(features)
    for number, anchor in enumerate(rows):
        if len(anchor.positions) != len(anchor.conditions):
            raise BadInput(
                f"Row {number} is an anchor of {len(anchor.conditions)} conditions on {len(anchor.positions)} "
                "features: pass it as it was made."
            )
        printed.rows.append([])
        instance, edges = anchor.instance, getattr(anchor.explainer, "disc", None)
        for text, j in zip(anchor.conditions, anchor.positions, strict=True):
            name = features[j] if features is not None and j < len(features) else None
            value = instance[j] if instance is not None and j < len(instance) else None
            code = float(value) if isinstance(value, int | float | np.number) and np.isfinite(value) else None
            ordinal = j in getattr(anchor.explainer, "ordinal_features", ())
            named = () if ordinal else getattr(anchor.explainer, "categorical_names", {}).get(j, ())
            texts = {place: str(category) for place, category in enumerate(named)}
            try:
                printed.read(text, name, _edges(edges, j), texts, code)
            except BadInput as problem:
                raise BadInput(f"Row {number}: {problem} Name the columns: fs.read(anchors, features=[...]).") from None
    return printed.rules(wanted, names)


# -- calibrated-explanations --------------------------------------------------------------------------------------

_KEYS = {"rule", "predict", "predict_low", "predict_high", "weight", "feature"}
_INTERVALS = "calibrated intervals of the predictions are {width} wide on average (claimed)"


def are_calibrated(thing: Any) -> bool:
    """Whether this is what ``explain_factual`` and its like give, one explanation of it, or a list of those."""
    return bool(_calibrated_rows(thing))


def read_calibrated(thing: Any, wanted: Wanted) -> Explanations:
    """One rule per row: the conjunction of its factual conditions, or of the `top` of them that weigh most.

    A factual explanation is a list of conditions that hold on its row, each with a weight: what the prediction would
    lose if the feature were otherwise. Together they say why the row is predicted as it is, so their conjunction is
    what should be sufficient for the prediction; one condition by itself does not claim to be. The weights are left
    out. `Rules.claimed` keeps the calibrated prediction of every row and its interval, to be held against ours.

    An alternative explanation says what would be predicted elsewhere, and nothing about its own row, and a fast one has
    weights without conditions: they are refused.
    """
    rows = _calibrated_rows(thing)
    odd = next((row for row, item in enumerate(rows) if not _is_calibrated(item)), None)
    if odd is not None:
        raise BadInput(f"Row {odd} is a {type(rows[odd]).__name__} among calibrated explanations: pass one per row.")
    if any(hasattr(row, "is_super_explanation") or not row.binned for row in rows):
        raise BadInput(
            "These are alternative or fast explanations, which are no rules that hold on the rows that they explain: "
            "pass factual ones, explainer.explain_factual(X)."
        )
    names = [str(name) for name in rows[0].get_explainer().feature_names]
    claimed = {key: np.array([float(row.prediction[key]) for row in rows]) for key in ("predict", "low", "high")}
    claimed = {"prediction": claimed.pop("predict"), **claimed, "width": claimed["high"] - claimed["low"]}
    which = "all conditions" if wanted.top is None else f"the {wanted.top} conditions that weigh most"
    told = f"the rule of a row joins {which} of its explanation, without their weights"
    printed = Printed(names, told)
    for row in rows:
        _factual(printed, row, names, wanted.top)
    return printed.rules(wanted, names)._with(claimed=claims(claimed), claim=_INTERVALS)


def _calibrated_rows(thing: Any) -> list[Any]:
    """The explanations of each row; none if this is something else."""
    held = getattr(thing, "explanations", None)
    listed = held if isinstance(held, list) and hasattr(thing, "calibrated_explainer") else one_per_row(thing)
    return list(listed) if _is_calibrated(first_of(listed)) else [thing] if _is_calibrated(thing) else []


def _is_calibrated(thing: Any) -> bool:
    rules = getattr(thing, "rules", None)
    return isinstance(rules, Mapping) and set(rules) >= _KEYS and callable(getattr(thing, "get_explainer", None))


def _factual(printed: Printed, row: Any, names: Sequence[str], top: int | None) -> None:
    """Read the conditions of one row, those on one feature each: others join these."""
    rules, explainer, values = row.rules, row.get_explainer(), row.x_test
    single = [place for place, feature in enumerate(rules["feature"]) if np.ndim(feature) == 0]
    kept = sorted(single, key=lambda place: -abs(float(rules["weight"][place])))[:top]
    printed.rows.append([])
    for place in sorted(kept):
        feature = int(rules["feature"][place])
        labels = explainer.categorical_labels if feature in explainer.categorical_features else None
        known = () if labels is None else labels.get(feature, ())
        texts = known if isinstance(known, Mapping) else dict(enumerate(known))
        texts = {int(code): str(name) for code, name in texts.items()}
        edges = _edges(explainer.discretizer, feature)
        printed.read(str(rules["rule"][place]), names[feature], edges, texts, float(values[feature]))


# -- PyXAI: what ``explainer.to_features(reason, details=True)`` gives ---------------------------------------------

_SIGNED, _THRESHOLD = "operator_sign_considered", "threshold"


def are_pyxai(thing: Any) -> bool:
    """Whether this is the reason of one row, or a list of one per row; texts of reasons are for `Rules.parse`."""
    first = next((row for row in one_per_row(thing) if not isinstance(row, Mapping) or row), None)
    return bool(_literals(thing)) or bool(_literals(first))


def read_pyxai(thing: Any, wanted: Wanted) -> Explanations:
    """Rules over the columns that the model sees, with thresholds in full."""
    wanted.refuse_top("PyXAI's reasons")
    conditions = []
    for row, reason in enumerate([thing] if _literals(thing) else one_per_row(thing)):
        literals = _literals(reason)
        if literals is None:
            raise BadInput(
                f"Row {row} is no reason of PyXAI's with its details ({type(reason).__name__}): pass "
                "explainer.to_features(reason, details=True) for every row."
            )
        codes = [str(getattr(literal[_SIGNED], "value", literal[_SIGNED])) for literal in literals]
        signs = [SPELLINGS.get(code.lower(), code) for code in codes]
        pairs = zip(literals, signs, strict=True)
        conditions.append([(str(literal["name"]), sign, literal[_THRESHOLD]) for literal, sign in pairs])
    return _to_rules(conditions, None, wanted)


def _literals(reason: Any) -> list[Any] | None:
    """The dicts of a reason, which has a list of them per feature; None if this is no reason."""
    if not isinstance(reason, Mapping) or not all(isinstance(part, list | tuple) for part in reason.values()):
        return None
    literals = [literal for part in reason.values() for literal in part]
    known = all(isinstance(literal, Mapping) and {"name", _SIGNED, _THRESHOLD} <= set(literal) for literal in literals)
    return literals if known else None
