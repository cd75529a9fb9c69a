"""The precision that explanations claim, beside the one that was measured on the rows of the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.report.wording import plain, wording

_MOST_LINES = 8
_COLUMNS = ("n", "claimed", "precision", "precision_low", "precision_high")


@dataclass(frozen=True)
class Claims:
    """What explanations claim of themselves, and whether these rows agree.

    Attributes
    ----------
    sentence : str
        How many claims lie within the interval of what was measured.
    lines : tuple of dict
        Claims that do not, and then those of the explanations that most rows were given.
    """

    sentence: str
    lines: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, columns: Mapping[str, Any], confidence: float) -> "Claims":
        """From the table of explanations, `Evaluation.scopes`."""
        verdicts = np.asarray(columns["claim"], object)
        off = np.isin(verdicts.astype(str), ("too high", "too low"))
        order = np.lexsort((-np.asarray(columns["n"]), ~off))[:_MOST_LINES]
        return cls(_sentence(verdicts, confidence), tuple(_line(columns, int(row)) for row in order))


def _sentence(verdicts: Any, confidence: float) -> str:
    many = {verdict: int(np.sum(verdicts == verdict)) for verdict in ("holds", "too high", "too low")}
    checked = sum(many.values())
    if not checked:
        return "These explanations claim a precision of their own, which no row here can check."
    off = ", ".join(f"{count:,} {word}" for word, count in many.items() if word != "holds" and count)
    return (
        f"These explanations claim a precision of their own. On these rows {many['holds']:,} of {checked:,} claims lie "
        f"within the {confidence:.0%} interval of the measured precision{'; ' + off if off else ''}. Of many intervals "
        "a few fail by chance, and a claim may be about other inputs, such as perturbed rows."
    )


def _line(columns: Mapping[str, Any], row: int) -> dict[str, Any]:
    texts = {"explanation": columns["explanation"][row], "label": columns["label"][row]}
    numbers = {name: plain(columns[name][row]) for name in _COLUMNS}
    verdict = columns["claim"][row]
    return {**{name: wording(text) for name, text in texts.items()}, **numbers, "verdict": verdict or "not checked"}
