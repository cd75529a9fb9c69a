"""What every result can do with itself: a line, a dictionary, a card, and these as Markdown, a page, MLflow."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from faithscope.sinks import markdown, page
from faithscope.sinks.card import Card, Sentence, Table
from faithscope.sinks.flat_numbers import flat_numbers
from faithscope.sinks.json_values import for_json
from faithscope.sinks.lines import in_lines
from faithscope.visible import visible

_PREFIX = "faithscope"


class Shareable:
    """A result that can be shared: it declares a title, a line, tables and names, and the sinks write them.

    Examples
    --------
    >>> from faithscope import consistency
    >>> print(consistency(["old", "old", "young"], [1, 1, 0]).to_markdown().splitlines()[0])
    ### consistency
    """

    _written: ClassVar[Sequence[str]] = ()  # attributes that `to_dict` tells; all public fields if none is named

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        known = self._written or [name for name in vars(self) if not name.startswith("_")]
        return {name: for_json(getattr(self, name)) for name in known}

    @property
    def _title(self) -> str:
        return type(self).__name__

    @property
    def _line(self) -> str:
        """What it says, without its notes, in a line."""
        return self._title

    def _told_notes(self) -> Iterable[str]:
        """What a reader should know, as its card tells it."""
        return getattr(self, "notes", ())

    def _sentences(self) -> Iterable[str]:
        """What stands on top of its card."""
        return [self._line]

    def _tables(self) -> Iterable[Table]:
        """The numbers of its card."""
        return ()

    def _card(self) -> Card:
        """What is shown of it in a few lines and tables."""
        sentences, notes = tuple(map(Sentence, self._sentences())), tuple(map(visible, self._told_notes()))
        return Card(self._title, sentences, tuple(self._tables()), notes)

    def __str__(self) -> str:
        return in_lines(self._line)

    def __repr__(self) -> str:
        return str(self)

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

        Metrics are called ``faithscope.consistency.value``, ``.low``, ``.high``, ``.unverifiable``,
        ``.verified``, ``.chance`` and ``.n``; those of several explainers or populations have their names in between.
        What is undefined is no metric. Settings are parameters.

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

        return mlflow.log(self.to_dict(), *self._card_and_page(), run_id, prefix)

    def metrics(self) -> dict[str, float]:
        """All measured numbers under flat names, as experiment trackers take them; those undefined are left out.

        Examples
        --------
        >>> from faithscope import consistency
        >>> round(consistency(["old", "old", "young"], [1, 1, 0]).metrics()["consistency.value"], 3)
        0.667
        """
        return {name[len(_PREFIX) + 1 :]: value for name, value in flat_numbers(self.to_dict(), _PREFIX).items()}

    def _repr_html_(self) -> str:
        return page.fragment(self._card())
