"""InterpretML's local explanations: importances over terms, interactions included."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.readers.shared.classes import chosen, of_two
from faithscope.readers.shared.wanted import Wanted


def recognizes(thing: Any) -> bool:
    """Whether this is what ``explain_local`` gives; arrays of ``eval_terms`` are read as any array."""
    return hasattr(thing, "explanation_type") and hasattr(thing, "selector") and callable(getattr(thing, "data", None))


def read(thing: Any, wanted: Wanted) -> Explanations:
    """Importances over terms, one row for each row explained."""
    if thing.explanation_type != "local":
        raise BadInput("This explanation of InterpretML is a global one: pass ebm.explain_local(X), one per row.")
    rows = thing.data(-1)["specific"]
    if not rows:
        raise BadInput("This explanation of InterpretML has no rows: explain at least one.")
    names = [str(name) for name in rows[0]["names"]]
    scores = np.array([np.asarray(row["scores"], np.float64) for row in rows])
    if scores.ndim < 3:
        scores, remarks = of_two(scores, wanted)
        return wanted.importances(scores, names, *remarks)
    titles = [str(label) for label in rows[0].get("meta", {}).get("label_names", range(scores.shape[2]))]
    values, kept, left = wanted.per_class(scores, names)
    outputs = scores.sum(axis=1) + np.array([np.sum(row["extra"]["scores"], axis=0) for row in rows])
    flat, named, remarks, label = chosen(values, kept, wanted.class_index, titles, outputs)
    return left.importances(flat, named, *remarks, label=label)
