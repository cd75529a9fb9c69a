"""Those who write a document, for a terminal, as Markdown, as a page; and records as JSON and CSV."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from faithscope.report import document
from faithscope.report.offline_page import page_of
from faithscope.runtime.files import write_atomically
from faithscope.sinks.card import Sentence, Table
from faithscope_reproduction.records import Figure
from faithscope_reproduction.running import Part
from faithscope_reproduction.telling.document import Block, Section
from faithscope_reproduction.telling.drawing import draw, shown, spoken_of

_STYLES = {"faithful": "green", "partly": "yellow", "unfaithful": "red"}
_PAPER = (
    "“Framework for Evaluating Faithfulness of Local Explanations” (Dasgupta, Frost, Moshkovitz, ICML 2022), beside "
    "its printed numbers."
)
_TITLE = "The paper, reproduced"


def show(sections: Sequence[Section]) -> None:
    """Print a document to the terminal, what is told first at the end."""
    from rich import box
    from rich import table as rich
    from rich.console import Console
    from rich.text import Text

    console = Console()
    console = console if console.is_terminal else Console(width=150)  # a file has no width of its own
    last = [section for section in reversed(sections) if not section.part]
    for section in [*(section for section in sections if section.part), *last]:
        console.print(Text(f"\n{section.title}", style="bold"))
        for block in section.blocks:
            if isinstance(block, Table):
                table = rich.Table(box=box.SIMPLE_HEAD)
                for place, name in enumerate(block.columns):
                    table.add_column(name, justify="left" if place < 2 else "right", overflow="fold")
                for row in block.rows:
                    table.add_row(*(Text(cell, style=_STYLES.get(getattr(cell, "look", ""), "")) for cell in row))
                console.print(table)
            else:
                lines = (
                    block if isinstance(block, tuple) else (spoken_of(block) if isinstance(block, Figure) else block,)
                )
                console.print(*(Text(line.replace("**", "")) for line in lines), sep="\n")


def to_markdown(sections: Iterable[Section], pictures: Mapping[str, str] | None = None) -> str:
    """A document as Markdown; `pictures` are paths of drawn figures by their names."""
    lines = [f"# {_TITLE}"]
    for section in sections:
        lines += ["", f"{'###' if section.part else '##'} {section.title}"] if section.title else []
        for block in section.blocks:
            if isinstance(block, Table):
                head = ["| " + " | ".join(block.columns) + " |", "|" + "---|" * len(block.columns)]
                rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in block.rows]
                body = [*head, *rows]
                if block.title:
                    body = ["<details>", f"<summary>{block.title}</summary>", "", *body, "", "</details>"]
            elif isinstance(block, Figure):
                path = (pictures or {}).get(block.name)
                ours = spoken_of(block) if path is None else f"![{block.title}]({path})"
                body = [ours, "", f"The paper shows {shown(block.name)}"]
            else:
                body = [f"- {each}" for each in block] if isinstance(block, tuple) else [block]
            lines += ["", *body]
    return "\n".join(lines) + "\n"


def to_html(sections: Sequence[Section]) -> str:
    """A document as one page that needs no network, written as reports are."""
    first, *others = sections
    told = [
        document.Section(f"section-{place}", each.part or each.title, each.title, list(map(_page_block, each.blocks)))
        for place, each in enumerate(others)
    ]
    created = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    lead = _plain("".join(map(str, first.blocks)))
    return page_of(document.Document("faithscope reproduce", _TITLE, _PAPER, lead, created, told))


def _page_block(block: Block) -> Any:
    if isinstance(block, Figure):
        return document.Chart(draw(block), spoken_of(block), f"{block.title}. The paper shows {shown(block.name)}")
    if isinstance(block, Table):
        words = replace(block, words=len(block.columns))
        return document.Group([words], fold=block.title) if block.title else words
    if isinstance(block, tuple):
        return document.Group([Sentence(_plain(each)) for each in block], fold="Notes")
    subject, _, rest = block.removeprefix("**").partition(".** ") if block.startswith("**") else ("", "", block)
    return Sentence(_plain(rest), subject)


def _plain(text: str) -> str:
    """Words without Markdown's marks."""
    return re.sub(r"[*`]", "", text)


def to_json(parts: Sequence[Part]) -> str:
    """All records as a list of objects: ``table, case, measure, setting, n, ours, printed`` and more."""
    return json.dumps([asdict(each) for part in parts for each in part.outcome.records], indent=1, allow_nan=False)


def to_csv(parts: Sequence[Part], folder: Path) -> None:
    """Write one file of records per part, one per figure and one of claims."""
    import pandas as pd

    files: dict[str, Any] = {part.name: [asdict(each) for each in part.outcome.records] for part in parts}
    files |= {figure.name: figure.columns for part in parts for figure in part.outcome.figures}
    files["claims"] = [asdict(claim) for part in parts for claim in part.outcome.claims]
    for name, rows in files.items():
        write_atomically(folder / f"{name}.csv", pd.DataFrame(rows, dtype=object).to_csv(index=False).encode())
