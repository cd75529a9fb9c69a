"""Populations: the same measure for each group of rows, and whether groups differ."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, cast, overload

import numpy as np

from faithscope.agreements import Same, Spread
from faithscope.card import Table, for_json
from faithscope.counting.leave_out import Sums
from faithscope.errors import BadInput, UnknownName
from faithscope.inputs.checks import check_word
from faithscope.measures.comparing.beside import Sides
from faithscope.measures.comparing.differences import (
    MANY,
    NOTHING_KNOWN,
    POPULATION_COLUMNS,
    Difference,
    difference_frame,
    difference_tables,
    together,
)
from faithscope.measures.comparing.groupings import to_groups
from faithscope.measures.estimate import NECESSITY, Estimate, to_estimate
from faithscope.measures.intervals.margins import Margins
from faithscope.measures.planning import rarefy
from faithscope.measures.telling import Listed, estimate_table, intervals
from faithscope.notes import Note, of_kind
from faithscope.sample import Sample
from faithscope.words import hint, told_apart

if TYPE_CHECKING:
    import pandas as pd

P = ParamSpec("P")
_MOST_PAIRED = 50  # with more groups, pairs are left out unless they are asked for
_MOST_SHOWN = 12
_MOST_ASKED = 200  # groups of which each is compared with the rest
_REST = "the rest"
BESIDE, BESIDE_REFERENCE, AMONG = "beside everybody", "beside the reference", "among themselves"
_AMONG = ("value", "low", "high", "unverifiable", "verified")  # columns of a table that are told of both
# The difference of two sets of groups beside everybody, by their numbers, under two names.
BesideDifference = Callable[[Collection[int], Collection[int], tuple[Any, Any]], Difference]


def difference(a: Estimate, b: Estimate, names: tuple[Any, Any] = ("a", "b")) -> Difference:
    """The difference a - b of two independent samples; the margins add in squares."""
    rows, known = min(a.n, b.n), dict[str, Any]()
    numbers = isinstance(a.agreement, Spread)
    if a.counts.plain and b.counts.plain and a.population is None and a.measure != NECESSITY and not numbers:
        both = ("a", a), ("b", b)
        known = {f"{name}_at_equal_n": rarefy(each.counts.profile(), rows)[0] for name, each in both}
    off = NOTHING_KNOWN if of_kind((*a.notes, *b.notes), "interval") else _added(a.margins, b.margins)
    return Difference.of(names, a, b, off, min(a.confidence, b.confidence), **known)


def shown_groups(estimates: Mapping[Any, Estimate]) -> list[Any]:
    """The groups that pages, cards and terminals show: of many, those with the lowest intervals, in their order."""
    lowest = set(sorted(estimates, key=lambda group: estimates[group].low)[:_MOST_SHOWN])
    return [group for group in estimates if group in lowest]


def shown_differences(
    estimates: Mapping[Any, Estimate], groups: Iterable[Any], apart: BesideDifference | None = None
) -> tuple[list[Difference], int]:
    """Differences between any two of these groups, and how many intervals hold together: 0 if each by itself.

    If all groups, shown or not, make many pairs, the intervals hold for all of them together.
    """
    pairs = _pairs(estimates, groups, apart)
    all_pairs = math.comb(len(estimates), 2)
    return (together(pairs, all_pairs), all_pairs) if all_pairs > MANY else (pairs, 0)


def _pairs(
    estimates: Mapping[Any, Estimate], groups: Iterable[Any], apart: BesideDifference | None
) -> list[Difference]:
    """The differences of every two of some groups: of independent samples, or beside everybody."""
    place = {group: number for number, group in enumerate(estimates)}
    return [
        difference(estimates[a], estimates[b], (a, b)) if apart is None else apart([place[a]], [place[b]], (a, b))
        for a, b in combinations(groups, 2)
    ]


def _added(a: Margins, b: Margins, confidence: float | None = None) -> Margins:
    """How far the difference of two independent samples may be off, below and above."""
    if confidence is not None:
        a, b = a.at(confidence), b.at(confidence)
    return Margins(math.hypot(a.below, b.above), math.hypot(a.above, b.below), again=partial(_added, a, b))


@dataclass(frozen=True, repr=False)
class Populations(Listed):
    """One estimate per group of rows, beside everybody, and one among themselves; ``populations[group]`` is the first.

    Beside everybody, rows of the group ask and all rows answer: does somebody of the group get the prediction that
    anybody with that explanation gets? Among themselves, rows are compared with rows of their own group alone, which
    leaves more of them silent.

    Attributes
    ----------
    estimates : dict of group to Estimate
        Beside everybody; among themselves if `among` is None.
    among : Populations or None
        The same groups among themselves. None if these are such, or if `estimates` are.
    by : str
        The name of the column that gives the groups; empty if it has none. Groups of several columns are tuples.

    Examples
    --------
    >>> import faithscope as fs
    >>> groups = fs.consistency(["a"] * 6, [0, 0, 1, 1, 0, 1], by=["x", "x", "x", "y", "y", "y"])
    >>> groups.table()[["group", "n", "value", "among_value"]].round(2).values.tolist()
    [['x', 3, 0.4, 0.33], ['y', 3, 0.4, 0.33]]
    """

    estimates: dict[Any, Estimate]
    by: str = ""
    among: "Populations | None" = None
    _apart: BesideDifference | None = field(default=None, compare=False)

    def __getitem__(self, group: Any) -> Estimate:
        if group not in self.estimates:
            raise UnknownName(f"No group is called {group!r}. {hint(str(group), list(map(str, self.estimates)))}")
        return self.estimates[group]

    def _beside_everybody(self, asked: Sides) -> "Populations":
        """The same groups beside everybody; these are among themselves."""
        estimates = {group: asked.estimate(number) for number, group in enumerate(self.estimates)}
        return replace(self, estimates=estimates, among=self, _apart=asked.difference)

    @property
    def compared(self) -> str:
        """With whom rows of a group are compared."""
        return AMONG if self._apart is None else BESIDE

    @property
    def _texts(self) -> dict[str, Estimate]:
        """Estimates by the texts of their groups, no two alike, for doors that show them."""
        return dict(zip(told_apart(self.estimates), self.estimates.values(), strict=True))

    def _by_name(self) -> Sequence[tuple[str, Estimate]]:
        return list(self._texts.items())

    def table(self) -> "pd.DataFrame":
        """One line per group: beside everybody, and then the same columns among themselves, as ``among_...``."""
        lines = super().table()
        if self.among is None:
            return lines
        return lines.join(self.among.table()[list(_AMONG)].add_prefix("among_"))

    def _beside(self) -> dict[str, Sequence[Any]]:
        return {"group": list(self.estimates)}

    def differences(
        self, simultaneous: bool = False, *, against: Literal["each", "rest"] | None = None
    ) -> "pd.DataFrame":
        """One line per pair of groups, or per group: the difference with its interval.

        Parameters
        ----------
        simultaneous : bool
            By default each interval has the stated confidence by itself: among many pairs some will differ by chance.
            If True, all intervals hold together with that confidence (Bonferroni), and are wider.
        against : {"each", "rest"}, optional
            "each" compares every two groups; among themselves, it tells both at equal numbers of rows. "rest" compares
            each group with all others, beside everybody. By default "each", up to 50 groups.
        """
        check_word(against, "against", ("each", "rest"), optional=True)
        return difference_frame(self._differences(against), POPULATION_COLUMNS, simultaneous)

    def _differences(self, against: str | None = "each") -> list[Difference]:
        many, apart = len(self.estimates), self._apart
        if against is None and many > _MOST_PAIRED:
            raise BadInput(
                f"{many:,} groups make {math.comb(many, 2):,} pairs: compare each group with all others by "
                ".differences(against='rest'), or every two of them by .differences(against='each')."
            )
        if against != "rest":
            return _pairs(self.estimates, self.estimates, apart)
        if apart is None:
            raise BadInput("Groups among themselves have no rest in common: pass against='each'.")
        return [
            apart([place], [other for other in range(many) if other != place], (name, _REST))
            for place, name in enumerate(self.estimates if many > 1 else ())
        ]

    @property
    def has_rest(self) -> bool:
        """Whether each group is compared with the rest: beside everybody, if they are not more than 200."""
        return self._apart is not None and 1 < len(self.estimates) <= _MOST_ASKED

    @cached_property
    def lower(self) -> list[Any]:
        """Groups that are shown to agree less with everybody than all others do, by intervals that hold together.

        Empty if groups are measured among themselves alone, and if they are more than 200.
        """
        return [pair.a for pair in together(self._differences("rest")) if pair.high < 0] if self.has_rest else []

    def to_dict(self) -> dict[str, Any]:
        """All numbers by group, and by pair of groups up to 50 groups, ready for JSON; ``among`` has those among them.

        With more groups, ``differences`` is None and ``notes`` say so: 1,000 groups have 499,500 differences.
        """
        many = len(self.estimates)
        told: dict[str, Any] = {
            "groups": [{"group": for_json(group), **each.to_dict()} for group, each in self.estimates.items()],
            "differences": [pair.to_dict() for pair in self._differences()] if many <= _MOST_PAIRED else None,
        }
        if many > _MOST_PAIRED:
            told["notes"] = [f"pairs of {many:,} groups are left out: ask for .differences(against='rest')"]
        if self.among is not None:
            told |= {"lower": list(map(for_json, self.lower)), "among": self.among.to_dict()}
        return told

    @property
    def _title(self) -> str:
        compared = "" if self._apart is None else f", {self.compared}"
        return f"{self._first.measure} by {self.by or 'group'}{compared}"

    @property
    def _first(self) -> Estimate:
        return next(iter(self.estimates.values()))

    def _tables(self) -> Iterable[Table]:
        """Estimates by group beside everybody, how the groups differ, and the same groups among themselves."""
        yield self._table()
        pairs, together = shown_differences(self._texts, shown_groups(self._texts), self._apart)
        yield from difference_tables(pairs, together=together)
        if self.among is not None:
            yield self.among._table()

    def _table(self) -> Table:
        estimates = self._texts
        shown = shown_groups(estimates)
        lines = [((name, f"{estimates[name].n:,}"), estimates[name]) for name in shown]
        left_out = len(estimates) - len(shown)
        more = f"; {left_out:,} more groups, whose intervals begin no lower, are not shown" if left_out else ""
        title = self.compared.capitalize()
        return estimate_table((self.by or "group", "rows"), lines, title, f"{intervals(self._first)}{more}")

    def _told_notes(self) -> Iterable[str]:
        named = [(name, self._texts[name]) for name in shown_groups(self._texts)]
        return dict.fromkeys(f"{name}: {note}" for name, estimate in named for note in estimate.notes)

    def __str__(self) -> str:
        among = "" if self.among is None else f"\n\n{self.among.compared}\n{self.among}"
        return f"{super().__str__()}{among}"


class ByGroups(Protocol[P]):
    """A measure that answers with an `Estimate`, or if it is asked ``by=`` groups with `Populations`."""

    @overload
    def __call__(self, *args: P.args, **options: P.kwargs) -> Estimate: ...
    @overload
    def __call__(
        self, explanations: Any, predictions: Any = ..., X: Any = ..., *, by: Any, **options: Any
    ) -> Populations: ...


def by_groups(measure: Callable[P, Any]) -> ByGroups[P]:
    """The same measure, of which it is known what it answers without groups, and what with them."""
    return cast(ByGroups[P], measure)


def measure_groups(
    sample: Sample,
    groups: Any,
    measure: Callable[[Sample], Estimate],
    beside: Callable[[Sample], Sides | None] | None = None,
) -> Populations:
    """One measure of each group of rows: beside everybody, and among themselves.

    Parameters
    ----------
    groups : array-like, (n,), or str or list of str
        The group of each row, None if it is missing; or columns of X by name, whose values are crossed.
    measure : callable
        Measures the rows of one group, among themselves.
    beside : callable, optional
        Prepares the groups of a sample to be measured beside everybody; if there is none, they are measured among
        themselves alone.
    """
    by, values = to_groups(groups, sample.X)
    parts = sample.split(values)
    asked = None if beside is None else beside(sample.asking(values))
    estimates = [
        (None if asked is None else asked.among(number)) or measure_group(part, measure)
        for number, part in enumerate(parts.values())
    ]
    among = Populations(dict(zip(parts, estimates, strict=True)), by)
    return among if asked is None else among._beside_everybody(asked)


def measure_group(part: Sample, measure: Callable[[Sample], Estimate]) -> Estimate:
    """The measure within one group; unknown if its predictions do not vary and the measure is a share of variance."""
    predictions = part.counted().labels
    if not isinstance(part.agreement, Spread) or (predictions != predictions[0]).any():
        return measure(part)
    why = "predictions do not vary, so there is no variance to account for"
    told = Note("nothing can be told", "constant", advice=why)
    alike = measure(replace(part, labels=np.zeros(part.n, np.int64), agreement=Same()))
    profile = alike.counts.profile()
    counts = replace(profile, agreeing=0.0 * profile.others, pairs=0.0 * profile.others, agreement=part.agreement)
    found = to_estimate(counts, Sums(0.0, 1.0, 1.0), Margins(1.0, 1.0), alike.measure, alike.confidence, silence=1.0)
    return replace(found, notes=(*alike.notes, told))
