"""A run as a document: what holds, what does not, what cannot be known; then settings, and every number of every part.

A section has blocks: a sentence, a list of sentences (a tuple), a `Table` or a `Figure`. Whoever writes it, for a
terminal, as Markdown or as a page, knows blocks only.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faithscope.explanations.base import several
from faithscope.sinks.card import Cell, Table
from faithscope_reproduction.records import MET, NEAR, ROUNDING, SETTINGS, Claim, Figure, Record, Step
from faithscope_reproduction.running import Part
from faithscope_reproduction.telling import evidence

_WORDS = ("explained", "likely", "partly", "open", "unexplained")
_NAMED = 6  # steps that are named where some were kept
_BLANK = Record("", "", "", "as_run", 0, None)
NO_RANGE = "no range computed"
_INTRO = (
    "*As run* is what comes nearest to what the authors seem to have run, *as defined* the paper's definitions with "
    "our defaults. Shares are compared by their difference, numbers above 1 by their relative difference."
)
_FAR = (
    "As run, farther than 0.05 from the printed number. *In range*: other plausible draws reach the printed one. "
    "*Unexplained* means that we do not know why. *Likely* and *partly*: there is a reason for it, or for a part "
    "of it, that this run does not prove; *open*: a reason was named and not tried."
)
_READING = (
    "Intervals are for the true measure, at 95%: sampling error and unverifiable rows both. *range* is over plausible "
    "draws of what the paper does not tell, ours among them."
)
_NUMBERS = (
    *("case", "measure", "printed", "as run", "± std", "range", "n"),
    *("as defined", "95% interval", "unverifiable", "chance", "n "),
)
_COUNTS = ("table", "setting", "printed", *MET, "mean error of shares", "in our interval")


# How a number stands with the printed one, or a claim with its test, in the colors of verdicts.
_LOOKS = dict(zip(MET, ("faithful", "partly", "partly", "unfaithful", ""), strict=True))
_LOOKS |= {"holds": "faithful", "fails": "unfaithful"}
Block = str | tuple[str, ...] | Table | Figure


@dataclass(frozen=True)
class Section:
    """A heading with blocks; `part` for the numbers of one part of the paper."""

    title: str
    blocks: Sequence[Block]
    part: str = ""


@dataclass(frozen=True)
class Clock:
    """The wall clock of a run: seconds, parts that ran at once, and whether the cache was empty at the beginning."""

    seconds: float
    workers: int
    fresh: bool


def document(parts: Sequence[Part], command: str, clock: Clock | None = None) -> list[Section]:
    """The whole run; the first section has no heading of its own."""
    records = [record for part in parts for record in part.outcome.records]
    claims = [claim for part in parts for claim in part.outcome.claims]
    rows = [
        (
            _marked(claim.verdict, claim.verdict),
            claim.table,
            claim.setting.replace("_", " "),
            claim.words,
            f"{claim.test}: {decided_by(claim)}",
            claim.note,
        )
        for claim in claims
    ]
    names = ("verdict", "table", "setting", "claim", "test", "note")
    verdicts = [[c.verdict for c in claims if setting in (c.setting, "both")] for setting in (*SETTINGS, "both")]
    counts = [
        (setting.replace("_", " "), *(str(told.count(word)) for word in ("holds", "undecided", "fails")))
        for setting, told in zip((*SETTINGS, "both"), verdicts, strict=True)
    ]
    tested: list[Block] = [
        Table(("setting", "hold", "undecided", "fail"), tuple(counts)),
        Table(names, tuple(rows), title=f"All {len(claims)} claims and their tests"),
    ]
    far = far_rows(records)
    explained = Table(("number", "printed", "ours", "n", "range", "verdict", "why"), tuple(far))
    return [
        Section("", (f"Written by `{command}`. {timing(parts, clock)} {_INTRO}",)),
        Section("In a minute", [f"**{heading}.** {told}" for heading, told in in_a_minute(records, claims)]),
        Section("Printed numbers that are met", (Table(_COUNTS, tuple(met_rows(records))),)),
        Section("Numbers that are far, and why", (_FAR, explained) if far else ("As run, none is farther than 0.05.",)),
        Section("Which claims hold", tested if claims else ("These parts test no claim.",)),
        Section("Settings as run, and their evidence", (evidence.CHOSEN, Table(evidence.COLUMNS, evidence.AS_RUN))),
        Section("Every number", (_READING,)),
        *(Section(f"{part.name}: {part.title}", _blocks(part), part.name) for part in parts),
    ]


def _blocks(part: Part) -> list[Block]:
    """Figures of a part, all its numbers with both settings side by side, and its notes."""
    pairs: dict[tuple[str, str], dict[str, Record]] = {}
    for record in part.outcome.records:
        pairs.setdefault((record.case, record.measure), {})[record.setting] = record
    rows = []
    for (case, measure), both in pairs.items():
        run, defined = both.get("as_run", _BLANK), both.get("as_defined", _BLANK)
        spread = f"{number(run.lowest)} to {number(run.highest)} ({_draws(run)})"
        limits = f"{number(defined.low)} to {number(defined.high)}"
        rows.append(
            (
                case,
                measure.replace("_", " "),
                number(next((record.printed for record in both.values() if record.printed is not None), None)),
                _marked(number(run.ours, 3), run.met),
                number(run.std, 3),
                "" if run.lowest is None else spread,
                f"{run.n:,}" if run.n else "",
                _marked(number(defined.ours, 3), defined.met),
                "" if defined.low is None else limits,
                "" if defined.unverifiable is None else f"{defined.unverifiable:.0%}",
                number(defined.chance),
                f"{defined.n:,}" if defined.n else "",
            )
        )
    notes = dict.fromkeys([*part.outcome.notes, *(record.note for record in part.outcome.records if record.note)])
    told = (*notes, f"{spoken(part.outcome.seconds)} of computing")
    return [*part.outcome.figures, Table(_NUMBERS, tuple(rows), title=f"{len(rows)} numbers"), told]


def _marked(text: str, stands: str) -> Cell:
    return Cell(text, text, _LOOKS.get(stands, ""))


def _draws(record: Record) -> str:
    return "95% of runs" if record.draws is None else f"{record.draws} draws"


def number(value: float | None, digits: int = 2) -> str:
    """A share with `digits` digits, a count with none; an empty text for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) > 1 else f"{value:.{digits}f}"


def decided_by(claim: Claim) -> str:
    """The p-value or the interval that decided on a claim."""
    if claim.p is not None:
        return f"p = {claim.p:.2g}"
    ends = [end for end in (claim.low, claim.high) if end is not None]
    return " to ".join(f"{end:+.3f}" if abs(end) <= 1 else f"{end:+,.0f}" for end in ends)


def spoken(seconds: float) -> str:
    """A duration in seconds, minutes or hours."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def timing(parts: Sequence[Part], clock: Clock | None = None) -> str:
    """The time of a run in sentences, and whether it was one piece."""
    told = f"{spoken(sum(part.outcome.seconds for part in parts))} of computing"
    if clock is None:
        return f"{told}."
    if clock.workers > 1:  # they train the slow models before any step begins
        told = f"{told}, without the models that workers trained first"
    steps = [step for part in parts for step in part.outcome.steps]
    kept = [step for step in steps if step.kept]
    if clock.fresh and not kept:
        many = several(clock.workers, "worker", "workers")
        why = f"yes, {spoken(clock.seconds)} by the clock with {many}"
    elif kept:
        why = f"no; {len(kept)} of {len(steps)} steps were kept from earlier runs, {_named(kept)}"
    else:
        why = (
            "no; every step was computed in this run, but the cache held models or explanations of an earlier one, "
            "whose time is not counted"
        )
    return f"{told}. From an empty cache in one piece: {why}."


def _named(kept: Sequence[Step]) -> str:
    oldest = min((step.when[:10] for step in kept if step.when), default="an unknown day")
    more = f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
    return f"the oldest from {oldest}: {', '.join(step.name for step in kept[:_NAMED])}{more}"


def met_rows(records: Iterable[Record]) -> list[tuple[str, ...]]:
    """How many printed numbers are met, by table and setting, and in all."""
    known = [record for record in records if record.printed is not None]
    rows = []
    for table in (*dict.fromkeys(record.table for record in known), "all"):
        for setting in SETTINGS:
            chosen = [record for record in known if record.setting == setting and table in (record.table, "all")]
            if not chosen:
                continue
            met = Counter(record.met for record in chosen)
            shares = [record.off for record in chosen if record.off is not None and (record.printed or 0.0) <= 1]
            error = sum(shares) / len(shares) if shares else None
            inside = [
                record.low - ROUNDING <= (record.printed or 0.0) <= record.high + ROUNDING
                for record in chosen
                if record.low is not None and record.high is not None
            ]
            counts = (len(chosen), *(met[word] for word in MET))
            limits = f"{sum(inside)} of {len(inside)}" if inside else ""
            rows.append((table, setting.replace("_", " "), *map(str, counts), number(error, 3), limits))
    return rows


def verdict(record: Record) -> str:
    """A far number in a word: in range, or what its note begins with; unexplained without such a word."""
    if record.in_range:
        return "in range"
    first = record.note.partition(":")[0].strip().lower()
    return first if first in _WORDS else "unexplained" if "unexplained" in record.note else "see why"


def far_rows(records: Iterable[Record]) -> list[tuple[str, ...]]:
    """All far numbers as texts; a reason that the line before has too is not told again."""
    rows: list[tuple[str, ...]] = []
    before = ""
    for record in _far(records):
        first, _, rest = record.note.partition(":")
        why = rest.strip() if first.strip().lower() in _WORDS else record.note
        spread = f"{number(record.lowest)} to {number(record.highest)} over {_draws(record)} of {record.hangs_on}"
        rows.append(
            (
                f"{record.table} {record.case}, {record.measure.replace('_', ' ')}",
                number(record.printed),
                number(record.ours, 3),
                f"{record.n:,}",
                NO_RANGE if record.lowest is None else spread,
                verdict(record),
                "as above" if why and why == before else why,
            )
        )
        before = why
    return rows


def _far(records: Iterable[Record]) -> list[Record]:
    """Numbers as run that are farther than 0.05 from the printed ones."""
    return [record for record in records if record.setting == "as_run" and record.met in MET[2:4]]


def in_a_minute(records: Sequence[Record], claims: Sequence[Claim]) -> list[tuple[str, str]]:
    """What holds, what does not, and what nobody can know: a heading and a few sentences each."""
    met = Counter(record.met for record in records if record.setting == "as_run" and record.printed is not None)
    holds = ["These parts have no printed numbers."]
    if met:
        holds = [
            f"Of {met.total()} printed numbers {met[MET[0]]} are met within {NEAR} as run, {met[MET[1]]} more within "
            f"0.05; {met[MET[2]]} that are farther lie in the range over plausible draws."
        ]
    fails = ["No printed number is outside."]
    if met[MET[3]]:
        outside = [record for record in _far(records) if not record.in_range]
        unsure = sum(verdict(record) in ("unexplained", "open") for record in outside)
        where = ", ".join(dict.fromkeys(f"{record.table} {record.case.split()[0]}" for record in outside))
        fails = [f"{len(outside)} printed numbers are outside ({where}); {unsure} of them are unexplained."]
    if claims:
        good = sum(claim.verdict == "holds" for claim in claims)
        holds.append(f"{good} of {len(claims)} tested claims hold.")
        bad = [
            f"{claim.words} ({claim.table}, {claim.setting.replace('_', ' ')})"
            for claim in claims
            if claim.verdict == "fails"
        ]
        fails.append(f"Claims that fail: {'; '.join(bad)}." if bad else "No claim fails.")
    unknown = [
        "The authors' code is not public, n and seeds are not printed, and nothing tells which settings were tried."
    ]
    drawn = [record for record in records if record.lowest is not None and record.printed is not None]
    if drawn:
        on = "; of ".join(dict.fromkeys(record.hangs_on for record in drawn))
        unknown.append(
            f"{several(len(drawn), 'printed number hangs', 'printed numbers hang')} on draws that the paper does not "
            f"tell (of {on}); {sum(record.in_range for record in drawn)} of them lie in the range over plausible draws."
        )
    silent = [record.unverifiable for record in records if record.unverifiable is not None]
    if silent:
        unknown.append(
            f"In {sum(share > 0.5 for share in silent)} of {len(silent)} estimates more than half of the rows cannot "
            "be checked by any other row: there the true measure may be anything in a wide interval, printed number "
            "or not."
        )
    headings = ("What holds", "What does not", "What nobody can know")
    return [(heading, " ".join(told)) for heading, told in zip(headings, (holds, fails, unknown), strict=True)]
