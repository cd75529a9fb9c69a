"""faithscope evaluate: the explainers of your own model on your own rows."""

from pathlib import Path
from typing import Annotated

from typer import Option

from faithscope.agreements import from_word
from faithscope.cli.options import CacheFolder, grouped
from faithscope.cli.outcome import Measured, Outcome, tell
from faithscope.cli.rows import column, read_rows, without_columns
from faithscope.errors import UnknownName
from faithscope.inputs.hints import hint


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
    from faithscope.cli.systems import load_system
    from faithscope.evaluation.best import to_choice
    from faithscope.evaluation.compare import compare

    outcome.check(gate)
    model, explainers = load_system(system)
    for name in gate or ():
        if name not in explainers:
            raise UnknownName(f"--gate names {name!r}, no explainer of {system}. {hint(name, explainers)}")
    rows, asked = read_rows(data), dict(vars(how))
    agreement = asked.pop("agreement")
    for option in ("clusters", "weights"):
        asked[option] = None if asked[option] is None else column(rows, asked[option])
    comparison = compare(
        model,
        explainers,
        without_columns(rows, drop or []),
        discretizer=to_choice(discretize),
        by=None if by is None else column(rows, by),
        seed=seed,
        cache=cache,
        agreement=None if agreement is None else from_word(agreement),
        at_least=outcome.at_least,
        **asked,
    )
    found = None
    if outcome.cuts:
        found = {name: each.slices(seed=seed) for name, each in comparison.items() if not each.baseline}
    tell(comparison, f"How faithful are the explanations of {system}?", outcome, found)
    outcome.judge(comparison, found, gate)
