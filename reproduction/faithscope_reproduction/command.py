"""faithscope reproduce: the paper's tables and figures, beside its printed numbers."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from faithscope.cli.options import Json, ReportFile
from faithscope.cli.outcome import say_where
from faithscope.runtime.messages import print_json

TableNames = Annotated[
    list[str] | None, typer.Argument(metavar="[TABLE ...]", help="table1, figure4, …; all by default.")
]
DataFolder = Annotated[
    Path | None, typer.Option("--data", help="A folder of data sets as Parquet files; or set FAITHSCOPE_DATA.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Few rows, small models: minutes, and numbers that mean little.")]
StepsFolder = Annotated[
    Path | None, typer.Option("--cache", help="Folder of finished steps, where a second run continues.")
]
Markdown = Annotated[
    Path | None,
    typer.Option("--markdown", help="Write everything to this Markdown file, pictures to the folder of its name."),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Steps computed at once; by default one per core."),
]
Seed = Annotated[int, typer.Option(help="Seed of splits, models, samples and explainers.")]


def reproduce(
    tables: TableNames = None,
    data: DataFolder = None,
    quick: Quick = False,
    cache: StepsFolder = None,
    as_json: Json = False,
    markdown: Markdown = None,
    report: ReportFile = Path("reproduction.html"),
    workers: Workers = None,
    seed: Seed = 0,
) -> None:
    """Reproduce the paper's tables and figures beside its printed numbers.

    Prints every table and writes reproduction.html. Hours of computing, shared among all cores; resumable.

    Example: faithscope reproduce table1 figure1 --data ../data --quick
    """
    from rich.console import Console
    from rich.markdown import Markdown as Rendered

    from faithscope.report.offline_page import page_of
    from faithscope.runtime.files import to_path, write_atomically
    from faithscope_reproduction import running
    from faithscope_reproduction.settings import Settings
    from faithscope_reproduction.telling import writers
    from faithscope_reproduction.telling.document import document

    where: dict[str, Any] = {} if cache is None else {"cache": to_path(cache)}
    settings = Settings(data, **where, quick=quick, seed=seed)
    many = workers or os.cpu_count() or 1
    parts = running.run(tables or [], settings, many)
    # The command that gives these numbers, without the folders, which change none of them.
    words = ["--quick"] * quick + [f"--seed {seed}"] * bool(seed)
    told = document(parts, " ".join(["faithscope reproduce", *(tables or []), *words]))
    if as_json:
        print_json({part.name: asdict(part.outcome) for part in parts})
    else:
        Console().print(Rendered(writers.to_markdown(told)))
    if markdown is not None:
        pictures = markdown.with_suffix("")
        writers.draw(told, pictures)
        write_atomically(markdown, writers.to_markdown(told, pictures.name).encode())
    write_atomically(report, page_of(told).encode())
    say_where(report)
