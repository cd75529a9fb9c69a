"""Rationales: what a log says together, taken apart for measures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.reasons import Reasons
from faithscope.readers.rationales.entries import opened
from faithscope.visible import visible


@dataclass(frozen=True, eq=False, repr=False)
class Rationales:
    """Rationales of a log, with the predictions that they explain and the inputs that they are about.

    Made by `read_rationales`. Every measure takes its parts: ``fs.consistency(r.reasons, r.predictions)``.

    Attributes
    ----------
    reasons : Reasons
        The rationales as texts, with their inputs as texts if the log has them. Their notes say how they were read.
    predictions : (n,) array
        What was decided: the model's answer, or the judge's verdict.
    inputs : (n,) array
        What it was decided about, as the log has it; None for a row without one.
    ids : (n,) array
        Which case each row is, as the log has it; None for a row without one. Repeated ones are ``clusters=``.

    Examples
    --------
    >>> from faithscope import read_rationales
    >>> rationales = read_rationales([{"input": "Win money!", "answer": "spam", "explanation": "It offers money."}])
    >>> rationales
    <1 rationale, with predictions and inputs>
    """

    reasons: Reasons
    predictions: NDArray[Any]
    inputs: NDArray[Any]
    ids: NDArray[Any]

    def __len__(self) -> int:
        return len(self.predictions)

    def __repr__(self) -> str:
        known = {"inputs": self.inputs, "ids": self.ids}
        held = ["predictions", *(name for name, column in known.items() if any(item is not None for item in column))]
        many = "rationale" if len(self) == 1 else "rationales"
        return f"<{len(self):,} {many}, with {', '.join(held[:-1])}{' and ' * (len(held) > 1)}{held[-1]}>"

    @property
    def notes(self) -> tuple[str, ...]:
        """How the log was read, and what was left out."""
        return self.reasons.notes

    def to_frame(self) -> Any:
        """A pandas table with the columns id, input, prediction and rationale."""
        import pandas as pd

        columns = {
            "id": self.ids,
            "input": self.inputs,
            "prediction": self.predictions,
            "rationale": self.reasons.texts,
        }
        return pd.DataFrame({name: list(column) for name, column in columns.items()})

    def input_table(self) -> Any:
        """Inputs that are dicts of features, or their JSON, as a pandas table: the rows of a measure of rules.

        Examples
        --------
        >>> from faithscope import read_rationales
        >>> why = '{"feature": "age", "op": "<", "value": 30}'
        >>> log = [{"input": {"age": age}, "answer": "no", "explanation": why} for age in (25, 29)]
        >>> rationales = read_rationales(log)
        >>> rationales.reasons.to_rules(rationales.input_table()).describe(0)
        'age < 30'
        """
        import pandas as pd

        rows = [opened(given) for given in self.inputs]
        odd = next((row for row, given in enumerate(rows) if not isinstance(given, Mapping)), None)
        if odd is not None:
            seen = visible(repr(self.inputs[odd])[:60])
            raise BadInput(
                f"The input of row {odd} is no dict of features ({seen}): pass the table of rows that you have."
            )
        return pd.DataFrame([dict(given) for given in rows])
