"""faithscope evaluate: the explainers of your own model on your own rows."""

import sys
from collections.abc import Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from faithscope.cli.options import CacheFolder, grouped
from faithscope.cli.outcome import Measured, Outcome, tell
from faithscope.errors import BadInput, MissingExtra, UnknownName
from faithscope.evaluation.asker import called
from faithscope.inputs.checks import one_sentence, text_names
from faithscope.runtime.files import to_path
from faithscope.runtime.memory import need
from faithscope.words import hint


@grouped
def evaluate(
    system: Annotated[str, Option(help="Your model and explainers, as module:attribute.")],
    data: Annotated[Path, Option(help="Rows without labels: a Parquet or CSV file.")],
    how: Measured,
    outcome: Outcome,
    discretize: Annotated[
        str | None,
        Option(
            help="original, 2-fp, 1-fp, sign, rank, sign-of-top-5, delta, template, codebook:FILE.json, …; "
            "best chooses."
        ),
    ] = None,
    by: Annotated[str | None, Option(help="A column of the rows that names populations.")] = None,
    drop: Annotated[list[str] | None, Option(help="A column that the model does not get; repeatable.")] = None,
    seed: Annotated[int, Option(help="Seed of the halves of --discretize best and common-phrases-20.")] = 0,
    cache: CacheFolder = None,
    gate: Annotated[
        list[str] | None,
        Option(help="An explainer that --fail-under judges; repeatable. By default all but Constant, Random, Unique."),
    ] = None,
) -> None:
    """Measure the explainers of your own model on your own rows.

    The attribute is (model, explainer), (model, {name: explainer, ...}), or a function that returns either.

    Example: faithscope evaluate --system my_module:system --data X.parquet --discretize sign-of-top-5 --report r.html
    """
    from faithscope.evaluation.best import to_choice
    from faithscope.evaluation.compare import compare

    outcome.check(gate)
    model, explainers = load_system(system)
    for name in gate or ():
        if name not in explainers:
            raise UnknownName(f"--gate names {name!r}, no explainer of {system}. {hint(name, explainers)}")
    rows, asked = read_rows(data), {**vars(how), "by": by}
    for option in ("clusters", "weights", "by"):
        asked[option] = None if asked[option] is None else column(rows, asked[option])
    comparison = compare(
        model,
        explainers,
        rows.drop(columns=[name for name in drop or () if column(rows, name) is not None]),
        discretizer=to_choice(discretize),
        seed=seed,
        cache=cache,
        at_least=outcome.at_least,
        **asked,
    )
    found = None
    if outcome.slices or outcome.fail_if_slice:
        found = {name: each.slices(seed=seed) for name, each in comparison.items() if not each.baseline}
    tell(comparison, f"How faithful are the explanations of {system}?", outcome, found)
    outcome.judge(comparison, found, gate)


_SHAPES = "(model, explainer), (model, {name: explainer, ...}), or a function without arguments that returns either"


def load_system(path: str) -> tuple[Any, dict[str, Any]]:
    """The model that ``module:attribute`` names, and its explainers by name; the module may lie in the working folder.

    The attribute is ``(model, explainer)``, ``(model, {name: explainer, ...})``, or a function without arguments that
    returns either.
    """
    module, _, attribute = path.partition(":")
    if not module or not attribute:
        raise BadInput(f"--system must be module:attribute, such as my_module:system; got {path!r}.")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, folder)
    try:
        value = getattr(import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name and not (module == error.name or module.startswith(f"{error.name}.")):
            raise MissingExtra(f"The module {module!r} needs {error.name!r}, which is not installed.") from None
        raise BadInput(f"No module is called {module!r}: run this where it can be imported.") from None
    if value is None:
        raise BadInput(f"The module {module!r} has no {attribute!r}: name something that it defines.")
    if callable(value):
        try:
            signature(value).bind()
        except TypeError:
            raise BadInput(f"{path} takes arguments: it must be {_SHAPES}.") from None
        value = value()
    if not isinstance(value, tuple) or len(value) != 2:
        length = f" of {len(value)}" if isinstance(value, tuple) else ""
        raise BadInput(
            f"{path} must be {_SHAPES}, without rows, which --data names; got {type(value).__name__}{length}."
        )
    model, explainers = value
    if not isinstance(explainers, Mapping):
        explainers = {called(explainers): explainers}
    if not explainers:
        raise BadInput(f"{path} has no explainer: give at least one.")
    return model, text_names(explainers)


def read_rows(path: Path) -> Any:
    """A pandas frame from a Parquet or CSV file."""
    import pandas as pd

    path = to_path(path)
    read = {".parquet": pd.read_parquet, ".csv": pd.read_csv}.get(path.suffix.lower())
    if read is None:
        raise BadInput(f"{str(path)!r} is neither .parquet nor .csv: convert it first.")
    if not path.exists():
        raise BadInput(f"There is no file {str(path)!r}: check the path.")
    with one_sentence(f"{str(path)!r} cannot be read ({{why}}): is it a complete {path.suffix} file?"):
        need(_bytes_of_rows(path), f"The rows of {str(path)!r}", "sample them, or audit a log of their predictions")
        return read(path)


def column(rows: Any, name: str) -> Any:
    """A column by its name; an unknown name is refused with a hint at similar ones."""
    if name in rows.columns:
        return rows[name]
    raise UnknownName(f"The rows have no column {name!r}. {hint(name, rows.columns)}")


def _bytes_of_rows(path: Path) -> int:
    """Bytes of memory that a file's rows take at least, while they are read.

    Parquet stores a long text once, however many rows have it.
    """
    import pyarrow.compute as pc
    from pyarrow import parquet

    if path.suffix.lower() == ".csv":
        return 2 * path.stat().st_size
    with parquet.ParquetFile(path) as known:
        cells = known.metadata.num_rows * known.metadata.num_columns
        texts = [
            field.name
            for field in known.schema_arrow
            if str(field.type) in ("string", "large_string", "string_view", "binary", "large_binary")
        ]
    columns = parquet.read_table(path, columns=texts, read_dictionary=texts).columns
    parts = [chunk for column in columns for chunk in column.chunks]
    lengths = (pc.sum(pc.binary_length(part.dictionary).take(part.indices)).as_py() or 0 for part in parts)
    return int(16 * cells + sum(lengths))
