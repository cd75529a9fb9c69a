"""The command ``faithscope reproduce``."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithscope.runtime.printing import print_json
from faithscope.visible import visible

if TYPE_CHECKING:
    from faithscope.reproduce.running import Part
    from faithscope.reproduce.settings import Settings

_MOST_WORKERS = 4  # each has data sets and models of its own in memory
Names = Annotated[list[str] | None, typer.Argument(metavar="[TABLE ...]", help="table1, figure4, …; all by default.")]
DataFolder = Annotated[
    Path | None, typer.Option("--data", help="A folder of data sets as Parquet files; or set FAITHSCOPE_DATA.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Few rows, small models: minutes, and numbers that mean little.")]
AllRows = Annotated[bool, typer.Option("--all-rows", help="Explain every test row; takes many hours.")]
Search = Annotated[bool, typer.Option("--search", help="Choose the models' settings by the paper's whole grid.")]
Dice = Annotated[
    bool, typer.Option("--dice", help="Counterfactuals by the dice-ml package rather than our own search.")
]
CacheFolder = Annotated[
    Path | None, typer.Option("--cache", help="Folder of finished steps, where a second run continues.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print all numbers as JSON, and nothing else.")]
CsvFolder = Annotated[Path | None, typer.Option("--csv", help="Write tables and curves as CSV files to this folder.")]
Markdown = Annotated[Path | None, typer.Option("--markdown", help="Write everything to this Markdown file.")]
Report = Annotated[Path, typer.Option("--report", help="Where the report goes.")]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Parts that run at once; by default one per core, at most 4.")
]
Seed = Annotated[int, typer.Option(help="Seed of splits, models, samples and explainers.")]


def reproduce(
    tables: Names = None,
    data: DataFolder = None,
    quick: Quick = False,
    all_rows: AllRows = False,
    search: Search = False,
    dice: Dice = False,
    cache: CacheFolder = None,
    as_json: AsJson = False,
    to_csv: CsvFolder = None,
    markdown: Markdown = None,
    report: Report = Path("reproduction.html"),
    workers: Workers = None,
    seed: Seed = 0,
) -> None:
    """Reproduce the paper's tables and figures beside its printed numbers.

    Prints every table and writes reproduction.html. About two hours of computing, shared among cores; resumable.

    Example: faithscope reproduce table1 figure1 --data ../data --quick
    """
    from faithscope.reproduce import running
    from faithscope.reproduce.settings import Settings
    from faithscope.runtime.files import to_path

    asked = Settings(data, quick=quick, all_rows=all_rows, search=search, dice=dice, seed=seed)
    settings = asked if cache is None else replace(asked, cache=to_path(cache))
    parts = running.run(tables or [], settings, lambda line: typer.echo(line, err=True), workers or _cores())
    _write(parts, _command(tables or [], settings), as_json, to_csv, markdown, report)


def _cores() -> int:
    return min(_MOST_WORKERS, os.cpu_count() or 1)


def _write(
    parts: "list[Part]", command: str, as_json: bool, to_csv: Path | None, markdown: Path | None, report: Path
) -> None:
    from faithscope.reproduce.telling import page, terminal, written
    from faithscope.runtime.files import write_atomically

    if as_json:
        print_json(written.to_json(parts))
    else:
        terminal.show(parts)
    if to_csv is not None:
        written.to_csv(parts, to_csv)
    if markdown is not None:
        write_atomically(markdown, written.to_markdown(parts, command).encode())
    page.write(parts, report, command)
    typer.echo(f"The report is {visible(str(report))}", err=True)


def _command(tables: list[str], settings: "Settings") -> str:
    """The command that gives these numbers, without the folders, which change none of them."""
    chosen = [
        f"--{name.replace('_', '-')}" for name in ("quick", "all_rows", "search", "dice") if getattr(settings, name)
    ]
    seed = [f"--seed {settings.seed}"] if settings.seed else []
    return " ".join(["faithscope reproduce", *tables, *chosen, *seed])
