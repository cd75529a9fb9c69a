"""faithscope plan: how many rows a log needs."""

import json
from typing import Annotated

import typer

from faithscope.cli.logs import DeclaredLog
from faithscope.cli.options import AgreementWord, Confidence, Json, SummaryFile, grouped
from faithscope.cli.outcome import append_summary, check_summary
from faithscope.runtime.printing import print_json


@grouped
def plan(
    log: DeclaredLog,
    agreement: AgreementWord = None,
    unverifiable: Annotated[float, typer.Option(help="The share of rows that may stay unverifiable.")] = 0.05,
    confidence: Confidence = 0.95,
    as_json: Json = False,
    summary: SummaryFile = None,
) -> None:
    """Say how many rows a log needs until only so many of them are unverifiable.

    Example: faithscope plan log.parquet --prediction yhat --explanation 'phi_*' --unverifiable 0.05
    """
    from faithscope.measures.consistency import consistency
    from faithscope.measures.planning import plan as plan_rows

    check_summary(summary)
    opened, discretizer = log.open()
    measured = consistency(opened, discretizer=discretizer, agreement=agreement)
    rows = plan_rows(measured, unverifiable=unverifiable, confidence=confidence)
    print_json(json.dumps(rows.to_dict())) if as_json else typer.echo(str(rows))
    append_summary(summary, rows._card())
