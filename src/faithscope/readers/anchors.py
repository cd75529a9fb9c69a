"""Anchors: anchor-exp's and alibi's objects, one per row, of tables as rules and of texts as highlights."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.rules import Rules
from faithscope.explanations.tokenizers import split_lower_words, split_words
from faithscope.readers.shared.conditions import claims, printed_rules
from faithscope.readers.shared.printed import Column, Read, edges_of, read_condition
from faithscope.readers.shared.rows import first_of, one_per_row
from faithscope.readers.shared.wanted import Wanted

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


def recognizes(thing: Any) -> bool:
    """Whether this is one anchor, or a list of them: objects, or what alibi's ``to_json()`` writes."""
    return _to_anchor(thing) is not None or _to_anchor(first_of(thing)) is not None


def read(thing: Any, wanted: Wanted) -> Explanations:
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
    explanations: Explanations = _highlights(rows, wanted) if texts else _rules(rows, wanted)
    return explanations._with(claimed=claimed, claim=_CLAIM)


def _to_anchor(thing: Any) -> Anchor | None:
    """What anchor-exp or alibi made, as an anchor; None for anything else."""
    if isinstance(getattr(thing, "exp_map", None), Mapping) and callable(getattr(thing, "names", None)):
        explainer = getattr(getattr(thing, "as_html_fn", None), "__self__", None)
        return _from_map(thing.names(), thing.precision(), thing.coverage(), thing.exp_map, explainer)
    saved = _as_saved(thing)
    if saved is None:
        return None
    raw = saved.get("raw")
    if np.ndim(saved["anchor"]) > 1 or not isinstance(raw, Mapping):
        raise BadInput(
            "These anchors of alibi are pieces of images, which are no rules: pass their masks as an array, "
            "fs.Importances(values) of shape (n_rows, height, width)."
        )
    return _from_map(saved["anchor"], saved["precision"], saved["coverage"], raw, None)


def _as_saved(thing: Any) -> Mapping[str, Any] | None:
    """The data of alibi's object, of its JSON, or of the dict of that."""
    if isinstance(thing, str) and '"anchor"' in thing:
        try:
            thing = json.loads(thing)
        except ValueError:
            return None
    held = thing if isinstance(thing, Mapping) else getattr(thing, "__dict__", {})  # alibi's objects have no others
    data = held.get("data") if "meta" in held else None
    known = isinstance(data, Mapping) and {"anchor", "precision", "coverage", "raw"} <= set(data)
    return data if known else None


def _from_map(names: Any, precision: Any, coverage: Any, raw: Mapping[str, Any], explainer: Any) -> Anchor:
    positions = list(dict.fromkeys(int(position) for position in raw["feature"]))  # a range has its feature twice
    precise = float(np.asarray(precision, np.float64).reshape(-1)[-1])
    covered = float(np.asarray(coverage, np.float64).reshape(-1)[-1])
    return Anchor([str(name) for name in names], positions, raw.get("instance"), precise, covered, explainer)


def _highlights(rows: Sequence[Anchor], wanted: Wanted) -> Highlights:
    if wanted.class_index is not None or wanted.top is not None:
        raise BadInput("Anchors have all their words in them, of one class: leave class_index= and top= out.")
    words = [{part for token in row.conditions for part in split_words(token)} for row in rows]
    lower = all(word == word.lower() for row in words for word in row)
    return Highlights(words, split_lower_words if lower else split_words)


def _rules(rows: Sequence[Anchor], wanted: Wanted) -> Rules:
    if wanted.top is not None:
        raise BadInput("top= chooses tokens of a text, and these are anchors of a table: leave it out.")
    names = _names(rows[0].explainer)
    conditions = [_read_row(number, row, names or wanted.features) for number, row in enumerate(rows)]
    return printed_rules(conditions, names, wanted)


def _read_row(row: int, anchor: Anchor, names: Sequence[str] | None) -> list[Read]:
    """The conditions of one row's anchor."""
    if len(anchor.positions) != len(anchor.conditions):
        raise BadInput(
            f"Row {row} is an anchor of {len(anchor.conditions)} conditions on {len(anchor.positions)} features: "
            "pass it as it was made."
        )
    try:
        return [
            read_condition(text, _column(anchor, position, names), names)
            for text, position in zip(anchor.conditions, anchor.positions, strict=True)
        ]
    except BadInput as problem:
        raise BadInput(f"Row {row}: {problem} Name the columns: fs.read(anchors, features=[...]).") from None


def _names(explainer: Any) -> tuple[str, ...] | None:
    """The names of all columns, as the explainer has them."""
    names = getattr(explainer, "feature_names", None)
    return None if names is None else tuple(map(str, names))


def _column(anchor: Anchor, position: int, names: Sequence[str] | None) -> Column:
    """What is known of a column."""
    name = names[position] if names is not None and position < len(names) else None
    given = anchor.instance
    value = given[position] if given is not None and position < len(given) else None
    code = float(value) if isinstance(value, int | float | np.number) and np.isfinite(value) else None
    ordinal = position in getattr(anchor.explainer, "ordinal_features", ())
    named = {} if ordinal else getattr(anchor.explainer, "categorical_names", {}).get(position, ())
    texts = {place: str(text) for place, text in enumerate(named)}
    return Column(name, edges_of(getattr(anchor.explainer, "disc", None), position), texts, code)
