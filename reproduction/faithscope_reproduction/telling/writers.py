"""Those who write a document, for a terminal, as Markdown, as a page; and records as JSON and CSV."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from faithscope.charts.theme import LIGHT, theme
from faithscope.report.offline_page import fill_page
from faithscope.runtime.files import write_atomically
from faithscope_reproduction.records import MET, Figure
from faithscope_reproduction.running import Part
from faithscope_reproduction.telling.document import Grid, Section
from faithscope_reproduction.telling.drawing import draw, shown, spoken_of

_KINDS = {**dict(zip(MET, ("near", "far", "far", "off", ""), strict=True)), "holds": "near", "fails": "off"}
_STYLES = {"near": "green", "far": "yellow", "off": "red"}
_TITLE = "The paper, reproduced"


def show(sections: Sequence[Section]) -> None:
    """Print a document to the terminal, what is told first at the end."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console = console if console.is_terminal else Console(width=150)  # a file has no width of its own
    last = [section for section in reversed(sections) if not section.part]
    for section in [*(section for section in sections if section.part), *last]:
        console.print(Text(f"\n{section.title}", style="bold"))
        for block in section.blocks:
            if isinstance(block, Grid):
                table = Table(box=box.SIMPLE_HEAD)
                for place, name in enumerate(block.names):
                    table.add_column(name, justify="left" if place < 2 else "right", overflow="fold")
                for row in block.rows:
                    table.add_row(*(Text(cell, style=_STYLES.get(_kind(cell), "")) for cell in row))
                console.print(table)
            else:
                lines = (
                    block if isinstance(block, tuple) else (spoken_of(block) if isinstance(block, Figure) else block,)
                )
                console.print(*(Text(line.replace("**", "")) for line in lines), sep="\n")


def _kind(cell: str) -> str:
    """How a cell stands with the printed number, or a claim with its test: near, far or off."""
    return _KINDS.get(getattr(cell, "kind", ""), "")


def to_markdown(sections: Iterable[Section], pictures: Mapping[str, str] | None = None) -> str:
    """A document as Markdown; `pictures` are paths of drawn figures by their names."""
    lines = [f"# {_TITLE}"]
    for section in sections:
        lines += ["", f"{'###' if section.part else '##'} {section.title}"] if section.title else []
        for block in section.blocks:
            if isinstance(block, Grid):
                head = ["| " + " | ".join(block.names) + " |", "|" + "---|" * len(block.names)]
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
    """A document as one page that needs no network; figures are drawn in the page's own colors."""
    figures = [block for section in sections for block in section.blocks if isinstance(block, Figure)]
    colors = {name: f"var(--{name})" for name in LIGHT}
    legend = {"labelColor": colors["ink"], "labelFontSize": 11}
    config = theme(colors) | {"legend": legend, "aria": False, "background": "transparent"}
    return fill_page(
        "faithscope_reproduction.telling",
        {"specs": {f"drawing-{figure.name}": draw(figure) for figure in figures}, "config": config},
        title=_TITLE,
        sections=sections,
        shown=shown,
        spoken_of=spoken_of,
        kind=_kind,
    )


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
