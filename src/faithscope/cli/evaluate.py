"""faithscope evaluate: the explainers of your own model on your own rows."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from faithscope.agreements import from_word
from faithscope.cli.options import CacheFolder
from faithscope.cli.outcome import Outcome, judged, measured, tell
from faithscope.cli.rows import column, populations, read_rows, without_columns
from faithscope.errors import UnknownName
from faithscope.evaluation.outputs import OUTPUTS
from faithscope.inputs.checks import check_word
from faithscope.inputs.hints import hint

SystemPath = Annotated[str, typer.Option(help="Your model and explainers, as module:attribute.")]
DataFile = Annotated[Path, typer.Option(help="Rows without labels: a Parquet or CSV file.")]
DiscretizeOrBest = Annotated[
    str | None,
    typer.Option(
        "--discretize",
        help="original, 2-fp, 1-fp, sign, rank, sign-of-top-5, delta, template, codebook:FILE.json, …; best chooses.",
    ),
]
ByColumn = Annotated[str | None, typer.Option(help="A column of the rows that names populations.")]
Drop = Annotated[list[str] | None, typer.Option(help="A column that the model does not get; repeatable.")]
ModelOutput = Annotated[
    str | None,
    typer.Option("--output", help="What the model is asked for: label or probability, which is measured by spread."),
]
HalvesSeed = Annotated[int, typer.Option(help="Seed of the halves of --discretize best and common-phrases-20.")]
GatedExplainers = Annotated[
    list[str] | None,
    typer.Option(
        "--gate",
        help="An explainer that --fail-under judges; repeatable. By default all but Constant, Random, Unique.",
    ),
]


@measured
@judged
def evaluate(
    outcome: Outcome,
    how: dict[str, Any],
    system: SystemPath,
    data: DataFile,
    discretize: DiscretizeOrBest = None,
    output: ModelOutput = None,
    by: ByColumn = None,
    drop: Drop = None,
    seed: HalvesSeed = 0,
    cache: CacheFolder = None,
    explainers_judged: GatedExplainers = None,
) -> None:
    """Measure the explainers of your own model on your own rows.

    The attribute is (model, explainer), (model, {name: explainer, ...}), or a function that returns either.

    Example: faithscope evaluate --system my_module:system --data X.parquet --discretize sign-of-top-5 --report r.html
    """
    from faithscope.cli.systems import load_system
    from faithscope.evaluation.best import to_choice
    from faithscope.evaluation.compare import compare

    outcome.check(explainers_judged)
    if output is not None:
        check_word(output, "--output", OUTPUTS)
    model, explainers = load_system(system)
    for name in explainers_judged or ():
        if name not in explainers:
            raise UnknownName(f"--gate names {name!r}, no explainer of {system}. {hint(name, explainers)}")
    rows, agreement = read_rows(data), how.pop("agreement")
    for option in ("clusters", "weights"):
        how[option] = None if how[option] is None else column(rows, how[option])
    comparison = compare(
        model,
        explainers,
        without_columns(rows, drop or []),
        discretizer=to_choice(discretize),
        by=None if by is None else populations(rows, by),
        seed=seed,
        cache=cache,
        agreement=None if agreement is None else from_word(agreement),
        output=cast(Any, output),
        at_least=outcome.at_least,
        **how,
    )
    found = None
    if outcome.cuts:
        found = {name: each.slices(seed=seed) for name, each in comparison.items() if not each.baseline}
    tell(comparison, f"How faithful are the explanations of {system}?", outcome, found)
    outcome.judge(comparison, found, explainers_judged)
