"""A document as Markdown, with its charts as pictures."""

from collections.abc import Iterator
from pathlib import Path

from faithscope.card import Table
from faithscope.charts.theme import LIGHT, theme
from faithscope.report.document import Block, Chart, Document, Group, Section
from faithscope.runtime.files import write_atomically


def to_markdown(document: Document, pictures: str = "") -> str:
    """A document as Markdown; charts as pictures from a folder if one is named, else in words."""
    lines = [f"# {document.title}", "", document.lead]
    for section in document.sections:
        assert isinstance(section, Section)
        lines += ["", f"## {section.title}"]
        for block in section.blocks:
            lines += ["", *_lines(block, pictures)]
    return "\n".join(lines) + "\n"


def _lines(block: Block, pictures: str) -> Iterator[str]:
    if isinstance(block, Table):
        for line in (block.columns, ["---"] * len(block.columns), *block.rows):
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
    elif isinstance(block, Group):
        yield from ("<details>", f"<summary>{block.fold}</summary>", "")
        for each in block.blocks:
            yield from _lines(each, pictures)
        yield from ("", "</details>")
    elif isinstance(block, Chart):
        ours = f"![{block.words}]({pictures}/{block.anchor}.svg)" if pictures else block.words
        yield from (ours, "", block.caption)
    else:
        yield f"- **{block.subject}.** {block.text}" if block.subject else f"- {block.text}"


def draw(document: Document, folder: Path) -> None:
    """Write every chart as an SVG file, for pages that run no scripts."""
    import vl_convert

    config = theme(LIGHT)
    config |= {"legend": config["legend"] | {"columnPadding": 24}, "padding": 12}
    blocks = [block for section in document.sections for block in getattr(section, "blocks", ())]
    for block in blocks:  # to which those of groups are added
        if isinstance(block, Group):
            blocks += block.blocks
        elif isinstance(block, Chart):
            picture = vl_convert.vegalite_to_svg(block.spec | {"width": 420, "config": config})
            write_atomically(folder / f"{block.anchor}.svg", picture.encode())
