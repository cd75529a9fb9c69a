"""What a reader asks first: which printed numbers and claims hold, which do not, and what cannot be known."""

import csv
from collections.abc import Iterable, Sequence
from importlib.resources import files
from types import MappingProxyType

from faithscope.explanations.base import several
from faithscope_reproduction.records import FAR, NEAR, SETTINGS, Claim, Record
from faithscope_reproduction.running import Part
from faithscope_reproduction.telling.summary import Match, matches, number

# Met within 0.02, within 0.05, and farther, as run, before the settings were rebuilt from the authors' traces.
BEFORE = MappingProxyType(
    {
        "table1": (11, 0, 1),
        "figure1": (1, 0, 0),
        "figure2": (10, 0, 6),
        "table5": (39, 18, 15),
        "figure4": (2, 0, 0),
        "figure5": (4, 0, 0),
        "table3": (20, 0, 1),
        "table4": (4, 1, 1),
        "table6": (45, 13, 14),
        "table7": (25, 9, 14),
        "all": (161, 41, 52),
    }
)
_WORDS = ("explained", "likely", "partly", "open", "unexplained")
FORMER_CELLS = ("number", "printed", "before", "now", "n", "verdict")
FAR_CELLS = ("number", "printed", "ours", "n", "range", "verdict", "why")
CLAIM_COUNTS = ("setting", "hold", "undecided", "fail")
NO_RANGE = "no range computed"


def all_records(parts: Iterable[Part]) -> list[Record]:
    """Records of all parts, in their order."""
    return [record for part in parts for record in part.outcome.records]


def all_claims(parts: Iterable[Part]) -> list[Claim]:
    """Claims of all parts, in their order."""
    return [claim for part in parts for claim in part.outcome.claims]


def far_records(parts: Iterable[Part]) -> list[Record]:
    """Numbers as run that are farther than 0.05 from the printed ones."""
    return [
        record
        for record in all_records(parts)
        if record.setting == "as_run" and record.off is not None and record.off - 1e-9 > FAR
    ]


def verdict(record: Record) -> str:
    """A far number in a word: in range, or what its note begins with; unexplained without such a word."""
    if record.in_range:
        return "in range"
    first = record.note.partition(":")[0].strip().lower()
    return first if first in _WORDS else "unexplained" if "unexplained" in record.note else "see why"


def far_rows(parts: Iterable[Part]) -> list[tuple[str, ...]]:
    """All far numbers as texts, under `FAR_CELLS`; a reason that the line before has too is not told again."""
    rows = [far_cells(record) for record in far_records(parts)]
    before = ["", *(row[-1] for row in rows)]
    return [
        (*row[:-1], "as above" if row[-1] and row[-1] == last else row[-1])
        for row, last in zip(rows, before, strict=False)
    ]


def far_cells(record: Record) -> tuple[str, ...]:
    """A far number as texts, under `FAR_CELLS`."""
    name = f"{record.table} {record.case}, {record.measure.replace('_', ' ')}"
    said = record.note.partition(":")
    why = said[2].strip() if said[0].strip().lower() in _WORDS else record.note
    return (
        name,
        number(record.printed),
        number(record.ours, 3),
        f"{record.n:,}",
        told_range(record),
        verdict(record),
        why,
    )


def former_rows(parts: Iterable[Part]) -> list[tuple[str, ...]]:
    """Numbers that were far before the settings were rebuilt, and what became of them, under `FORMER_CELLS`."""
    now = {
        (record.table, record.case, record.measure.replace("_", " ")): record
        for record in all_records(parts)
        if record.setting == "as_run"
    }
    text = (files("faithscope_reproduction.telling") / "far_before.csv").read_text("utf-8")
    rows: list[tuple[str, ...]] = []
    for line in csv.DictReader(text.splitlines()):
        record = now.get((line["table"], line["case"], line["measure"]))
        if record is not None:
            name = f"{line['table']} {line['case']}, {line['measure']}"
            ours = number(record.ours, 3)
            rows.append((name, number(record.printed), line["ours"], ours, f"{record.n:,}", _became(record)))
    return rows


def _became(record: Record) -> str:
    """Whether a number is met now, else the verdict on a far one."""
    if record.off is None:
        return "not measured"
    for most in (NEAR, FAR):
        if record.off - 1e-9 <= most:
            return f"within {most}"
    return verdict(record)


def told_range(record: Record) -> str:
    """The range over plausible draws in words."""
    if record.lowest is None or record.highest is None:
        return NO_RANGE
    ends = f"{number(record.lowest)} to {number(record.highest)}"
    return f"{ends} over {record.draws_told} of {record.hangs_on}"


def claim_counts(claims: Sequence[Claim]) -> list[tuple[str, ...]]:
    """How many claims hold, stay undecided and fail, as texts under `CLAIM_COUNTS`."""
    lines = []
    for setting in (*SETTINGS, "both"):
        chosen = [claim.verdict for claim in claims if setting in (claim.setting, "both")]
        lines.append(
            (setting.replace("_", " "), *(str(chosen.count(word)) for word in ("holds", "undecided", "fails")))
        )
    return lines


def before_and_after(parts: Sequence[Part]) -> list[tuple[str, ...]]:
    """By table, numbers as run that are met: before and after the settings were rebuilt."""
    lines = []
    for match in (match for match in matches(parts) if match.setting == "as_run"):
        before = BEFORE.get(match.table, (0, 0, 0)) if match.table != "all" else _sum_of(parts)
        after = (match.near, match.far, match.covered, match.off, match.missing)
        lines.append((match.table, str(match.printed), " / ".join(map(str, before)), *map(str, after)))
    return lines


BEFORE_AND_AFTER = (
    *("table", "printed", "before: within 0.02 / 0.05 / farther"),
    *("now within 0.02", "within 0.05", "farther, in range", "outside", "not measured"),
)


def _sum_of(parts: Sequence[Part]) -> tuple[int, ...]:
    """The former counts of those parts that were run."""
    chosen = [BEFORE[part.name] for part in parts if part.name in BEFORE]
    return tuple(sum(column) for column in zip(*chosen, strict=True))


def in_a_minute(parts: Sequence[Part]) -> list[tuple[str, str]]:
    """What holds, what does not, and what nobody can know: a heading and a few sentences each."""
    run = next((match for match in matches(parts) if (match.table, match.setting) == ("all", "as_run")), None)
    claims = all_claims(parts)
    return [
        ("What holds", " ".join([*_met(run), *_claims_that("holds", claims)])),
        ("What does not", " ".join([*_missed(run, far_records(parts)), *_claims_that("fails", claims)])),
        ("What nobody can know", " ".join(_unknowable(parts))),
    ]


def _met(run: Match | None) -> list[str]:
    if run is None:
        return ["These parts have no printed numbers."]
    return [
        f"Of {run.printed} printed numbers {run.near} are met within 0.02 as run, {run.far} more within 0.05; "
        f"{run.covered} that are farther lie in the range over plausible draws."
    ]


def _claims_that(word: str, claims: Sequence[Claim]) -> list[str]:
    chosen = [claim for claim in claims if claim.verdict == word]
    if not claims:
        return []
    if word == "holds":
        return [f"{len(chosen)} of {len(claims)} tested claims hold."]
    failing = [f"{claim.words} ({claim.table}, {claim.setting.replace('_', ' ')})" for claim in chosen]
    return [f"Claims that fail: {'; '.join(failing)}." if failing else "No claim fails."]


def _missed(run: Match | None, far: Sequence[Record]) -> list[str]:
    if run is None or not run.off:
        return ["No printed number is outside."]
    outside = [record for record in far if not record.in_range]
    open_ones = sum(verdict(record) in ("unexplained", "open") for record in outside)
    where = dict.fromkeys(f"{record.table} {record.case.split()[0]}" for record in outside)
    return [f"{run.off} printed numbers are outside ({', '.join(where)}); {open_ones} of them are unexplained."]


def _unknowable(parts: Sequence[Part]) -> list[str]:
    drawn = [record for record in all_records(parts) if record.lowest is not None and record.printed is not None]
    told = [
        "The authors' code is not public, n and seeds are not printed, and nothing tells which settings were tried."
    ]
    if drawn:
        covered = sum(record.in_range for record in drawn)
        on = "; of ".join(dict.fromkeys(record.hangs_on for record in drawn))
        told.append(
            f"{several(len(drawn), 'printed number hangs', 'printed numbers hang')} on draws that the paper does not "
            f"tell (of {on}); {covered} of them lie in the range over plausible draws."
        )
    silent = [record.unverifiable for record in all_records(parts) if record.unverifiable is not None]
    if silent:
        most = sum(share > 0.5 for share in silent)
        told.append(
            f"In {most} of {len(silent)} estimates more than half of the rows cannot be checked by any other row: "
            "there the true measure may be anything in a wide interval, printed number or not."
        )
    return told
