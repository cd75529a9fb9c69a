"""A run as one Markdown page: what holds, what does not, what cannot be known; then settings, pictures and details."""

from collections.abc import Iterable, Mapping, Sequence

from faithscope_reproduction.running import Part
from faithscope_reproduction.telling import evidence, verdicts
from faithscope_reproduction.telling.clock import Clock, timing
from faithscope_reproduction.telling.drawing import spoken_of
from faithscope_reproduction.telling.paper_figures import WITHOUT_A_DRAWING, shown
from faithscope_reproduction.telling.summary import (
    COLUMNS,
    MATCHES,
    cells,
    decided_by,
    lines,
    match_cells,
    matches,
    spoken,
)

_INTRO = (
    "*As run* is what comes nearest to what the authors seem to have run, *as defined* the paper's definitions with "
    "our defaults. Shares are compared by their difference, numbers above 1 by their relative difference."
)


def to_markdown(
    parts: Sequence[Part], command: str, clock: Clock | None = None, pictures: Mapping[str, str] | None = None
) -> str:
    """The whole run for reading.

    Parameters
    ----------
    parts : sequence of Part
    command : str
        What was run.
    clock : Clock, optional
        How long it took.
    pictures : mapping of str to str, optional
        Paths of drawn figures by their names.
    """
    blocks = [
        ["# The paper, reproduced", "", f"Written by `{command}`. {timing(parts, clock)} {_INTRO}"],
        ["## In a minute", "", *_minute(parts)],
        ["## Printed numbers that are met", "", *_met(parts)],
        ["## Numbers that are far, and why", "", *_far(parts)],
        ["## Which claims hold", "", *_claims(parts)],
        ["## Settings as run, and their evidence", "", evidence.CHOSEN, "", *_grid(evidence.COLUMNS, evidence.AS_RUN)],
        ["## Figures beside the paper's", "", *_figures(parts, pictures or {})],
        ["## Every number", "", _READING, *(line for part in parts for line in _part(part))],
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


_READING = (
    "Intervals are for the true measure, at 95%: sampling error and unverifiable rows both. *range* is over plausible "
    "draws of what the paper does not tell, ours among them."
)


def _minute(parts: Sequence[Part]) -> list[str]:
    return [f"- **{heading}.** {told}" for heading, told in verdicts.in_a_minute(parts)]


def _met(parts: Sequence[Part]) -> list[str]:
    told = "As run, by table; *before* is the setting as run of the page's former edition."
    every = _grid(MATCHES, [match_cells(match) for match in matches(parts)])
    after = _grid(verdicts.BEFORE_AND_AFTER, verdicts.before_and_after(parts))
    return [told, "", *after, "", *_folded("Both settings, with mean errors and intervals", every)]


def _far(parts: Sequence[Part]) -> list[str]:
    far = verdicts.far_rows(parts)
    if not far:
        return ["None is farther than 0.05 from the printed one, as run."]
    told = (
        "As run, farther than 0.05 from the printed number. *In range*: other plausible draws reach the printed one. "
        "*Unexplained* means that we do not know why. *Likely* and *partly*: there is a reason for it, or for a part "
        "of it, that this run does not prove; *open*: a reason was named and not tried."
    )
    return [told, "", *_grid(verdicts.FAR_CELLS, far), *_former(parts)]


def _former(parts: Sequence[Part]) -> list[str]:
    """What became of the numbers that the page's former edition had as far."""
    rows = verdicts.former_rows(parts)
    if not rows:
        return []
    return ["", *_folded(f"What became of the {len(rows)} that were far before", _grid(verdicts.FORMER_CELLS, rows))]


def _claims(parts: Sequence[Part]) -> list[str]:
    claims = verdicts.all_claims(parts)
    if not claims:
        return ["These parts test no claim."]
    rows = [
        (
            claim.verdict,
            claim.table,
            claim.setting.replace("_", " "),
            claim.words,
            f"{claim.test}: {decided_by(claim)}",
            claim.note,
        )
        for claim in claims
    ]
    every = _grid(("verdict", "table", "setting", "claim", "test", "note"), rows)
    counts = _grid(verdicts.CLAIM_COUNTS, verdicts.claim_counts(claims))
    return [*counts, "", *_folded(f"All {len(claims)} claims and their tests", every)]


def _figures(parts: Sequence[Part], pictures: Mapping[str, str]) -> list[str]:
    figures = [figure for part in parts for figure in part.outcome.figures]
    told = [text for name, text in WITHOUT_A_DRAWING.items() if any(part.name == name for part in parts)]
    if not figures:
        return told or ["These parts have no figures."]
    if not pictures:
        told.append("Pictures were not drawn, since vl-convert is not installed: `pip install 'faithscope[pictures]'`.")
    rows = []
    for figure in figures:
        path = pictures.get(figure.name)
        ours = spoken_of(figure) if path is None else f"![{figure.title}]({path})"
        rows.append((ours, shown(figure.name)))
    return [*told, "", *_grid(("ours", "the paper shows"), rows)]


def _part(part: Part) -> list[str]:
    every = lines(part.outcome.records)
    notes = list(dict.fromkeys(note for line in every for note in line.notes))
    told = [f"- {note}" for note in (*part.outcome.notes, *notes)]
    body = [*_grid(COLUMNS, [cells(line) for line in every]), "", *told, f"- {spoken(part.outcome.seconds)}"]
    return ["", f"### {part.name}: {part.title}", "", *_folded(f"{len(every)} numbers", body)]


def _folded(title: str, body: Iterable[str]) -> list[str]:
    return ["<details>", f"<summary>{title}</summary>", "", *body, "", "</details>"]


def _grid(names: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    head = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return head + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
