"""Ranges of numbers that hang on a draw which the paper does not tell: the split, the wanted class."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from faithscope_reproduction.records import Outcome, Record, Setting
from faithscope_reproduction.settings import Settings, Steps

DRAWS, _QUICK_DRAWS = 10, 2


@dataclass(frozen=True)
class Draws:
    """Draws that are as plausible as the one that was taken.

    Attributes
    ----------
    hangs_on : str
        What is drawn.
    others : mapping of str to callable
        By the name of the draw, what gives its records: of as many rows as ours, else the range would not be honest.
    """

    hangs_on: str
    others: Mapping[str, Callable[[], Outcome]]


def by_seed(step: Callable[[str, Setting, Settings], Outcome], name: str, settings: Settings) -> Draws:
    """A data set as run with nine other seeds: each is another split, and other draws of the explainers."""
    most = _QUICK_DRAWS if settings.quick else DRAWS
    chosen = [replace(settings, seed=settings.seed + draw) for draw in range(1, most)]
    return Draws(
        "the split and of the explainers",
        {f"{name} seed {other.seed}": _later(step, name, "as_run", other) for other in chosen},
    )


def _later(step: Callable[..., Outcome], *given: Any) -> Callable[[], Outcome]:
    return lambda: step(*given)


def ranged(outcome: Outcome, draws: Draws, steps: Steps) -> Outcome:
    """The outcome with the range of each number as run over all draws, its own among them."""
    others = [steps.do(name, compute) for name, compute in draws.others.items()]
    records = _with_ranges(outcome.records, [other.records for other in others], draws)
    seconds = sum((other.seconds for other in others), start=outcome.seconds)
    kept = sum((other.steps for other in others), start=outcome.steps)
    return replace(outcome, records=records, seconds=seconds, steps=kept)


def _with_ranges(records: Iterable[Record], others: list[tuple[Record, ...]], draws: Draws) -> tuple[Record, ...]:
    numbers: dict[tuple[str, str, str], list[float]] = {}
    for record in (record for other in others for record in other):
        if record.ours is not None and record.setting == "as_run":
            numbers.setdefault((record.case, record.measure, record.setting), []).append(record.ours)
    return tuple(_with_range(record, numbers, len(others) + 1, draws.hangs_on) for record in records)


def _with_range(
    record: Record, numbers: Mapping[tuple[str, str, str], list[float]], draws: int, hangs_on: str
) -> Record:
    drawn = numbers.get((record.case, record.measure, record.setting), [])
    if record.ours is None or len(drawn) + 1 < draws:  # a range over some of the draws would be too narrow
        return record
    every = [record.ours, *drawn]
    return replace(record, lowest=min(every), highest=max(every), draws=draws, hangs_on=hangs_on)
