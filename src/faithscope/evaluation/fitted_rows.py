"""A note on an explainer that was fitted on the rows it is judged on, if that can be told."""

from typing import Any

from faithscope.inputs.models import owner_of
from faithscope.notes import TOO_HIGH, Note


def fitted_notes(model: Any, explainer: Any, X: Any) -> tuple[str, ...]:
    """A note with the share of rows that an explainer learned its explanations from, with their predictions.

    Only an explainer that fits explanations to predictions of rows is judged too well on them: it has a method
    ``fitted_share``, from rows to a share. A tree that is the model itself was fitted to no predictions.
    """
    share = getattr(explainer, "fitted_share", None)
    if not callable(share) or owner_of(model) is getattr(explainer, "tree", None):
        return ()
    fitted = share(X)
    if not fitted:
        return ()
    told = f"{fitted:.0%} of rows are among those that the explainer was fitted on"
    unless = "" if getattr(explainer, "fitted_on", None) is not None else " unless its tree is the model itself"
    return (Note(told, "rows", advice=f"{TOO_HIGH}{unless}; judge it on other rows"),)
