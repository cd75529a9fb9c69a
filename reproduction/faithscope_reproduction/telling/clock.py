"""How long a run took, and whether it was one piece: what was computed now, and what earlier runs had kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from faithscope_reproduction.records import Step
from faithscope_reproduction.running import Part
from faithscope_reproduction.telling.summary import spoken

_NAMED = 6


@dataclass(frozen=True)
class Clock:
    """The wall clock of a run.

    Attributes
    ----------
    seconds : float
    workers : int
        Parts that ran at once.
    fresh : bool
        Whether the cache was empty at the beginning.
    """

    seconds: float
    workers: int
    fresh: bool


def timing(parts: Sequence[Part], clock: Clock | None = None) -> str:
    """The time of a run in sentences."""
    steps = [step for part in parts for step in part.outcome.steps]
    told = f"{spoken(sum(part.outcome.seconds for part in parts))} of computing."
    if clock is None:
        return told
    if clock.workers > 1:  # they train the slow models before any step begins
        told = told.replace("computing.", "computing, without the models that workers trained first.")
    kept = [step for step in steps if step.kept]
    if clock.fresh and not kept:
        plural = "worker" if clock.workers == 1 else "workers"
        return (
            f"{told} From an empty cache in one piece: yes, {spoken(clock.seconds)} by the clock with {clock.workers} "
            f"{plural}."
        )
    return f"{told} From an empty cache in one piece: no; {_why(steps, kept)}."


def _why(steps: Sequence[Step], kept: Sequence[Step]) -> str:
    if not kept:
        return (
            "every step was computed in this run, but the cache held models or explanations of an earlier one, whose "
            "time is not counted"
        )
    oldest = min((step.when[:10] for step in kept if step.when), default="an unknown day")
    names = ", ".join(step.name for step in kept[:_NAMED])
    more = f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
    return f"{len(kept)} of {len(steps)} steps were kept from earlier runs, the oldest from {oldest}: {names}{more}"
