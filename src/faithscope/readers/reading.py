"""read(): whatever a caller holds as `Explanations`; as_explanations(): the same, at every door of the package."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.explanations.rule_json import Unreadable, is_structured, json_value, structured_rules
from faithscope.inputs.alignment import index_of
from faithscope.inputs.checks import one_sentence
from faithscope.readers import arrays, dice, lime, pairs, rules, shap, tokens
from faithscope.readers.wanted import ClassIndex, Wanted, one_per_row, rows_of_objects

_CHANGED = (
    "Explanations look like those of {}, but cannot be read ({{why}}): they were changed, or are of a version that is "
    "not known here. Pass their numbers as fs.Importances(values)."
)


def read(thing: Any, *, class_index: ClassIndex = None, top: int | None = None, features: Any = None) -> Explanations:
    """What another library made, as `Explanations`.

    Every function that takes explanations reads them so by itself; call it to say which class, how many tokens, or
    which features are meant. Objects are recognized by their attributes; no library is imported.

    Parameters
    ----------
    thing : object
        Objects of shap, shapiq, lime, anchor-exp, alibi, dice-ml, InterpretML, captum, Quantus, inseq, ferret,
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
        wanted.refuse_class("these importances were read before")
        return wanted.ordered(given)
    if isinstance(given, Explanations):
        wanted.refuse_all(given.kind)
        return given
    for library, recognizes, reads in READERS:
        if recognizes(given):
            with one_sentence(_CHANGED.format(library)):
                found = reads(given, wanted)
            break
    else:
        found = arrays.read(given, wanted)
    index = index_of(given) if found.index is None else None
    return found if index is None or len(index) != len(found) else found._with(index=index)


# -- InterpretML --------------------------------------------------------------------------------------------------


def _is_interpret(thing: Any) -> bool:
    """Whether this is what ``explain_local`` gives; arrays of ``eval_terms`` are read as any array."""
    return hasattr(thing, "explanation_type") and hasattr(thing, "selector") and callable(getattr(thing, "data", None))


def _read_interpret(thing: Any, wanted: Wanted) -> Explanations:
    """Importances over terms, interactions included, one row for each row explained."""
    if thing.explanation_type != "local":
        raise BadInput("This explanation of InterpretML is a global one: pass ebm.explain_local(X), one per row.")
    rows = thing.data(-1)["specific"]
    if not rows:
        raise BadInput("This explanation of InterpretML has no rows: explain at least one.")
    names = [str(name) for name in rows[0]["names"]]
    scores = np.array([np.asarray(row["scores"], np.float64) for row in rows])
    if scores.ndim < 3:
        scores, remarks = arrays.of_two(scores, wanted)
        return wanted.importances(scores, names, *remarks)
    titles = [str(label) for label in rows[0].get("meta", {}).get("label_names", range(scores.shape[2]))]
    outputs = scores.sum(axis=1) + np.array([np.sum(row["extra"]["scores"], axis=0) for row in rows])
    return arrays.of_classes(scores, names, titles, wanted, outputs)


def _interactions(thing: Any) -> list[Any]:
    """What shapiq gives, an object per row, of one or of a list; none of anything else."""
    return rows_of_objects(thing, "get_n_order_values", "max_order")


def _read_interactions(thing: Any, wanted: Wanted) -> Explanations:
    """Importances of single features."""
    rows = _interactions(thing)
    wanted.refuse_class("these values are of the class that shapiq was made for")
    left = any(row.max_order > 1 for row in rows)
    remarks = ("interactions of several features are left out: these are values of single ones",) if left else ()
    return wanted.importances(np.array([row.get_n_order_values(1) for row in rows]), None, *remarks)


# -- conditions as dicts, {"feature", "op", "value"}, or their JSON, one rationale per row ---------------------------


def _are_conditions(thing: Any) -> bool:
    """Whether the first row that holds anything is such a dict, a list of them, or the JSON of either and no more."""
    first = next((row for row in one_per_row(thing) if not isinstance(row, str | Mapping | list) or row), None)
    if not isinstance(first, str):
        return is_structured(first)
    try:
        return first.lstrip()[:1] in ("{", "[") and is_structured(json_value(first))
    except Unreadable:
        return False


def _read_conditions(thing: Any, wanted: Wanted) -> Explanations:
    """Rules over the features that the caller names, or those that conditions name."""
    wanted.refuse_class("these are rules")
    wanted.refuse_top("conditions")
    return structured_rules(one_per_row(thing), wanted.features, "error")


Reader = tuple[str, Callable[[Any], bool], Callable[[Any, Wanted], Explanations]]

READERS: tuple[Reader, ...] = (  # the first that recognizes a thing reads it
    ("shap", shap.recognizes, shap.read),
    ("lime", lime.recognizes, lime.read),
    ("anchors", rules.are_anchors, rules.read_anchors),
    ("dice", dice.recognizes, dice.read),
    ("pyxai", rules.are_pyxai, rules.read_pyxai),
    ("calibrated", rules.are_calibrated, rules.read_calibrated),
    ("interpret", _is_interpret, _read_interpret),
    ("shapiq", lambda thing: bool(_interactions(thing)), _read_interactions),
    *tokens.READERS,
    ("structured", _are_conditions, _read_conditions),
    ("mappings", pairs.recognizes, pairs.read),
)
