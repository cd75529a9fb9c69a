"""From what a caller chose (an object, a function, the paper's word) to a discretizer, and to coarser explanations."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from faithscope.discretizers.base import Discretizer, Original
from faithscope.discretizers.counterfactuals import Delta, DeltaSign, Modified
from faithscope.discretizers.importances import Floor, Rank, Sign, SignOfTop, TopFeatures
from faithscope.discretizers.reason_codes import ReasonCodes
from faithscope.discretizers.reasons.codebook import Codebook
from faithscope.discretizers.reasons.phrases import CommonPhrases
from faithscope.discretizers.reasons.template import Template
from faithscope.discretizers.regions import TopRegions, usual_pool
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.importances import Importances, Rankings
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.checks import check_function
from faithscope.readers import as_explanations

Discretize = Callable[[Explanations], Any] | str  # a discretizer, a function like one, or the paper's word for one

# Words with what they make, and an example of those with something in them.
_WORDS: tuple[tuple[str, Callable[..., Discretizer], str], ...] = (
    ("original", Original, ""),
    ("sign", Sign, ""),
    ("rank", Rank, ""),
    ("delta", Delta, ""),
    ("delta-sign", DeltaSign, ""),
    ("is-feature-modified", Modified, ""),
    ("template", Template, ""),
    (r"(\d{1,2})-fp", lambda many: Floor(int(many)), "1-fp, 2-fp, …"),
    (r"sign-of-top-(\d{1,6})", lambda k: SignOfTop(int(k)), "sign-of-top-5, …"),
    (r"top-features-(\d{1,6})", lambda k: TopFeatures(int(k)), "top-features-5, …"),
    (
        r"(ordered-)?reason-codes-(\d{1,6})(?:-against-(.+))?",
        lambda ordered, k, label: ReasonCodes(int(k), against=label, ordered=ordered is not None),
        "reason-codes-4-against-LABEL, ordered-reason-codes-4, …",
    ),
    (r"common-phrases-(\d{1,6})", lambda k: CommonPhrases(int(k)), "common-phrases-20, …"),
    (r"(?s)codebook:(.*)", Codebook.load, "codebook:FILE.json"),
)


def usual(explanations: Explanations) -> list[Discretizer]:
    """The paper's discretizers for this kind of explanations, the finest first; of maps, by region."""
    if isinstance(explanations, Importances) and not isinstance(explanations, Rankings):
        pool = usual_pool(explanations)
        if pool is not None:
            return [Original(), *(pool | each for each in (Floor(1), Sign(), Rank(), SignOfTop(3), TopRegions(3)))]
        return [Original(), Floor(2), Floor(1), Sign(), Rank(), SignOfTop(5)]
    return [Delta(), DeltaSign(), Modified()] if isinstance(explanations, Counterfactuals) else [Original()]


def to_discretizer(given: Any) -> Callable[[Explanations], Any] | None:
    """A discretizer from an object, a function, the paper's word for one (``"sign-of-top-5"``), or None for none."""
    if isinstance(given, str):
        return from_word(given)
    if given is None:
        return None
    if isinstance(given, type) or not callable(given):
        raise WrongType(
            f"discretizer={given!r} cannot be applied: pass an object such as fs.Sign(), or a word such as 'sign'."
        )
    discretizer: Callable[[Explanations], Any] = check_function(given, "discretizer", "explanations")
    return discretizer


def from_word(word: str) -> Discretizer:
    """The discretizer of this word: the paper's ``1-fp``, ``sign-of-top-5``, ``delta-sign``; ``codebook:codes.json``.

    Examples
    --------
    >>> from_word("2-FP")
    Floor(decimals=2)
    """
    for pattern, make, _ in _WORDS:
        match = re.fullmatch(pattern, word.strip(), re.IGNORECASE)
        if match is not None:
            return make(*match.groups())
    examples = [example or pattern for pattern, _, example in _WORDS]
    words = [example.partition(",")[0] for example in examples]
    close = get_close_matches(word.strip().casefold(), words, 1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    raise BadInput(f"No discretizer is called {word!r}. Known: {', '.join(examples)}.{meant}")


def discretize(explanations: Explanations, discretizer: Discretize | None) -> Explanations:
    """The explanations, coarsened if a discretizer is given: an object, its word, or any function of explanations."""
    chosen = to_discretizer(discretizer)
    # A function of the caller's knows what axes are.
    reads_maps = chosen.reads_maps if isinstance(chosen, Discretizer) else chosen is not None
    if isinstance(explanations, Importances) and explanations.doubt and not reads_maps:
        raise BadInput(explanations.doubt)
    if chosen is None or isinstance(chosen, Original):
        return explanations
    coarser = as_explanations(chosen(explanations))
    if len(coarser) != len(explanations):
        raise BadInput(
            f"{chosen!r} made {len(coarser):,} explanations of {len(explanations):,}: "
            "a discretizer must give one explanation per row."
        )
    same_rows(explanations=explanations, discretized=coarser)
    if isinstance(explanations, Importances):
        if explanations.doubt and explanations.shape and not coarser.remarks:
            axes = " x ".join(map(str, explanations.shape))
            coarser = coarser._with(remarks=(f"axes of {axes} were taken for a map or a series, not for classes",))
        if isinstance(coarser, Importances):
            coarser = coarser._with(error=coarser.error or explanations.error)
    if coarser.index is None and explanations.index is not None:
        coarser = coarser._with(index=explanations.index)
    return coarser
