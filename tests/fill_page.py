"""Runs pages and writes what they print into them: ``python tests/fill_page.py docs/tutorial.md README.md``."""

import os
import sys
import tempfile
from pathlib import Path
from textwrap import fill

from test_docs import _BLOCK, WIDTH, missing, run_console, run_python


def folded(printed):
    """What was printed, with sentences wider than a terminal folded as it would; tables are left as they are."""
    lines = (fill(line, WIDTH, break_on_hyphens=False) if _sentence(line) else line for line in printed.splitlines())
    return "\n".join(lines).rstrip()


def _sentence(line):
    """Whether a line is wide, and no row of a table."""
    return len(line) > WIDTH and line.strip().count("  ") < 2 and not line.startswith("|")


def filled(page, name):
    """The page, with every block of ``text`` that follows one that runs as that one prints."""
    known, pieces, end, printed = {"__name__": "page"}, [], 0, None
    for block in _BLOCK.finditer(page):
        between = page[end : block.start()]
        pieces.append(between)
        shows = block["language"] == "text" and printed is not None and not between.strip()
        pieces.append(f"```text\n{folded(printed)}\n```" if shows else block[0])
        end, printed = block.end(), None
        if block["setup"] is not None or block["language"] == "python":
            printed = run_python(block["setup"] or block["body"], known, name)
        elif block["language"] == "console":
            printed = run_console(block["body"])
    return "".join(pieces) + page[end:]


def main():
    """Fill the pages named on the command line, each in a folder of its own."""
    paths = [Path(name).resolve() for name in sys.argv[1:]]
    for path in paths:
        page = path.read_text()
        if missing(page):
            sys.exit(f"{path.name} needs {missing(page)}.")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            sys.path.insert(0, folder)
            sys.argv = [path.name]
            path.write_text(filled(page, path.name))
            os.chdir(path.parent)


if __name__ == "__main__":
    main()
