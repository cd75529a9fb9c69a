"""Claims of the evidence page whose run is older than their code: ``python docs/evidence.py`` lists them.

A line of the page names a command and an artifact. Its code is the script of the command, and what the comment above
its table says that the table rests on: frozen numbers, which change if answers do, or rooms of the package. The site
adds to each artifact when it was written, and whether its code has changed since, as git knows it.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "evidence.md"
_LINE = re.compile(r"^\| (?P<claim>.+?) \| `(?P<command>[^`]+)` \| \[[^\]]+\]\((?P<artifact>[^)]+)\) \|$")
_RESTS = re.compile(r"^<!-- rests on: (.+) -->$")


@dataclass(frozen=True)
class Claim:
    """One line of the page."""

    line: str
    text: str
    command: str
    artifact: Path
    code: tuple[str, ...]

    @property
    def age(self) -> str:
        """When its run was kept, and whether its code has changed since; nothing where git does not know."""
        run, changed = _last((str(self.artifact.relative_to(ROOT)),)), _last(self.code)
        if not run:
            return ""
        return f"{run[:10]}, **older than its code** ({changed[:10]})" if changed > run else run[:10]


def claims(page: str) -> Iterator[Claim]:
    """The claims of the page, in its order."""
    rests: tuple[str, ...] = ()
    for line in page.splitlines():
        if line.startswith("## "):
            rests = ()
        elif found := _RESTS.match(line):
            rests = tuple(found[1].split())
        elif found := _LINE.match(line):
            scripts = re.findall(r"(?:benchmarks|fuzz)/\w+\.py", found["command"])
            artifact = (PAGE.parent / found["artifact"]).resolve()
            yield Claim(line, found["claim"], found["command"], artifact, (*scripts, *rests))


def marked(page: str) -> str:
    """The page with the age of each run beside its artifact."""
    for claim in claims(page):
        if claim.age:
            page = page.replace(claim.line, f"{claim.line[:-2]}, {claim.age} |", 1)
    return page


@cache
def _last(paths: tuple[str, ...]) -> str:
    """When one of the files last changed, as ISO 8601 in UTC."""
    if not paths:
        return ""
    words = ["git", "log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%S", "--format=%cd", "--", *paths]
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, env={"TZ": "UTC"})
    except OSError:
        return ""
    return done.stdout.strip()


if __name__ == "__main__":
    for claim in claims(PAGE.read_text(encoding="utf-8")):
        if "older" in claim.age:
            print(f"{claim.artifact.name}: {claim.age}\n  {claim.text}\n  {claim.command}")
