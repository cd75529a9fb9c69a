"""read(): whatever a caller holds as `Explanations`; as_explanations(): the same, at every door of the package."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.explanations.rule_json import is_structured
from faithscope.inputs.alignment import index_of
from faithscope.inputs.checks import one_sentence
from faithscope.readers import arrays, dice, lime, pairs, rules, shap, tokens
from faithscope.readers.log_entries import has, opened
from faithscope.readers.wanted import ClassIndex, Wanted

_CHANGED = (
    "Explanations look like those of {}, but cannot be read ({{why}}): they were changed, or are of a version that is "
    "not known here. Pass their numbers as fs.Importances(values)."
)
_HOLDERS = ("cf_examples_list", "sequence_attributions", "explanations")  # of dice-ml, inseq, calibrated-explanations


def read(thing: Any, *, class_index: ClassIndex = None, top: int | None = None, features: Any = None) -> Explanations:
    """What another library made, as `Explanations`.

    Every function that takes explanations reads them so by itself; call it to say which class, how many tokens, or
    which features are meant. Objects are recognized by their attributes; no library is imported.

    Parameters
    ----------
    thing : object
        Objects of shap, lime, anchor-exp, alibi, dice-ml, InterpretML, captum, Quantus, inseq, ferret,
        interpreto, transformers-interpret, PyXAI or calibrated-explanations, or a list of them, one per row; tensors
        of torch, TensorFlow or JAX; scipy's sparse matrices; dicts of a number per feature; conditions as dicts with
        the keys feature, op and value, or lists of them; sets of words; arrays and tables.
    class_index : int or "predicted", optional
        The class explained, where a library explains several. By default class 1 of two, and all classes one after the
        other if there are more.
    top : int, optional
        How many tokens of a text are highlighted: those largest in size; by default 5.
    features : sequence of str, optional
        The features, in the order that importances are to have; by default all, as the library has them.

    Returns
    -------
    Explanations

    Examples
    --------
    >>> read([{"age": 0.3, "job": -0.1}, {"job": 0.2}]).describe(1)
    'age 0, job 0.2'
    >>> read([{"great"}, {"dull", "plot"}])
    <2 explanations: highlighted words>
    >>> read([{"feature": "age", "op": ">=", "value": 60}, {"feature": "age", "op": "<", "value": 30}]).describe(1)
    'age < 30'
    """
    return as_explanations(thing, Wanted.of(class_index, top, features))


def as_explanations(given: Any, wanted: Wanted | None = None) -> Explanations:
    """Whatever a caller has as `Explanations`, or what of it is wanted; see `read`.

    Examples
    --------
    >>> as_explanations([[0.5, -0.1], [0.0, 0.2]])
    <2 explanations: importances over 2 features>
    >>> as_explanations(["leaf 3", "leaf 7"])
    <2 explanations: plain keys>
    """
    wanted = wanted or Wanted()
    if isinstance(given, Importances):
        wanted.refuse("these importances were read before", "class_index")
        return wanted.ordered(given)
    known = isinstance(given, Explanations)
    found = None if known else _of_library(given, wanted)
    if found is None:
        found = given if known else arrays.read(given, wanted)
        if not isinstance(found, Importances):
            wanted.refuse(f"these are {found.kind}")
    index = index_of(given) if found.index is None else None
    return found if index is None or len(index) != len(found) else found._with(index=index)


def _of_library(given: Any, wanted: Wanted) -> Explanations | None:
    """Objects that a library made, one or one per row, read by the first line of the table that knows them."""
    held = next((held for name in _HOLDERS if isinstance(held := getattr(given, name, None), list)), given)
    column = getattr(held, "dtype", None) == np.dtype("O") and np.ndim(held) == 1
    rows = held if column or isinstance(held, list | tuple) else [held]
    if held is not given and not held:
        raise BadInput(f"There are no explanations in this {type(given).__name__}: explain at least one row.")
    first = _opened(next((item for item in rows if not _is_empty(item)), next(iter(rows), None)))
    for library, recognizes, reads in READERS:
        if recognizes(first):
            with one_sentence(_CHANGED.format(library)):
                return reads(_alike(rows, library, recognizes), wanted)
    return None


def _is_empty(item: Any) -> bool:
    return isinstance(item, Mapping | list) and not item


def _opened(item: Any) -> Any:
    """What the JSON text of an object, or of a list of them, holds; anything else as it is."""
    held = opened(item)
    objects = isinstance(held, list) and held and all(isinstance(each, dict) for each in held)
    return held if isinstance(held, dict) or objects else item


def _alike(items: Iterable[Any], library: str, recognizes: Callable[[Any], bool]) -> list[Any]:
    """The objects of one library, one per row; empty rows, and texts with conditions, are for the reader to judge."""
    rows = list(map(_opened, items))
    for row, item in enumerate(rows):
        if not (recognizes(item) or _is_empty(item) or (library == "conditions" and isinstance(item, str))):
            raise BadInput(
                f"Row {row} is a {type(item).__name__}, and not of the kind of other rows ({library}): pass one kind "
                "of explanation for all rows."
            )
    return rows


# -- the table --------------------------------------------------------------------------------------------------------


def _having(*attributes: str) -> Callable[[Any], bool]:
    return lambda item: has(item, *attributes)


def _interpret(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    """Importances over terms, interactions included, one row for each row that ``explain_local`` explained."""
    (local,) = rows
    if local.explanation_type != "local":
        raise BadInput("This explanation of InterpretML is a global one: pass ebm.explain_local(X), one per row.")
    held = local.data(-1)["specific"]
    names = list(map(str, held[0]["names"]))
    scores = np.array([row["scores"] for row in held], np.float64)
    if scores.ndim < 3:
        return wanted.of_one(scores, names)
    titles = list(map(str, held[0].get("meta", {}).get("label_names", range(scores.shape[2]))))
    outputs = scores.sum(axis=1) + np.array([np.sum(row["extra"]["scores"], axis=0) for row in held])
    return wanted.of_classes(scores, names, titles, outputs)


def _texts(parts: Callable[[Any], tokens.Parts], rows: Sequence[Any], wanted: Wanted) -> Explanations:
    """The largest words of texts, from the tokens of each and their numbers."""
    return tokens.highlighted(map(parts, rows), wanted)


Reader = tuple[str, Callable[[Any], bool], Callable[[Sequence[Any], Wanted], Explanations]]

READERS: tuple[Reader, ...] = (  # the first that recognizes the first row reads all
    ("shap", shap.recognizes, shap.read),
    ("lime", lime.recognizes, lime.read),
    ("anchors", rules.are_anchors, rules.read_anchors),
    ("dice", dice.recognizes, dice.read),
    ("pyxai", rules.are_pyxai, rules.read_pyxai),
    ("calibrated", rules.are_calibrated, rules.read_calibrated),
    ("interpret", _having("explanation_type", "selector", "data"), _interpret),
    ("captum", _having("seq_attr", "input_tokens"), partial(_texts, tokens.captum)),
    ("ferret", _having("tokens", "scores", "explainer"), partial(_texts, tokens.ferret)),
    ("inseq", _having("source_attributions", "target"), partial(_texts, tokens.inseq)),
    ("interpreto", _having("elements", "attributions"), partial(_texts, tokens.interpreto)),
    ("conditions", is_structured, rules.read_conditions),
    ("mappings", pairs.recognizes, pairs.read),
)
