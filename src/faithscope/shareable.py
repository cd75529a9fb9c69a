"""What every result can do with itself: a line, a dictionary, a card, and these as Markdown, a page, MLflow."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from html import escape
from importlib import import_module
from importlib.metadata import version
from typing import Any, ClassVar

from faithscope.card import Card, Sentence, Table, for_json, in_lines
from faithscope.errors import BadInput, MissingExtra
from faithscope.runtime.files import write_page
from faithscope.visible import visible
from faithscope.words import numbered, readable

_PREFIX = "faithscope"
# What is a metric, and what is a parameter.
_MEASURED = {"value", "low", "high", "unverifiable", "verified", "chance", "n", "uniqueness", "share", "rows_needed"}
_SETTINGS = {"name", "explainer", "discretizer", "subject", "method", "agreement", "confidence", "seed", "every", "n"}
_UNSAID = {"evaluations", "groups", "estimates", "estimate"}  # in a name
_UNNAMEABLE = re.compile(r"[^\w \-:]")
_LONGEST = 80  # characters of one part of a name
_MARKUP = re.compile(r"[\\`*_\[\]<>|~$&]")
_LINKED = re.compile(r"(?<=[@#])(?=\w)|(?<=\bGH)(?=-\d)")  # GitHub would notify @somebody, and link #12
_ADDRESS = re.compile(r"(?=://)|(?<=\bwww)(?=\.)", re.IGNORECASE)  # GitHub would link these
_OPENING = re.compile(r"^\d+(?=[.)](\s|$))|^(?=[#+=-])")  # would begin a heading, a rule or a list
_NOTHING = "&#8203;"  # a space without width
_LEFT, _RIGHT = ' style="text-align: left"', ' style="text-align: right"'
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }}
table {{ border-collapse: collapse; }} caption {{ text-align: left; font-weight: 600; padding: .5rem 0; }}
td, th {{ border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .3rem .7rem; }}
</style></head><body>{body}</body></html>
"""


class Shareable:
    """A result that can be shared: it declares a title, a line, tables and names, which are written here.

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
        return card, _PAGE.format(title=_text(card.title), body=fragment(card))

    def to_markdown(self) -> str:
        """The verdict, the numbers and the notes as GitHub-flavored Markdown, for a model card or a pull request.

        Names are escaped: they are never markup, never links, and notify nobody.
        """
        return markdown(self._card())

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a page that anybody can open: one HTML file that needs no network."""
        write_page(path, self._card_and_page()[1])

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
        try:
            mlflow = import_module("mlflow")
        except ModuleNotFoundError as error:
            raise MissingExtra("to_mlflow needs MLflow: pip install mlflow-skinny.") from error
        if not isinstance(prefix, str) or not prefix or prefix.split(".") != nameable(prefix.split(".")):
            raise BadInput(f"prefix must be letters, digits, dashes and dots, such as 'wine.shap'; got {prefix!r}.")
        told, (card, page) = self.to_dict(), self._card_and_page()
        verdict = (f"{each.subject}: {each.text}" if each.subject else each.text for each in card.sentences)
        texts = {"verdict": "\n".join(verdict), "notes": "\n".join(card.notes)}
        files = {"report.html": page, "result.json": json.dumps(told, indent=2), "summary.md": markdown(card)}
        settings = {path: str(value) for path, name, value in _leaves(told, prefix, listed=False) if name in _SETTINGS}
        try:
            begun = run_id is None and mlflow.active_run() is None
            with mlflow.start_run() if begun else nullcontext():
                run = str(mlflow.active_run().info.run_id if run_id is None else run_id)
                # First of all, since MLflow refuses others than the run has, and then nothing else is written.
                mlflow.log_params({f"{prefix}.version": version("faithscope"), **settings}, run_id=run)
                mlflow.log_metrics(_numbers(told, prefix), run_id=run)
                for name, text in texts.items():
                    mlflow.MlflowClient().set_tag(run, f"{prefix}.{name}", text)
                for file, text in files.items():
                    mlflow.log_text(text.encode(errors="replace").decode(), f"{prefix}/{file}", run_id=run)
        except mlflow.exceptions.MlflowException as error:
            reason = str(error).strip().partition("\n")[0].rstrip(".")
            raise BadInput(
                f"MLflow did not take the result: {reason}. If the run holds another result already, log it to "
                "another run, or under another prefix, such as prefix='second'."
            ) from error
        return run

    def metrics(self) -> dict[str, float]:
        """All measured numbers under flat names, as experiment trackers take them; those undefined are left out.

        Examples
        --------
        >>> from faithscope import consistency
        >>> round(consistency(["old", "old", "young"], [1, 1, 0]).metrics()["consistency.value"], 3)
        0.667
        """
        return _numbers(self.to_dict(), "")

    def _repr_html_(self) -> str:
        return fragment(self._card())


def _numbers(told: Mapping[str, Any], prefix: str) -> dict[str, float]:
    """The measured numbers by their flat names."""
    known = ((path, value) for path, name, value in _leaves(told, prefix) if name in _MEASURED and value is not None)
    return {path.removeprefix("."): float(value) for path, value in known}


def _leaves(told: Mapping[str, Any], path: str, listed: bool = True) -> Iterator[tuple[str, str, Any]]:
    """The flat name, the own name and the value of all that is neither a mapping nor a list.

    What a list holds is named by its group, window, discretizer or pair, or else by its place.
    """
    if "measure" in told and path.rpartition(".")[2] != told["measure"]:
        path = f"{path}.{nameable([told['measure']])[0]}"
    for label, (name, value) in zip(nameable(list(told)), told.items(), strict=True):
        further = path if name in _UNSAID else f"{path}.{label}"
        if isinstance(value, Mapping):
            yield from _leaves(value, further, listed)
        elif not isinstance(value, list):
            yield f"{path}.{label}", name, value
        elif listed and not ("groups" in told and name == "differences"):  # of every two groups there are too many
            items = [item for item in value if isinstance(item, Mapping)]
            for own, item in zip(nameable(list(map(_name_of, items, range(len(items))))), items, strict=True):
                yield from _leaves(item, f"{further}.{own}")


def _name_of(item: Mapping[str, Any], place: int) -> str:
    if "a" in item and "b" in item:
        return f"{readable(item['a'])} vs {readable(item['b'])}"
    known = next((item[name] for name in ("group", "window", "discretizer") if name in item), place)
    return readable(tuple(known) if isinstance(known, list) else known) or "(empty)"


def nameable(names: Sequence[str]) -> list[str]:
    """Names of letters, digits, spaces, dashes, colons and underscores, no two alike whatever their case.

    Examples
    --------
    >>> nameable(["a|b", "a/b", "A_b", "37.5"])
    ['a_b', 'a_b-2', 'A_b-3', '37_5']
    """
    return numbered((_UNNAMEABLE.sub("_", name)[:_LONGEST].strip() or "_" for name in names), "-")


def markdown(card: Card) -> str:
    r"""The card as GitHub-flavored Markdown, ending in a line break.

    Examples
    --------
    >>> table = Table(("group", "n"), (("a|b", "3"),))
    >>> print(markdown(Card("Who?", (Sentence("Cannot tell yet."),), (table,))), end="")
    ### Who?
    <BLANKLINE>
    Cannot tell yet.
    <BLANKLINE>
    | group | n |
    | :--- | ---: |
    | a\|b | 3 |
    """
    parts = [
        f"### {_begun(card.title)}",
        *(
            f"**{_escaped(each.subject)}**: {_escaped(each.text)}" if each.subject else _begun(each.text)
            for each in card.sentences
        ),
    ]
    for table in map(Table.narrow, card.tables):
        rules = [":---" if place < table.words else "---:" for place in range(len(table.columns))]
        cells = [map(_escaped, table.columns), rules, *(map(_escaped, row) for row in table.rows)]
        lines = "\n".join(f"| {' | '.join(row)} |" for row in cells)
        parts += filter(None, [table.title and f"**{_escaped(table.title)}**", lines, _begun(table.caption)])
    notes = "\n".join(f"- {_begun(note)}" for note in card.notes)
    return "\n\n".join([*parts, notes] if notes else parts) + "\n"


def _escaped(text: str) -> str:
    """Text that Markdown shows letter by letter, whatever it holds: no markup, no links, nobody notified."""
    return _ADDRESS.sub(r"\\", _LINKED.sub(_NOTHING, _MARKUP.sub(r"\\\g<0>", visible(text))))


def _begun(text: str) -> str:
    """Escaped text that begins a line."""
    return _OPENING.sub(r"\g<0>\\", _escaped(text.strip()))


def fragment(card: Card) -> str:
    """The card as elements that a notebook shows alike, whether it trusts them or not: no style sheet, no script.

    Examples
    --------
    >>> fragment(Card("Who?", notes=("few <rows>",)))
    '<p><strong>Who?</strong></p><ul><li>few &lt;rows&gt;</li></ul>'
    """
    parts = [f"<p><strong>{_text(card.title)}</strong></p>"] if card.title else []
    for said in card.sentences:
        subject = f"<strong>{_text(said.subject)}</strong>: " if said.subject else ""
        parts.append(f"<p>{subject}{_text(said.text)}</p>")
    for table in map(Table.narrow, card.tables):
        title = f"<caption>{_text(table.title)}</caption>" if table.title else ""
        head, body = _row(table, table.columns, "th"), "".join(_row(table, row, "td") for row in table.rows)
        parts.append(f"<table>{title}<thead>{head}</thead><tbody>{body}</tbody></table>")
        parts += [f"<p>{_text(table.caption)}</p>"] if table.caption else []
    notes = "".join(f"<li>{_text(note)}</li>" for note in card.notes)
    return "".join([*parts, f"<ul>{notes}</ul>"] if notes else parts)


def _row(table: Table, cells: tuple[str, ...], tag: str) -> str:
    sides = [_LEFT] * table.words + [_RIGHT] * (len(cells) - table.words)
    filled = zip(sides, cells, strict=True)
    return f"<tr>{''.join(f'<{tag}{side}>{_text(cell)}</{tag}>' for side, cell in filled)}</tr>"


def _text(text: str) -> str:
    return escape(visible(text))
