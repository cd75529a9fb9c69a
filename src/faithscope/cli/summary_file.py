"""--summary: a card appended to a Markdown file, such as the job summary of GitHub Actions."""

from faithscope.errors import BadInput
from faithscope.runtime.files import to_path
from faithscope.sinks import markdown
from faithscope.sinks.card import Card


def check_summary(path: str | None) -> None:
    """Raise in one sentence if nothing can be appended to this file."""
    if path is not None:
        _append(path, "")


def append_summary(path: str | None, card: Card) -> None:
    """Append the card as Markdown, if a file is named; what the file holds already stays."""
    if path is not None:
        _append(path, f"{markdown.render(card)}\n")


def _append(path: str, text: str) -> None:
    if not path.strip():
        raise BadInput(
            "--summary names no file: only GitHub Actions sets $GITHUB_STEP_SUMMARY. Pass a path, such as summary.md."
        )
    try:
        with to_path(path).open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"\n{text}" if text and file.tell() else text)  # a heading begins a line
    except (OSError, ValueError) as error:  # a path with NUL is a ValueError
        why = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"--summary {path!r} cannot be written ({why}): name a file in a folder that exists.") from None
