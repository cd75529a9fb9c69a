"""Every command with hostile words and hostile files: status 0, 1 or 2, and for 2 one line that says what was wrong."""

import json
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithscope.cli import main
from fuzz.hostile import TEXTS
from fuzz.outcomes import TRIED, budget, one_sentence, within_patience

FAMILY = "the command line"
MODULE = """
import numpy as np
system = (lambda X: np.zeros(len(X))), (lambda X: np.zeros((len(X), 2)))
number = 7
"""
LOG = pd.DataFrame({"phi_a": [0.0, 1.0, 0.0, 1.0], "phi_b": 1.0, "yhat": list("abab"), "g": [1, 1, 2, 2]})
WORDS = [
    *(text for text in TEXTS if len(text) < 100),
    *("-1", "0", "1", "nan", "inf", "-inf", "1e999", "9" * 50, "0.95", "0x10", "1_000", "٣", "x" * 3000),
    *("sign", "best", "sign-of-top-0", "99-fp", "rank", "delta", "phi_*", "yhat", "g", "[", "*", "--", "-", "--json"),
    *("proven", "mcdiarmid", "drop", "key", "1d", "0h", "rules", "words", "keys", "duckdb://", "nonsense://x"),
]
ABOUT_LOGS = ("--prediction", "--explanation", "--kind", "--discretize", "--nulls", "--table", "--json")
ABOUT_BOTH = ("--by", "--confidence", "--fail-under", "--measure")
OPTIONS = {
    "audit": (
        *(*ABOUT_LOGS, *ABOUT_BOTH, "--by-time", "--every", "--against", "--connect", "--interval", "--nothing"),
        *("--id", "--cluster"),
    ),
    "plan": (*ABOUT_LOGS, "--unverifiable"),
    "evaluate": (*ABOUT_BOTH, "--system", "--data", "--discretize", "--drop", "--seed", "--gate", "--json"),
    "demo": ("--nothing", "--report", "--json=3"),
    "reproduce": ("--nothing", "--data", "--seed"),
}
NEEDED = {
    **{command: ["--prediction", "yhat", "--explanation", "phi_*"] for command in ("audit", "plan")},
    "evaluate": ["--system", "fuzzed_module:system", "--data", "log.csv"],
    "demo": ["--nothing"],
    "reproduce": ["--quick", "nothing"],
}


@cache
def folder():
    """Files of every kind: whole, cut short, empty, in another encoding, and no files at all."""
    path = Path(mkdtemp())
    (path / "fuzzed_module.py").write_text(MODULE)
    LOG.to_parquet(path / "log.parquet")
    whole = (path / "log.parquet").read_bytes()
    text = LOG.to_csv(index=False)
    lines = LOG.to_json(orient="records", lines=True)
    contents = {
        "log.csv": text.encode(),
        "log.jsonl": lines.encode(),
        "cut.parquet": whole[: len(whole) // 2],
        "garbled.parquet": whole[:40] + b"\xff" * 40 + whole[80:],
        "text.parquet": text.encode(),
        "binary.csv": whole,
        "empty.parquet": b"",
        "empty.csv": b"",
        "empty.jsonl": b"",
        "header.csv": text.splitlines()[0].encode() + b"\n",
        "ragged.csv": text.encode() + b"1,2\n1,2,3,4,5,6,7\n",
        "bom.csv": b"\xef\xbb\xbf" + text.encode(),
        "nul.csv": text.replace("a", "\0").encode(),
        "latin.csv": text.replace("a", "é").encode("latin-1"),
        "utf16.csv": text.encode("utf-16"),
        "quoted.csv": text.encode() + b'"never closed,1,a,1\n',
        "broken.jsonl": lines.encode() + b'{"phi_a": 1, ',
        "listed.jsonl": b"[1, 2]\n3\nnull\n",
        "nested.jsonl": b'{"yhat": {"a": [1]}, "phi_a": [[1], []]}\n',
        "deep.jsonl": b'{"yhat":' + b"[" * 2000 + b"]" * 2000 + b"}\n",
        "odd\nname.csv": text.encode(),
        "unknown.xyz": text.encode(),
        "packed.csv.gz": b"\x1f\x8b not packed",
    }
    for name, content in contents.items():
        (path / name).write_bytes(content)
    (path / "folder.csv").mkdir()
    (path / "loop.csv").symlink_to("loop.csv")
    return path


def files():
    """Names of those files, and of some that are not there."""
    there = sorted(path.name for path in folder().iterdir() if path.name != "fuzzed_module.py")
    return [*there, "missing.csv", "missing/log.csv", ".", "*.csv", "**"]


def run(*words):
    """Status, standard output and standard error of a command in this process."""
    out, err, status = TextIOWrapper(BytesIO(), "utf-8"), StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder())
        patch.setattr(sys, "argv", ["faithscope", *words])
        patch.setattr(sys, "path", [*sys.path])
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    out.flush()
    return status, out.buffer.getvalue().decode(), err.getvalue()


def holds(name, *words):
    """Run a command and raise unless the law of the command line holds; its status."""
    ended = "anything else"
    try:
        with within_patience(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            status, out, err = run(*words)
        assert status in (0, 1, 2), status
        assert "Traceback" not in err
        if status == 2:
            one_sentence(err.strip("\n").removeprefix("faithscope: "))
            assert "FAITHSCOPE_TRACEBACK" not in err, err
            assert out == ""
        elif "--json" in words:
            json.loads(out)
        ended = "refused" if status == 2 else "answered"
    finally:
        TRIED[FAMILY, name, ended] += 1
    return status


def typed(command):
    """Words for a command: what it needs, and options with hostile values in any order."""
    word = st.sampled_from([word for word in WORDS if "\0" not in word])
    option = st.tuples(st.sampled_from(OPTIONS[command]), word).map(list)
    bare = word.map(lambda word: [word])
    more = st.lists(st.one_of(option, option, bare), max_size=3).map(
        lambda lists: [word for words in lists for word in words]
    )
    return more.map(lambda words: [*(["log.csv"] if command in ("audit", "plan") else []), *NEEDED[command], *words])


@pytest.mark.parametrize("command", sorted(OPTIONS))
def test_hostile_words_end_in_a_status_and_at_most_one_line(command):
    @budget(15 if command in ("audit", "plan", "evaluate") else 8)
    @given(typed(command))
    def fuzzed(words):
        if "--json" in words and words[words.index("--json") - 1].startswith("--"):
            words = [word for word in words if word != "--json"]  # it is the value of the option before it
        holds(command, command, *words)

    fuzzed()


@pytest.mark.parametrize(
    "command", ["audit", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("evaluate", "plan"))]
)
def test_hostile_files_end_in_a_status_and_at_most_one_line(command):
    for file in files():
        words = [*NEEDED[command][:2], "--data", file] if command == "evaluate" else [file, *NEEDED[command]]
        holds(command, command, *words)


@pytest.mark.thorough
def test_whole_logs_are_answered():
    for file in ("log.csv", "log.jsonl", "log.parquet", "bom.csv"):
        assert holds("audit", "audit", file, *NEEDED["audit"]) == 0, file
    assert np.isclose(json.loads(run("audit", "log.csv", *NEEDED["audit"], "--json")[1])["consistency"]["value"], 1)
