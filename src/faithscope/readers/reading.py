"""read(): whatever a caller holds as `Explanations`; as_explanations(): the same, at every door of the package."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from faithscope.errors import BadInput, FaithscopeError
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.inputs.alignment import index_of
from faithscope.readers import (
    anchors,
    calibrated,
    captum,
    dice,
    ferret,
    inseq,
    interpret,
    interpreto,
    lime,
    mappings,
    plain,
    pyxai,
    shap,
    structured,
)
from faithscope.readers.shared.classes import of_class
from faithscope.readers.shared.wanted import ClassIndex, Wanted

READERS: tuple[ModuleType, ...] = (
    shap,
    lime,
    anchors,
    dice,
    pyxai,
    calibrated,
    interpret,
    captum,
    ferret,
    inseq,
    interpreto,
    structured,
    mappings,
)  # the first that recognizes a thing reads it


def read(thing: Any, *, class_index: ClassIndex = None, top: int | None = None, features: Any = None) -> Explanations:
    """What another library made, as `Explanations`.

    Every function that takes explanations reads them so by itself; call it to say which class, how many tokens, or
    which features are meant. Objects are recognized by their attributes; no library is imported.

    Parameters
    ----------
    thing : object
        Objects of shap, lime, anchor-exp, alibi, dice-ml, InterpretML, captum, Quantus, inseq, ferret, interpreto,
        transformers-interpret, PyXAI or calibrated-explanations, or a list of them, one per row; tensors of torch,
        TensorFlow or JAX; scipy's sparse matrices; dicts of a number per feature; conditions as dicts with the keys
        feature, op and value, or lists of them; sets of words; arrays and tables.
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
    return _indexed(thing, _read(thing, Wanted.of(class_index, top, features)))


def as_explanations(given: Any) -> Explanations:
    """Whatever a caller has as `Explanations`; see `read`.

    Examples
    --------
    >>> as_explanations([[0.5, -0.1], [0.0, 0.2]])
    <2 explanations: importances over 2 features>
    >>> as_explanations(["leaf 3", "leaf 7"])
    <2 explanations: plain keys>
    """
    return _indexed(given, _read(given, Wanted()))


def _read(thing: Any, wanted: Wanted) -> Explanations:
    if isinstance(thing, Importances):
        wanted.refuse_class("these importances were read before")
        return wanted.ordered(thing)
    if isinstance(thing, Explanations):
        wanted.refuse_all(thing.kind)
        return thing
    for reader in READERS:
        if reader.recognizes(thing):
            with understood(reader.__name__.rpartition(".")[2]):
                explanations: Explanations = reader.read(thing, wanted)
                return explanations
    values, remarks = of_class(thing, wanted)
    return plain.read(values, wanted, remarks)


@contextmanager
def understood(library: str) -> Iterator[None]:
    """Raise one sentence if an object has the attributes of a library's, but not its content."""
    try:
        yield
    except FaithscopeError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError) as why:
        raise BadInput(
            f"Explanations look like those of {library}, but cannot be read ({type(why).__name__}: {why}): they were "
            "changed, or are of a version that is not known here. Pass their numbers as fs.Importances(values)."
        ) from why


def _indexed(given: Any, explanations: Explanations) -> Explanations:
    index = index_of(given) if explanations.index is None else None
    return explanations if index is None or len(index) != len(explanations) else explanations._with(index=index)
