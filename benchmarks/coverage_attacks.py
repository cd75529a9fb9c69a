"""Intervals attacked: systems on which they fail, or might, each with the interval before and after its remedy.

A trial is a function ``(system, n, rng)``, as in `coverage_trials.py`, that answers "before", "after" or both:

- before: rows taken for independent, weights or silence as ``interval="jackknife"`` has them, a label taken for one
  that was named before looking, pairs each by itself, the interval that assumes no unseen row under many rules;
- after: what to do now, which is the default, unless the section says otherwise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import faithscope as fs
from coverage_study import NOMINAL, Cell, repeat
from coverage_trials import Answer, Trial, answer

CONFIDENCES = (0.5, 0.8, 0.95, 0.99, 0.999)


@dataclass(frozen=True)
class Attack:
    """A trial on one system at one number of rows; `nominal` is the coverage that is promised."""

    section: str
    trial: Trial
    name: str
    system: Any
    n: int
    times: int
    nominal: float = NOMINAL


@dataclass(frozen=True)
class AttackLine:
    """What an attack found: cells of the interval before its remedy and after it, None if it was not asked."""

    section: str
    nominal: float
    before: Cell | None
    after: Cell | None

    @classmethod
    def read(cls, section: str, nominal: float, **cells: Any) -> "AttackLine":
        """A line that was kept."""
        return cls(section, nominal, **{name: None if cell is None else Cell(**cell) for name, cell in cells.items()})


def try_attack(attack: Attack, times: int | None = None) -> AttackLine:
    """Make the trial so many times; its chance depends on its name, the system's name and n."""
    results = repeat(attack.trial, attack.name, attack.system, attack.n, times or attack.times)
    cells = {cell.interval: cell for cell in results if isinstance(cell, Cell)}
    return AttackLine(attack.section, attack.nominal, cells.get("before"), cells.get("after"))


def attack_summary(lines: list[AttackLine]) -> Iterator[str]:
    """A line per section: how many cells fall short, and the lowest coverage, before and after."""
    half = f"{'cells':>7}{'short':>7}{'worst':>8}"
    yield f"{'':<98}{half}   |{half}"
    for section in dict.fromkeys(line.section for line in lines):
        chosen = [line for line in lines if line.section == section]
        sides = [[(getattr(line, side), line.nominal) for line in chosen] for side in ("before", "after")]
        yield f"{section:<98}{'   |'.join(_worst([pair for pair in side if pair[0]]) for side in sides)}"


def _worst(cells: list[tuple[Cell, float]]) -> str:
    if not cells:
        return f"{'':>22}"
    short = sum(_is_short(*pair) for pair in cells)
    return f"{len(cells):>7}{short:>7}{min(cell.covered for cell, _ in cells):>8.3f}"


def _is_short(cell: Cell, nominal: float) -> bool:
    """Whether coverage is below what is promised by more than two Monte-Carlo errors."""
    return cell.covered < nominal - 2 * cell.error


def attack_table(lines: list[AttackLine]) -> Iterator[str]:
    """Coverage with its Monte-Carlo error, share of intervals that lie above the truth, and width: before and after."""
    half = f"{'covered':>9}{'± MC':>6}{'above':>7}{'width':>7}"
    for section in dict.fromkeys(line.section for line in lines):
        yield f"\n{section}"
        yield f"  {'':<46}{'n':>7}{'times':>7}{half}   |{half}"
        for line in lines:
            if line.section == section:
                cell = line.after or line.before
                assert cell is not None
                told = "   |".join(_half(each, line.nominal) for each in (line.before, line.after))
                yield f"  {cell.system:<46}{cell.n:>7,}{cell.times:>7,}{told}"
    yield "\nLeft: before; right: after. * more than two Monte-Carlo errors below what is promised."


def _half(cell: Cell | None, nominal: float) -> str:
    if cell is None:
        return f"{'':>29}"
    short = "*" if _is_short(cell, nominal) else " "
    return f"{cell.covered:>8.3f}{short}{cell.error:>6.3f}{cell.above:>7.3f}{cell.width:>7.3f}"


def both(before: Any, after: Any, truth: float) -> dict[str, Answer]:
    """Two answers about one truth."""
    return {"before": answer(before, truth), "after": answer(after, truth)}


def tightened(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """The jackknife, and the default."""
    rows = system.draw(n, rng)
    return both(fs.consistency(*rows, interval="jackknife"), fs.consistency(*rows), system.truth)


def at_confidence(confidence: float) -> Trial:
    """The same at another confidence."""

    def tightened_at(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
        rows = system.draw(n, rng)
        before = fs.consistency(*rows, interval="jackknife", confidence=confidence)
        return both(before, fs.consistency(*rows, confidence=confidence), system.truth)

    return tightened_at


def clustered(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """Without clusters, and with them."""
    rows = system.draw(n, rng)
    clusters = rows.pop("clusters")
    before = fs.consistency(**rows, interval="jackknife")
    return both(before, fs.consistency(**rows, clusters=clusters), system.truth)


def weighted(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """Ratios of weights, and the default."""
    rows = system.draw(n, rng)
    return both(fs.consistency(**rows, interval="jackknife"), fs.consistency(**rows), system.truth)


def weighted_rules(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """The same for sufficiency of rules that partition the rows."""
    rows = system.draw(n, rng)
    place = rows.pop("explanations")[:, None].astype(float)
    rules = fs.Rules.from_bins(place - 0.5, place + 0.5, ["x"])
    before = fs.sufficiency(rules, X=place, **rows, interval="jackknife")
    return both(before, fs.sufficiency(rules, X=place, **rows), system.truth)


def hub_under_rules(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """The default, and what also allows for an unseen row under many rules."""
    rows = system.draw(n, rng)
    return both(fs.sufficiency(**rows), fs.sufficiency(**rows, interval="any"), system.truth)


def hub_further(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """The default, and the default that knows ten times the rows without their predictions."""
    rows, further = system.draw(n, rng), system.draw(10 * n, rng)["X"]
    return both(fs.sufficiency(**rows), fs.sufficiency(**rows, further=further), system.truth)


def hub_within(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """The same for `within`."""
    rows = system.draw(n, rng)
    return both(fs.within(**rows), fs.within(**rows, interval="any"), system.truth)


def no_hub(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """The same for rules that slide over a line: what the allowance costs."""
    points, labels = system.draw(n, rng)
    rows = (system.rules(points), labels, points[:, None].astype(float))
    return both(fs.sufficiency(*rows), fs.sufficiency(*rows, interval="any"), system.truth)


def only_default(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """Rules that miss their own row: the default alone."""
    points, labels = system.draw(n, rng)
    estimate = fs.sufficiency(system.rules(points), labels, points[:, None].astype(float))
    return {"after": answer(estimate, system.truth)}


def renamed(trial: Trial, **intervals: str) -> Trial:
    """Two answers of a trial of `coverage_trials.py`, named before and after."""

    def chosen(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
        answers = trial(system, n, rng)
        return {when: answers[interval] for when, interval in intervals.items()}

    chosen.__name__ = f"{trial.__name__} {sorted(intervals.values())}"
    return chosen


def fitted(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """An explainer that was fitted on the rows it is judged on, and one that was fitted on other rows."""
    same, fresh = (fs.consistency(**leaves.draw(n, rng)) for leaves in system)
    return both(same, fresh, system[0].truth)


def sampled_until(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """`sample_until` with a label given, and of the commonest label; the budget varies."""
    budget = int(rng.integers(20, n + 1))
    rows = [system.draw(budget, rng)]
    named = fs.sample_until(rows, 0, epsilon=0.1, budget=budget, confidence=0.9, prediction=0)
    commonest = fs.sample_until(rows, 0, epsilon=0.1, budget=budget, confidence=0.9)
    return both(named, commonest, system.truth)
