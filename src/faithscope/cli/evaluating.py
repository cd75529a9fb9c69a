"""faithscope demo and faithscope evaluate: a model, its explainers and rows."""

from pathlib import Path
from typing import Annotated, Any

import typer

from faithscope.cli.options import (
    CacheFolder,
    Confidence,
    Discretize,
    FailUnder,
    Json,
    MeasureName,
    Report,
    check_gate,
    gate,
    tell,
)
from faithscope.cli.sizes import bytes_of_rows
from faithscope.errors import BadInput, TooLarge, UnknownName
from faithscope.inputs.hints import hint
from faithscope.runtime.files import to_path
from faithscope.runtime.memory import need
from faithscope.visible import visible


def demo(
    report: Annotated[Path, typer.Option("--report", help="Where the report goes.")] = Path("report.html"),
    as_json: Json = False,
    cache: CacheFolder = None,
) -> None:
    """Compare explainers of boosted trees on data that ships with scikit-learn.

    Prints one table and writes report.html. Takes less than a minute on two cores.

    Example: faithscope demo --report report.html
    """
    from faithscope.cli.demo import TITLE, demonstrate

    found, left_out = demonstrate(cache=cache)
    for words in left_out:
        typer.echo(words, err=True)
    tell(found, report, as_json, TITLE)


def evaluate(
    system: Annotated[str, typer.Option(help="Your model and explainers, as module:attribute.")],
    data: Annotated[Path, typer.Option(help="Rows without labels: a Parquet or CSV file.")],
    discretize: Discretize = None,
    by: Annotated[str | None, typer.Option(help="A column of the rows that names populations.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column that the model does not get; repeatable.")] = None,
    confidence: Confidence = 0.95,
    seed: Annotated[int, typer.Option(help="Of the halves of --discretize best.")] = 0,
    cache: CacheFolder = None,
    report: Report = None,
    as_json: Json = False,
    fail_under: FailUnder = None,
    measure: MeasureName = None,
    judged: Annotated[
        list[str] | None,
        typer.Option(
            "--gate",
            help="An explainer that --fail-under judges; repeatable. By default all but Constant, Random, Unique.",
        ),
    ] = None,
) -> None:
    """Measure the explainers of your own model on your own rows.

    The attribute is (model, explainer), (model, {name: explainer, ...}), or a function that returns either.

    Example: faithscope evaluate --system my_module:system --data X.parquet --discretize sign-of-top-5 --report r.html
    """
    from faithscope.cli.systems import load_system
    from faithscope.evaluation.compare import compare

    check_gate(fail_under, measure=measure, gate=judged)
    found = load_system(system)
    for name in judged or ():
        if name not in found.explainers:
            raise UnknownName(f"--gate names {name!r}, no explainer of {system}. {hint(name, found.explainers)}")
    rows = read_rows(data)
    groups = None if by is None else populations(rows, by)
    used = rows.drop(columns=[name for name in drop or () if column(rows, name) is not None])
    chosen = {} if discretize is None else {"discretizer": to_discretizer(discretize)}
    options: dict[str, Any] = {"confidence": confidence, "seed": seed, "cache": cache, "groups": groups}
    compared = compare(found.predict, found.explainers, used, **chosen, **options)
    tell(compared, report, as_json, f"How faithful are the explanations of {system}?")
    gate(compared, fail_under, measure, judged)


def to_discretizer(word: str) -> Any:
    """A discretizer from its word on the command line; ``best`` chooses one."""
    from faithscope.discretizers import from_word
    from faithscope.evaluation.best import Best

    return Best() if word.strip().lower() == "best" else from_word(word)


def read_rows(path: Path) -> Any:
    """A table from a Parquet or CSV file."""
    import pandas as pd

    path = to_path(path)
    readers = {".parquet": pd.read_parquet, ".csv": pd.read_csv}
    read = readers.get(path.suffix.lower())
    if read is None:
        raise BadInput(f"{str(path)!r} is neither .parquet nor .csv: convert it first.")
    try:
        need(bytes_of_rows(path), f"The rows of {str(path)!r}", "sample them, or audit a log of their predictions")
        return read(path)
    except TooLarge:
        raise
    except FileNotFoundError:
        raise BadInput(f"There is no file {str(path)!r}.") from None
    except (OSError, ValueError, pd.errors.ParserError) as error:
        raise BadInput(f"{str(path)!r} cannot be read: {str(error).splitlines()[0]}") from None


def populations(rows: Any, name: str) -> Any:
    """The population of each row by a column; rows without a value are one of their own, and that is said."""
    from faithscope.explanations.base import readable, several

    groups = column(rows, name)
    missing = groups.isna()
    if not missing.any():
        return groups
    known = groups[~missing].map(readable)
    own = "missing" if "missing" not in set(known) else "(missing)"
    having = several(int(missing.sum()), "row has", "rows have")
    typer.echo(f"{having} no {visible(name)}: population {own!r}.", err=True)
    return known.astype(object).reindex(groups.index, fill_value=own)


def column(rows: Any, name: str) -> Any:
    """A column by its name, or a sentence with near names."""
    if name in rows.columns:
        return rows[name]
    raise UnknownName(f"The rows have no column {name!r}. {hint(name, rows.columns)}")
