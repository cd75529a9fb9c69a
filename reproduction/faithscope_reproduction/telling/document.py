"""A run as a document: what holds, what does not, what cannot be known; then settings, and every number."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from faithscope.card import Sentence, Table
from faithscope.report.document import Block, Document, Group, Section
from faithscope.words import several
from faithscope_reproduction.records import MET, NEAR, SETTINGS, Claim, Record
from faithscope_reproduction.running import Part
from faithscope_reproduction.telling import evidence
from faithscope_reproduction.telling.drawing import chart

_WORDS = ("explained", "likely", "partly", "open", "unexplained")
_BLANK = Record("", "", "", "as_run", 0, None)
NO_RANGE = "no range computed"
_PAPER = (
    "“Framework for Evaluating Faithfulness of Local Explanations” (Dasgupta, Frost, Moshkovitz, ICML 2022), beside "
    "its printed numbers."
)
_INTRO = (
    "As run is what comes nearest to what the authors seem to have run, as defined the paper's definitions with "
    "our defaults. Shares are compared by their difference, numbers above 1 by their relative difference."
)
_FAR = (
    "As run, farther than 0.05 from the printed number. In range: other plausible draws reach the printed one. "
    "Unexplained: we do not know why. Likely and partly: there is a reason for it, or for a part of it, that this run "
    "does not prove; open: a reason was named and not tried."
)
_READING = (
    "Intervals are for the true measure, at 95%: sampling error and unverifiable rows both. The range is over "
    "plausible draws of what the paper does not tell, ours among them."
)
_NUMBERS = (
    *("case", "measure", "printed", "as run", "± std", "range", "n"),
    *("as defined", "95% interval", "unverifiable", "chance", "n "),
)
_FAR_ONES = ("number", "printed", "ours", "n", "range", "verdict", "why")
_CLAIMS = ("verdict", "table", "setting", "claim", "test", "note")
_COUNTS = ("table", "setting", "printed", *MET)


def document(parts: Sequence[Part], command: str) -> Document:
    """The whole run."""
    records = [record for part in parts for record in part.outcome.records]
    claims = [claim for part in parts for claim in part.outcome.claims]
    rows = [
        (
            claim.verdict,
            claim.table,
            _words(claim.setting),
            claim.words,
            f"{claim.test}: {decided_by(claim)}",
            claim.note,
        )
        for claim in claims
    ]
    verdicts = Counter((claim.setting, claim.verdict) for claim in claims)
    counts = [
        (_words(setting), *(str(verdicts[setting, word]) for word in ("holds", "undecided", "fails")))
        for setting in SETTINGS
    ]
    sections: dict[str, Sequence[Block]] = {
        "In a minute": in_a_minute(records, claims),
        "Printed numbers that are met": [Table(_COUNTS, tuple(met_rows(records)), words=2)],
        "Numbers that are far, and why": [Sentence(_FAR), Table(_FAR_ONES, tuple(far_rows(records)))],
        "Which claims hold": [
            Table(("setting", "hold", "undecided", "fail"), tuple(counts)),
            _folded(f"All {len(claims)} claims and their tests", Table(_CLAIMS, tuple(rows), words=6)),
        ],
        "Settings as run, and their evidence": [
            Sentence(evidence.CHOSEN),
            Table(evidence.COLUMNS, evidence.AS_RUN, words=3),
        ],
        "Every number": [Sentence(_READING)],
        **{f"{part.name}: {part.title}": _blocks(part) for part in parts},
    }
    return Document(
        "faithscope reproduce",
        "The paper, reproduced",
        _PAPER,
        f"Written by {command}. {timing(parts)} {_INTRO}",
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        [
            Section(f"section-{place}", title.partition(":")[0], title, blocks)
            for place, (title, blocks) in enumerate(sections.items())
        ],
    )


def _folded(title: str, *blocks: Block) -> Group:
    return Group(blocks, fold=title)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _blocks(part: Part) -> list[Block]:
    """Figures of a part, all its numbers with both settings side by side, and its notes."""
    pairs: dict[tuple[str, str], dict[str, Record]] = {}
    for record in part.outcome.records:
        pairs.setdefault((record.case, record.measure), {})[record.setting] = record
    rows = []
    for (case, measure), both in pairs.items():
        run, defined = both.get("as_run", _BLANK), both.get("as_defined", _BLANK)
        rows.append(
            (
                case,
                _words(measure),
                number(next((record.printed for record in both.values() if record.printed is not None), None)),
                number(run.ours, 3),
                number(run.std, 3),
                "" if run.lowest is None else f"{number(run.lowest)} to {number(run.highest)} ({run.hangs_on})",
                f"{run.n:,}" if run.n else "",
                number(defined.ours, 3),
                "" if defined.low is None else f"{number(defined.low)} to {number(defined.high)}",
                "" if defined.unverifiable is None else f"{defined.unverifiable:.0%}",
                number(defined.chance),
                f"{defined.n:,}" if defined.n else "",
            )
        )
    notes = dict.fromkeys([*part.outcome.notes, *(record.note for record in part.outcome.records if record.note)])
    told = map(Sentence, (*notes, f"{spoken(part.outcome.seconds)} of computing"))
    numbers = _folded(f"{len(rows)} numbers", Table(_NUMBERS, tuple(rows), words=2))
    return [*map(chart, part.outcome.figures), numbers, _folded("Notes", *told)]


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
    """A duration in seconds or minutes."""
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:,.0f} min"


def timing(parts: Sequence[Part]) -> str:
    """When the steps of a run ended, and how long they took."""
    steps = [step.when for part in parts for step in part.outcome.steps]
    when = f" Its {len(steps)} steps ended from {min(steps)} to {max(steps)}, all of the same sources." if steps else ""
    return f"{spoken(sum(part.outcome.seconds for part in parts))} of computing.{when}"


def met_rows(records: Iterable[Record]) -> list[tuple[str, ...]]:
    """How many printed numbers are met, by table and setting, and in all."""
    known = [record for record in records if record.printed is not None]
    rows = []
    for table in (*dict.fromkeys(record.table for record in known), "all"):
        for setting in SETTINGS:
            chosen = [record for record in known if record.setting == setting and table in (record.table, "all")]
            if chosen:
                met = Counter(record.met for record in chosen)
                rows.append((table, _words(setting), str(len(chosen)), *(str(met[word]) for word in MET)))
    return rows


def verdict(record: Record) -> str:
    """A far number in a word: in range, or what its note begins with; unexplained without such a word."""
    if record.in_range:
        return "in range"
    first = record.note.partition(":")[0].strip().lower()
    return first if first in _WORDS else "unexplained" if "unexplained" in record.note else "see why"


def far_rows(records: Iterable[Record]) -> list[tuple[str, ...]]:
    """All far numbers as texts; a reason that the line before has too is not told again."""
    rows, before = list[tuple[str, ...]](), ""
    for record in _far(records):
        first, _, rest = record.note.partition(":")
        why = rest.strip() if first.strip().lower() in _WORDS else record.note
        rows.append(
            (
                f"{record.table} {record.case}, {_words(record.measure)}",
                number(record.printed),
                number(record.ours, 3),
                f"{record.n:,}",
                NO_RANGE
                if record.lowest is None
                else f"{number(record.lowest)} to {number(record.highest)} over {record.hangs_on}",
                verdict(record),
                "as above" if why and why == before else why,
            )
        )
        before = why
    return rows


def _far(records: Iterable[Record]) -> list[Record]:
    """Numbers as run that are farther than 0.05 from the printed ones."""
    return [record for record in records if record.setting == "as_run" and record.met in MET[2:4]]


def in_a_minute(records: Sequence[Record], claims: Sequence[Claim]) -> list[Sentence]:
    """What holds, what does not, and what nobody can know: a few sentences each."""
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
        holds.append(f"{sum(claim.verdict == 'holds' for claim in claims)} of {len(claims)} tested claims hold.")
        bad = [
            f"{claim.words} ({claim.table}, {_words(claim.setting)})" for claim in claims if claim.verdict == "fails"
        ]
        fails.append(f"Claims that fail: {'; '.join(bad)}." if bad else "No claim fails.")
    unknown = [
        "The authors' code is not public, n and seeds are not printed, and nothing tells which settings were tried."
    ]
    drawn = [record for record in records if record.lowest is not None and record.printed is not None]
    if drawn:
        on = "; ".join(dict.fromkeys(record.hangs_on for record in drawn))
        unknown.append(
            f"{several(len(drawn), 'printed number hangs', 'printed numbers hang')} on draws that the paper does not "
            f"tell ({on}); {sum(record.in_range for record in drawn)} of them lie in the range over plausible draws."
        )
    headings = ("What holds", "What does not", "What nobody can know")
    return [Sentence(" ".join(told), heading) for heading, told in zip(headings, (holds, fails, unknown), strict=True)]
