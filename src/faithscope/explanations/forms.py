"""What is left of importances after discretizers: their form is these in turn, as ``Floor(decimals=1) | Sign()``."""

SIGNS = ("Sign(", "SignOfTop(", "DeltaSign(")  # the last discretizers that leave signs, without sizes
MARKS = ("TopFeatures(", "TopRegions(", "Modified(")  # those that leave only which features
CODES = "ReasonCodes("  # that which leaves the features with the most negative importances, with or without their order
NO_CODE = "no negative importance"


def last_step(form: str) -> str:
    """The last discretizer of a form; empty if there is none."""
    return form.rpartition(" | ")[2]


def are_codes(form: str) -> bool:
    """Whether importances have become reason codes."""
    return last_step(form).startswith(CODES)


def have_order(form: str) -> bool:
    """Whether importances have become reason codes in order, numbered from 1."""
    return are_codes(form) and form.endswith("ordered=True)")  # a label before it ends in a quotation mark or a digit


def only_named(form: str) -> bool:
    """Whether a description names features without their values."""
    return last_step(form).startswith(("TopRegions(", "TopFeatures(", CODES))
