"""What every result can do with itself: Markdown, a page, a notebook's cell, MLflow."""

import os
from abc import ABC, abstractmethod
from typing import Any

from faithscope.sinks import markdown, page
from faithscope.sinks.card import Card
from faithscope.sinks.flat_numbers import flat_numbers

_PREFIX = "faithscope"


class Shareable(ABC):
    """A result that can be shared: it says what its `_card` is, and the sinks write it.

    Examples
    --------
    >>> from faithscope import consistency
    >>> print(consistency(["old", "old", "young"], [1, 1, 0]).to_markdown().splitlines()[0])
    ### consistency
    """

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""

    @abstractmethod
    def _card(self) -> Card:
        """What is shown of it in a few lines and tables."""

    def _card_and_page(self) -> tuple[Card, str]:
        """The card, and an HTML page that needs no network."""
        card = self._card()
        return card, page.page(card)

    def to_markdown(self) -> str:
        """The verdict, the numbers and the notes as GitHub-flavored Markdown, for a model card or a pull request.

        Names are escaped: they are never markup, never links, and notify nobody.
        """
        return markdown.render(self._card())

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a page that anybody can open: one HTML file that needs no network."""
        from faithscope.runtime.files import write_atomically

        write_atomically(path, self._card_and_page()[1].encode(errors="replace"), private=True)

    def to_mlflow(self, *, run_id: str | None = None, prefix: str = _PREFIX) -> str:
        """Log the numbers to an MLflow run, with the page, the JSON and the Markdown as artifacts.

        Metrics are called ``faithscope.consistency.value``, ``.low``, ``.high``, ``.limit``, ``.unverifiable``,
        ``.verified``, ``.chance`` and ``.n``; those of several explainers or populations have their names in between.
        What is undefined is no metric: the tag ``faithscope.undefined`` lists it. Settings are parameters.

        Parameters
        ----------
        run_id : str, optional
            The run to write to. By default the active run, or a new one if none is active.
        prefix : str
            What all names begin with, and the folder of the artifacts.

        Returns
        -------
        str
            The id of the run.
        """
        from faithscope.sinks import mlflow

        return mlflow.log(mlflow.Told(self.to_dict(), *self._card_and_page()), run_id, prefix)

    def metrics(self) -> dict[str, float]:
        """All measured numbers under flat names, as experiment trackers take them; those undefined are left out.

        Of a curve or of windows of time, where one name has several numbers, it is the last one.

        Examples
        --------
        >>> from faithscope import consistency
        >>> round(consistency(["old", "old", "young"], [1, 1, 0]).metrics()["consistency.value"], 3)
        0.667
        """
        numbers = flat_numbers(self.to_dict(), _PREFIX)
        return {number.name[len(_PREFIX) + 1 :]: number.value for number in numbers if number.value is not None}

    def _repr_html_(self) -> str:
        return page.fragment(self._card())
