"""Estimates in words: the verdict, one sentence decided by the interval and by chance; tables, and rounded ends."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from faithscope.agreements import Agreement, Close, OwnAgreement, Same, Spread, Tolerance
from faithscope.card import Cell, Table, in_lines, several_in_lines
from faithscope.inputs.frames import frame
from faithscope.measures.intervals.margins import Margins, Share
from faithscope.notes import MAY_MISS, Notes, of_kind
from faithscope.rounding import down, in_brackets, percent_down, percent_up, up
from faithscope.shareable import Shareable
from faithscope.visible import visible
from faithscope.words import several

if TYPE_CHECKING:
    import pandas as pd

Level = Literal["faithful", "consistent", "unknown", "partly", "random", "chance", "unfaithful"]

WORDS: dict[Level, str] = {
    "faithful": "Faithful",
    "consistent": "Consistent",
    "unknown": "Cannot tell yet",
    "partly": "Partly faithful",
    "random": "No better than random features",
    "chance": "No better than chance",
    "unfaithful": "Unfaithful",
}
LEVELS: tuple[Level, ...] = tuple(WORDS)  # from best to worst: an explainer is as faithful as its weakest measure
# As explainers are listed: what is known to be good in part stands before what is not known.
READING_ORDER: tuple[Level, ...] = ("faithful", "consistent", "partly", "unknown", "random", "chance", "unfaithful")
WANTED = 0.9
RIGHT_REASONS = "The same reasons go with the same prediction; whether they are the right reasons"
_APART = 0.01  # of limits of all rows and of those that can be checked: nearer ones are not both told
_NOTHING_KNOWN = 1.9  # an interval that is wider, of a difference between -1 and 1
_LITTLE = 0.25  # of what lies between random features and the bar: who surely gains less is no better than random
COLUMNS = ("checked", "interval", "chance", "unverifiable")  # of every table of estimates that is shown
_FRAMED = ("n", "verified", "low", "high", "chance", "unverifiable", "value", "adjusted", "distinct")  # of every frame
_COUNTED = ("rows", "bound")  # columns of numbers, which follow those of words


def named(agreement: Agreement) -> str:
    """The agreement as a reader may write it down: ``Close(eps=0.5)``, or the name of a function.

    Examples
    --------
    >>> named(Close(0.5))
    'Close(eps=0.5)'
    """
    if isinstance(agreement, OwnAgreement):
        return visible(str(getattr(agreement.function, "__name__", type(agreement.function).__name__)))
    return repr(agreement)


def agreeing(agreement: Agreement, share: str) -> str:
    """What holds of the predictions of rows that are explained alike, after "are", such as "alike 90% of the time".

    Parameters
    ----------
    share : str
        A share in words: "at least 90.0%".

    Examples
    --------
    >>> agreeing(Tolerance(2.0), "at least 90.0%")
    'predicted within 2 of each other at least 90.0% of the time'
    """
    if isinstance(agreement, Same):
        return f"predicted alike {share} of the time"
    if isinstance(agreement, Tolerance):
        return f"predicted within {told_number(agreement.eps)} of each other {share} of the time"
    if isinstance(agreement, Close):
        return f"predicted alike {share} on average (100% if equal, 0% if {told_number(agreement.eps)} or more apart)"
    return f"predicted alike {share} on average, by {named(agreement)}"


def described(agreement: Agreement) -> str:
    """What the agreement of two numbers is, in a sentence; empty for labels.

    Examples
    --------
    >>> described(Tolerance(2.0))
    'Two predictions agree if they are at most 2 apart.'
    """
    if isinstance(agreement, Same):
        return ""
    if isinstance(agreement, Spread):
        return "A measure is the share of the variance of the predictions that explanations account for."
    if isinstance(agreement, Tolerance):
        return f"Two predictions agree if they are at most {told_number(agreement.eps)} apart."
    if isinstance(agreement, Close):
        never = f"not at all if they are {told_number(agreement.eps)} or more apart"
        return f"Two predictions agree wholly if they are equal, {never}, and in proportion in between."
    return f"Two predictions agree from 0 to 1 by {named(agreement)}."


def told_number(value: Any) -> str:
    """A number in four digits; a vector in parentheses."""
    if isinstance(value, tuple | list):
        return f"({', '.join(map(told_number, value))})"
    return f"{value:,.4g}" if abs(value) < 1e4 or abs(value) >= 1e15 else f"{value:,.0f}"


@dataclass(frozen=True, repr=False)
class Measured(Shareable):
    """The numbers of an `Estimate`, which describes them, as words and tables read them."""

    measure: str
    value: float
    low: float
    high: float
    confidence: float
    method: str
    unverifiable: float
    verified: float | None
    chance: float | None
    n: int
    distinct: int
    effective_n: float
    margins: Margins
    counts: Any = field(compare=False)  # Counts, or the Profile that an engine handed over
    notes: Notes = ()
    verified_low: float | None = None
    verified_high: float | None = None
    above_chance: bool | None = None
    silence: float | None = None
    gap: float | None = None
    clusters: int | None = None
    agreement: Agreement = field(default_factory=Same)
    population: str | None = None
    drop: float | None = None
    drop_low: float | None = None
    drop_high: float | None = None
    beyond_random: Share | None = None
    beyond_global: Share | None = None

    @property
    @abstractmethod
    def line(self) -> str:
        """The estimate without its notes, as a single line."""

    @property
    def interval(self) -> tuple[float, float]:
        """The interval for the true measure, (low, high)."""
        return self.low, self.high

    @property
    def upper(self) -> float:
        """The value if every unverifiable row were faithful."""
        return min(1.0, self.value + (self.unverifiable if self.silence is None else self.silence))

    @property
    def bracket(self) -> tuple[float, float]:
        """Between which numbers the measure lies, but for sampling error.

        For "tight", rows with one companion or two tell how much silence hides; for "kept rows", it is that of rows
        kept by chance, by their weights or the sizes of clusters, outside of which the value may lie; else it is the
        value, and `upper`, the value if all silent rows agreed.
        """
        known = self.margins.bracket
        return (self.value, self.upper) if known is None else (known.low, known.high)

    @property
    def adjusted(self) -> float | None:
        """`verified` on a scale where chance is 0 and perfection 1; None if undefined."""
        if self.verified is None or self.chance is None or self.chance >= 1:
            return None
        return (self.verified - self.chance) / (1 - self.chance)


@dataclass(frozen=True)
class ExplainerVerdict:
    """How faithful an explainer is, in a word and in a sentence."""

    level: Level
    sentence: str

    @property
    def word(self) -> str:
        """The level as a word to read."""
        return WORDS[self.level]


def with_doubts(verdict: ExplainerVerdict, doubted: Iterable[str]) -> str:
    """The sentence of a verdict, and what makes one doubt it."""
    return " ".join([verdict.sentence, *(f"Read with care: {doubt}." for doubt in doubted)])


def bar(chance: float, wanted: float = WANTED) -> float:
    """What a faithful explainer reaches: `wanted`, and at least half of what chance leaves open.

    If nine rows in ten share a prediction, any explanation reaches 0.8; 0.9 would then be little.

    Examples
    --------
    >>> bar(chance=0.5), bar(chance=0.9)
    (0.9, 0.95)
    """
    return max(wanted, (1 + chance) / 2)


def level(estimate: Measured, wanted: float = WANTED) -> Level:
    """What an estimate says beside the chance level.

    `low` and `high` allow for silent rows, so they are compared with the `bar`.
    Chance is what the rows that can be checked would reach, so their agreement alone is compared with it
    (`Estimate.above_chance`).

    - faithful: all of it reaches the bar, which is above chance;
    - unfaithful: all of it is at or below chance, even if every silent row agreed;
    - partly: it is below the bar, and rows that can be checked agree more than chance;
    - chance: they do not, and the interval stays nearer to chance than to the bar;
    - unknown: anything else; also if no row can be checked, if all predictions are the same and anything agrees, or if
      a note says that the interval may miss the truth.
    """
    if why_unknown(estimate):
        return "unknown"
    chance = cast(float, estimate.chance)
    threshold = bar(chance, wanted)
    if estimate.low >= threshold:
        return "faithful"
    if estimate.high >= threshold:
        return "unknown"
    if estimate.above_chance:
        return "partly"
    if estimate.high <= chance:
        return "unfaithful"
    return "chance" if estimate.high < (chance + threshold) / 2 else "unknown"


def judge(estimates: Sequence[Measured], needed: Mapping[str, str], wanted: float = WANTED) -> ExplainerVerdict:
    """The verdict on an explainer: that of its weakest measure, and in a few words the other one's.

    Faithful takes both measures. Consistency alone is called consistent, and of importances it is said whether the
    features that they name are shown to be better than random ones; if they are not better, that is the verdict.

    Parameters
    ----------
    estimates : list of Estimate
        Consistency, and sufficiency if it was measured.
    needed : dict of str to str
        Per measure, what more rows would do, in words.
    """
    ranked = weakest_first(estimates, wanted)
    naming = next((estimate for estimate in estimates if estimate.beyond_random is not None), None)
    found, decides = ranked[0]
    right = (
        "was not asked"
        if naming is None
        else "is shown"
        if cast(Share, naming.beyond_random)[1] > 0
        else "is not shown"
    )
    worse = any(reached in {"chance", "unfaithful"} and each is not naming for reached, each in ranked)
    if naming is not None and names_at_random(naming, wanted) and not worse:
        found, decides = "random", naming
    consistent = next(
        (each for reached, each in ranked if (reached, each.measure) == ("faithful", "consistency")), None
    )
    alone = len(ranked) == 1 or (naming is not None and (found != "faithful" or right != "is shown"))
    if consistent is not None and alone and LEVELS.index(found) < LEVELS.index("random"):
        found, decides = "consistent", consistent
    said = [f"{WORDS[found]}: {_clause(found, decides, needed.get(decides.measure, ''), wanted)}."]
    if found == "consistent" or (found == "faithful" and naming is not None):
        said.append(f"{RIGHT_REASONS} {right}.")
    if found != "random" and naming is not None:
        said.append(_naming(naming))
    for reached, estimate in ranked:  # the measure that did not decide, in a few words
        if estimate is decides:
            continue
        bounds = "nothing can be checked" if why_unknown(estimate) else _bounds(reached, estimate)
        if of_kind(estimate.notes, "interval"):
            bounds = MAY_MISS
        elif estimate.unverifiable and reached in {"chance", "partly"}:
            bounds += " where it can be checked"
        word = "consistent" if (reached, estimate.measure) == ("faithful", "consistency") else WORDS[reached].lower()
        likewise = f"{estimate.measure.capitalize()} likewise: {bounds}."
        said.append(likewise if reached == found else f"By {estimate.measure} alone: {word}, {bounds}.")
    return ExplainerVerdict(found, " ".join(said))


def names_at_random(estimate: Measured, wanted: float = WANTED) -> bool:
    """Whether importances are shown to name features hardly better than random ones.

    They are not shown to be better, and surely gain less than a quarter of what lies between these and the bar.
    """
    more = estimate.beyond_random
    if more is None or shown_to_name(estimate) or estimate.chance is None:
        return False
    left = bar(estimate.chance, wanted) - (estimate.value - more[0])
    return more[2] <= max(0.0, _LITTLE * left)


def shown_to_name(estimate: Measured) -> bool:
    """Whether importances are shown to name better features than random ones, or were not asked."""
    more = estimate.beyond_random
    return more is None or more[1] > 0 or more[1] == more[2] == 0  # all features are named


def _naming(estimate: Measured) -> str:
    """What naming features is worth, in a sentence; also if the same features would do for everybody."""
    random, everybody = cast(Share, estimate.beyond_random), cast(Share, estimate.beyond_global)
    if random[2] - random[1] > _NOTHING_KNOWN:
        return "Whether the named features are better than random ones cannot be told: too few rows are alike in them."
    told = f"Rows alike in the named features agree {_points(random)} beyond rows alike in random ones"
    told += ", which chance may give" if random[1] <= 0 < random[2] else ""
    if everybody[1] == everybody[2]:
        return f"{told}; the same features are named for everybody here."
    joined = "but" if random[1] > 0 >= everybody[1] else "and"
    how = "" if everybody[1] > 0 else "less than " if everybody[2] < 0 else "not surely beyond "
    return f"{told}, {joined} {how}those alike in the same features for everybody: {_points(everybody)}."


def _points(more: Share) -> str:
    """A difference of shares with its interval, in percentage points."""
    value, low, high = more
    return f"{100 * value:+.1f} points ({down(100 * low, 1, signed=True)} to {up(100 * high, 1, signed=True)})"


def weakest_first(estimates: Iterable[Measured], wanted: float = WANTED) -> list[tuple[Level, Measured]]:
    """The estimates with what each says: the first of them decides the verdict."""
    judged = [(level(estimate, wanted), estimate) for estimate in estimates]
    return sorted(judged, key=lambda pair: -LEVELS.index(pair[0]))


def why_unknown(estimate: Measured) -> str:
    """Why nothing at all can be said, in words that follow a colon; empty if something can."""
    if estimate.verified is None:
        return f"every row has an explanation {_alone(estimate)}, so that nothing can be checked"
    if estimate.chance is not None and estimate.chance < 1:
        return MAY_MISS if of_kind(estimate.notes, "interval") else ""
    if estimate.agreement.of_numbers:
        return f"all predictions agree with each other by {named(estimate.agreement)}, so that any explanation would"
    return "all predictions are the same, so that any explanation would agree"


def _alone(estimate: Measured) -> str:
    if estimate.population is not None:
        return "that leaves no draw"
    known = {"consistency": "that no other row has", "sufficiency": "that applies to no other row"}
    return known.get(estimate.measure, "that covers no other row")


def _clause(reached: Level, estimate: Measured, needed: str, wanted: float) -> str:
    if unknown := why_unknown(estimate):
        return unknown
    known = cast(float, estimate.chance)
    chance, asked, bounds = f"{known:.1%}", bar(known, wanted), _bounds(reached, estimate)
    where = "where it can be checked, " if estimate.unverifiable and reached in {"chance", "partly"} else ""
    told = f"{where}{holds(estimate, bounds)}"
    if reached in {"faithful", "consistent"}:
        return f"{told}, of {asked:.0%} asked for, while chance alone gives {chance}"
    if reached == "random":
        more = cast(Share, estimate.beyond_random)
        random = f"rows alike in as many features drawn at random; {asked:.0%} is asked for"
        return f"rows alike in the named features agree {_points(more)} beyond {random}"
    if reached == "unfaithful":
        return f"{told}, no more than chance alone gives, {chance}, of {asked:.0%} asked for"
    if reached == "chance":
        return f"{told}, and chance alone gives {chance}, of {asked:.0%} asked for"
    if reached == "partly":
        most = " but"
        if estimate.unverifiable and abs(estimate.high - (estimate.verified_high or 0.0)) >= _APART:
            most = f"; over all rows at most {percent_up(estimate.high)},"
        return f"{told}, above chance ({chance}){most} below {asked:.0%}"
    if 2 * (estimate.bracket[1] - estimate.bracket[0]) < estimate.high - estimate.low:  # silence is the lesser part
        what = f"whether {asked:.0%} is reached:" if estimate.low < asked <= estimate.high else "more than that"
        return f"the rows are too few to say {what} {told} (chance: {chance}){needed}"
    truth = "share of the variance accounted for" if isinstance(estimate.agreement, Spread) else "truth"
    silent = f"{estimate.unverifiable:.0%} of the rows have an explanation {_alone(estimate)}"
    return f"{silent}, so that the {truth} is {bounds} (chance: {chance}){needed}"


def _bounds(reached: Level, estimate: Measured) -> str:
    """What decided the level: one end, the interval, or that among rows that can be checked, compared with chance."""
    if reached in {"faithful", "consistent"}:
        return f"at least {percent_down(estimate.low)}"
    if reached == "unfaithful":
        return f"at most {percent_up(estimate.high)}"
    low, high = estimate.low, estimate.high
    if reached != "unknown":
        low = cast(float, estimate.verified_low)  # known if `verified` is
        high = cast(float, estimate.verified_high) if estimate.unverifiable else high
    return f"between {percent_down(low)} and {percent_up(high)}"


def holds(estimate: Measured, share: str) -> str:
    """What the measure says, with a share in words such as "at least 90.0%"."""
    if isinstance(estimate.agreement, Spread):
        where = " where they apply" if estimate.measure == "sufficiency" else ""
        return f"explanations account for {share} of the variance of the predictions{where}"
    if estimate.population is not None:
        subject = "a row and the draws that keep its explanation"
    elif estimate.beyond_random is not None:
        subject = "rows alike in the features that an explanation names"
    elif estimate.measure in {"consistency", "sufficiency"}:
        applies = (
            "to which an explanation applies" if estimate.measure == "sufficiency" else "with the same explanation"
        )
        subject = f"rows {applies}"
    else:
        return f"{estimate.measure} holds {share} of the time"
    return f"{subject} are {agreeing(estimate.agreement, share)}"


def recall_sentence(estimate: Measured) -> str:
    """What necessity says, beside the share of all rows that explanations cover: no verdict.

    Examples
    --------
    >>> from faithscope import Rules, necessity
    >>> rules = Rules.from_conditions([[("age", "<=", 40.0)]] * 20, features=["age"])
    >>> recall_sentence(necessity(rules, [0, 1] * 10, [[25.0], [51.0]] * 10))
    'Explanations apply to 50% of the other rows with the same prediction (13% to 87%), and to 50% of all others.'
    """
    same = "of the other rows with the same prediction"
    if estimate.agreement.of_numbers:
        same = "of the other rows, each by how much its prediction agrees"
    if estimate.verified is None:
        return f"Nothing can be told of necessity: there are no others {same[3:]}."
    between = f"({down(100 * estimate.low, 0)}% to {up(100 * estimate.high, 0)}%)"
    chance = "" if estimate.chance is None else f", and to {estimate.chance:.0%} of all others"
    return f"Explanations apply to {estimate.verified:.0%} {same} {between}{chance}."


def numbers(estimate: Measured) -> tuple[str, ...]:
    """The numbers of an estimate as text, in the order of `COLUMNS`.

    Examples
    --------
    >>> from faithscope import consistency
    >>> numbers(consistency(["old", "young"], [1, 0]))
    ('–', '0.000–1.000', '0.000', '100.0%')
    """
    interval = Cell(f"{down(estimate.low)}–{up(estimate.high)}", estimate.low)
    silent = Cell(f"{estimate.unverifiable:.1%}", estimate.unverifiable)
    return number(estimate.verified), interval, number(estimate.chance), silent


def number(value: float | None) -> Cell:
    """A number as text; a dash if it is undefined."""
    return Cell("–" if value is None else f"{value:.3f}", value)


def in_clusters(clusters: int | None) -> str:
    """In how many clusters rows are, as the end of a phrase; empty if rows are independent."""
    return "" if clusters is None else f" in {several(clusters, 'cluster', 'clusters')}"


def caption(estimate: Measured) -> str:
    """How many rows, at which confidence, by which agreement."""
    alike = estimate.effective_n in (estimate.n, estimate.clusters)
    weighted = "" if alike else f" (as good as {estimate.effective_n:,.0f} independent ones that count alike)"
    on = "" if estimate.population is None else f", on {visible(estimate.population)}"
    rows = f"{several(estimate.n, 'row', 'rows')}{in_clusters(estimate.clusters)}"
    return f"{rows}{weighted}{on}, {intervals(estimate)}"


def intervals(estimate: Measured) -> str:
    """At which confidence, by which agreement."""
    by = f", by {named(estimate.agreement)}" if estimate.agreement.of_numbers else ""
    return f"{100 * estimate.confidence:g}% intervals{by}"


def estimate_table(
    names: Sequence[str], lines: Iterable[tuple[Sequence[str], Measured]], title: str = "", below: str = ""
) -> Table:
    """A table of estimates: columns under `names`, of words or of numbers of rows, then the numbers."""
    rows = tuple((*words, *numbers(estimate)) for words, estimate in lines)
    return Table((*names, *COLUMNS), rows, len([name for name in names if name not in _COUNTED]), title, below)


def estimate_columns(estimates: Iterable[Measured]) -> dict[str, list[Any]]:
    """The numbers of several estimates as the columns that every frame of estimates has."""
    known = list(estimates)
    return {name: [getattr(estimate, name) for estimate in known] for name in _FRAMED}


@dataclass(frozen=True, repr=False, kw_only=True)
class Answer(Shareable):
    """A number with its interval: what results have in common that are not made of estimates."""

    value: float
    low: float
    high: float
    confidence: float
    n: int
    notes: Notes = ()

    @property
    def interval(self) -> tuple[float, float]:
        """The pair (low, high)."""
        return self.low, self.high

    @property
    def _title(self) -> str:
        return type(self).__name__.lower()

    @property
    def _ends(self) -> str:
        """The interval in words."""
        return f"{100 * self.confidence:g}% interval {in_brackets(self.low, self.high)}"

    def table(self) -> "pd.DataFrame":
        """One line of numbers."""
        return frame({name: [value] for name, value in self.to_dict().items() if name not in ("measure", "notes")})

    def plot(self) -> Any:
        """The value with its interval beside chance, as an Altair chart."""
        from faithscope.charts import estimates

        return estimates([(self._title, self)])

    def __str__(self) -> str:
        return in_lines(self._line, self.notes)


class OfEstimates(Shareable, ABC):
    """A result that is made of estimates, each under a name: its frame, chart, table and notes."""

    _label: ClassVar[str]  # what the names are

    @abstractmethod
    def _by_name(self) -> Sequence[tuple[str, Measured]]:
        """The estimates under their names."""

    def _beside(self) -> dict[str, Sequence[Any]]:
        """Columns of the frame before those of the numbers."""
        return {self._label: [name for name, _ in self._by_name()]}

    @property
    def notes(self) -> Notes:
        """What a reader should know before trusting the estimates, each note once."""
        return tuple(dict.fromkeys(note for _, estimate in self._by_name() for note in estimate.notes))

    def table(self) -> "pd.DataFrame":
        """One line per estimate."""
        return frame({**self._beside(), **estimate_columns(estimate for _, estimate in self._by_name())})

    def plot(self) -> Any:
        """Every estimate with its interval, chance and the unverifiable part, as an Altair chart."""
        from faithscope.charts import estimates

        return estimates(self._by_name())

    def _tables(self) -> Iterable[Table]:
        beside, measured = self._beside(), [estimate for _, estimate in self._by_name()]
        columns = (
            [(down if name == "bound" else told_number)(x) if isinstance(x, float) else visible(str(x)) for x in each]
            for name, each in beside.items()
        )
        lines = zip(zip(*columns, strict=True), measured, strict=True)
        return [estimate_table(tuple(beside), lines, below=caption(measured[0]))]


class Listed(OfEstimates):
    """Estimates of which none stands for all: each has a line, and each note says whom it is about."""

    def _lines(self) -> Sequence[tuple[str, str]]:
        """The name of each estimate, and what it says in a line."""
        return [(name, f"{name}: {estimate.line}") for name, estimate in self._by_name()]

    def _told(self) -> list[tuple[str, str, Notes]]:
        """The name of each estimate, what it says in a line, and its notes."""
        return [(*line, each.notes) for line, (_, each) in zip(self._lines(), self._by_name(), strict=True)]

    def __str__(self) -> str:
        lines = several_in_lines(self._told())
        return "\n".join([lines, *map(in_lines, map(visible, self._remarks))])

    @property
    def _remarks(self) -> Notes:
        """What could not be measured, and why, and what else is said of all measures."""
        return ()

    def _sentences(self) -> Iterable[str]:
        return ()

    def _told_notes(self) -> Iterable[str]:
        notes = (f"{name}: {note}" for name, _, notes in self._told() for note in notes)
        return (*notes, *self._remarks)


class Curve(Listed):
    """Estimates by a number, such as a distance."""

    _chart: ClassVar[str]  # the chart that draws it
    _points: ClassVar[str]  # the field that holds the numbers
    estimates: tuple[Any, ...]

    def _by_name(self) -> Sequence[tuple[str, Measured]]:
        points = getattr(self, self._points)
        return [(f"{self._label} {at:g}", estimate) for at, estimate in zip(points, self.estimates, strict=True)]

    def _beside(self) -> dict[str, Sequence[Any]]:
        return {self._label: getattr(self, self._points)}

    def plot(self) -> Any:
        """The measure by this number, with intervals and chance, as an Altair chart."""
        from faithscope import charts

        return getattr(charts, self._chart)(getattr(self, self._points), self.estimates)

    def _lines(self) -> Sequence[tuple[str, str]]:
        return [(name, estimate.line) for name, estimate in self._by_name()]
