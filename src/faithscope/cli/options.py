"""The options that several commands share, each with its help, and how a command takes a dataclass of them."""

from collections.abc import Callable
from dataclasses import is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

from typer import Option

ReportFile = Annotated[Path, Option("--report", help="Where the report goes.")]
SummaryFile = Annotated[
    str | None,
    Option("--summary", help='Append Markdown to this file; in GitHub Actions, to "$GITHUB_STEP_SUMMARY".'),
]
Json = Annotated[bool, Option("--json", help="Print all numbers as JSON, and nothing else.")]
Confidence = Annotated[float, Option(help="Confidence of the intervals.")]
CacheFolder = Annotated[
    Path | None, Option("--cache", help="Keep what was computed in this folder, so that a second run continues.")
]

AgreementWord = Annotated[
    str | None,
    Option(
        "--agreement", help="How much predicted numbers agree: spread, close:0.5 or tolerance:0.5; labels without it."
    ),
]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command some of whose parameters are dataclasses: each field of these is an option, with its default."""
    own = signature(command, eval_str=True).parameters
    kinds: dict[str, Any] = {name: each.annotation for name, each in own.items() if is_dataclass(each.annotation)}
    options = {name: signature(kind, eval_str=True).parameters for name, kind in kinds.items()}

    @wraps(command)
    def reading(**typed: Any) -> None:
        made = {name: kind(**{each: typed.pop(each) for each in options[name]}) for name, kind in kinds.items()}
        command(**made, **typed)

    listed = [option for name, each in own.items() for option in options.get(name, {name: each}).values()]
    told = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in listed]
    reading.__signature__ = Signature(told)  # type: ignore[attr-defined]
    reading.__annotations__ = {each.name: each.annotation for each in told}
    return reading
