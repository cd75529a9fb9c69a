"""Template: reasons without the words of the input that they are about, and without the labels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from faithscope.discretizers.base import Discretizer
from faithscope.discretizers.reasons import to_reasons
from faithscope.discretizers.reasons.words import INPUT, LABEL, STOP_WORDS, WordSequences, label_phrases
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.reasons import Reasons
from faithscope.inputs.arrays import to_items, to_objects
from faithscope.inputs.documents import fold


@dataclass(frozen=True)
class Template(Discretizer):
    """The form of a reason: words of its own input become ``<input>``, names of labels become ``<label>``.

    "A man sleeps, so he is not awake" and "A dog runs, so he is not asleep" become one explanation if these words are
    in their inputs. Words are compared as folded; stop words ("the", "is", "not") stay, and neighbors that are blanked
    become one blank. Reasons need their inputs: ``fs.Reasons(texts, inputs)``. Since it reads the input besides the
    reason, what is measured on templates bounds nothing for the reasons themselves.

    Parameters
    ----------
    labels : list, optional
        The labels whose names become ``<label>``; by default all that the model predicted here, and none if the
        template is called by itself. Never a row's own label alone, which would tell what was predicted.

    Examples
    --------
    >>> from faithscope import Reasons
    >>> reasons = Reasons(["A dog is no cat, so it is a contradiction."], inputs=["There is a dog. There is a cat."])
    >>> Template(["contradiction"])(reasons).describe(0)
    'a <input> is no <input> so it is a <label>'
    """

    labels: Sequence[Any] | None = None

    reads_rows = True
    asks_labels = True
    subject = "the explainer that gives templates, which read x (not the reasons themselves)"

    def __post_init__(self) -> None:
        if self.labels is not None:
            self._fill(labels=tuple(to_items(self.labels, "Template's labels")))

    def _knowing_labels(self, labels: Iterable[Any]) -> "Template":
        return self if self.labels is not None else replace(self, labels=tuple(labels))

    def __call__(self, explanations: Explanations) -> Reasons:
        reasons = to_reasons(self, explanations)
        without = sum(about is None for about in reasons.about)
        if without:
            raise BadInput(
                f"{without:,} of {len(reasons):,} reasons come without their inputs, whose words Template() blanks: "
                "pass fs.Reasons(texts, inputs)."
            )
        names = WordSequences(label_phrases(self.labels or ()))
        blank = cache(partial(_template, names))
        texts = to_objects([blank(*pair) for pair in zip(reasons.folded, reasons.about, strict=True)])
        coarse = Reasons._of(texts=texts, folded=texts, about=reasons.about, form="Template()")
        return coarse._with(index=reasons.index, remarks=reasons.remarks)


def _template(labels: WordSequences, folded: str, about: str) -> str:
    """The text with marks in place of words of its input and of labels; marks in a row are one."""
    known = set(fold(about).split()) - STOP_WORDS
    words = [INPUT if word in known else word for word in labels.replaced(folded.split(), LABEL)]
    return " ".join(
        word for place, word in enumerate(words) if word not in (INPUT, LABEL) or words[place - 1 : place] != [word]
    )
