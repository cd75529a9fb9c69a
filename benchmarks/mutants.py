"""Which faults do the tests find? Mutants drawn at random from the sources, each tried by the tests that run its line.

    git worktree add --detach ../mutants                            # a checkout of its own, whose sources are changed
    (cd ../mutants && pytest -m "not thorough and not engine and not browser" --cov=src --cov-context=test)
    python benchmarks/mutants.py --copy ../mutants                  # 150 mutants: an hour of one core
    python benchmarks/mutants.py --copy ../mutants --only 3 --only 7

A mutant is an expression changed as a slip would change it: a comparison, an operator, a number by one, a condition.
The tests that run its line, as pytest-cov (to be installed) has kept them in the copy's ``.coverage``, are run until
one fails or the time is over: cheap ones first, those of the module's own room before others. A mutant that no test
finds has survived; a test that fails anyway kills all, so the test that failed is told. Postgres, Spark, Chromium and
what is thorough are left aside. Results are printed as they come, then as a table.
"""

import ast
import os
import random
import re
import resource
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

import hypothesis.extra.numpy  # noqa: F401
import ibis  # noqa: F401
import pandas as pd  # noqa: F401
import pyarrow.parquet  # noqa: F401
import pytest
import scipy.stats  # noqa: F401
import sklearn.ensemble  # noqa: F401

from ratios import options

SEED = 39
SKIPPED = ("annotation", "returns", "decorator_list", "bases", "pattern")
ROOMS = ("counting", "measures", "tables", "explainers", "readers")
CRASHED = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS)
RAN = """
SELECT context, numbits FROM line_bits
JOIN context ON context.id = context_id JOIN file ON file.id = file_id WHERE path = ?
"""
TESTS = 40  # collected at once, before any of them is run
PAIRS = (
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn),
    (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.BitAnd, ast.BitOr),
)  # fmt: skip
OPERATORS = dict.fromkeys((ast.Div, ast.FloorDiv, ast.Pow), ast.Mult) | {ast.Mult: ast.Add}
OPERATORS |= {old: new for pair in PAIRS for old, new in (pair, pair[::-1])}


def changed(node):
    """The expression as a slip would have it; None where nothing is to be changed."""
    other = OPERATORS.get(type([*getattr(node, "ops", ()), getattr(node, "op", None)][0]))
    match node:
        case ast.Compare(left, [_], comparators) if other:
            return ast.Compare(left, [other()], comparators)
        case ast.BoolOp(_, values) if other:
            return ast.BoolOp(other(), values)
        case ast.BinOp(left, _, right) if other:
            return ast.BinOp(left, other(), right)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            return operand
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            return ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, orelse, body)


def expressions(node, inside=False):
    """The expressions inside functions that run: no annotations, defaults, decorators, f-strings or patterns."""
    inside = inside or isinstance(node, ast.FunctionDef)
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if field in SKIPPED or isinstance(child, ast.JoinedStr | ast.arguments) or not isinstance(child, ast.AST):
                continue
            if inside and isinstance(child, ast.expr):
                yield child
            yield from expressions(child, inside)


def drawn(package):
    """Files and expressions in random order, no two on one line."""
    files = [path for room in ROOMS for path in sorted((package / room).rglob("*.py"))]
    sites = [(path, node) for path in files for node in expressions(ast.parse(path.read_text())) if changed(node)]
    random.Random(SEED).shuffle(sites)
    taken = set()
    for path, node in sites:
        lines = {(path, line) for line in range(node.lineno, node.end_lineno + 1)}
        if not lines & taken:
            taken |= lines
            yield path, node


def mutated(source, node):
    """The source with one expression changed."""
    lines = source.encode().splitlines(keepends=True)
    first, last = lines[node.lineno - 1][: node.col_offset], lines[node.end_lineno - 1][node.end_col_offset :]
    lines[node.lineno - 1 : node.end_lineno] = [first, f"({ast.unparse(changed(node))})".encode(), last]
    return b"".join(lines)


def running(copy, path, node):
    """The tests that run an expression, in the order in which most is found per second."""
    kept = (copy / "benchmarks" / "results" / "test_costs.txt").read_text()
    found = re.findall(r"^ *([\d.]+) +[\d.]+ +(\d+) (tests/\S+)", kept, re.MULTILINE)
    costs, room = {file: float(cost) / int(tests) for cost, tests, file in found}, path.parent.name
    lines = range(node.lineno, node.end_lineno + 1)
    with closing(sqlite3.connect(copy / ".coverage")) as held:  # lines as bits, by file and by test
        ran = held.execute(RAN, [str(path)]).fetchall()
    tests = {
        told.rpartition("|")[0]  # whose parameters may hold bars
        for told, bits in ran
        if any(line // 8 < len(bits) and bits[line // 8] >> line % 8 & 1 for line in lines)
    }
    expected = {test: costs.get(test.partition("::")[0], 1.0) / (4 if room in test else 1) for test in tests if test}
    return sorted(expected, key=expected.get)


def begin(copy, tests, seconds):
    """Run the tests in this process, which has so many seconds of a processor, and five times as many by the clock."""
    os.setsid()
    os.chdir(copy)
    signal.alarm(5 * int(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    paths = [str(copy / folder) for folder in ("src", "reproduction")]
    # in place of the folder of this script, whose files are called like those of tests
    sys.path[:1], os.environ["PYTHONPATH"], sys.dont_write_bytecode = paths, os.pathsep.join(paths), True
    os._exit(pytest.main([*tests, "-x", "-q", "-n0", "-p", "no:cacheprovider", "-p", "no:cov"]))


def tried(copy, tests, seconds):
    """How long tests took a processor, and which of them failed; None if none did in time."""
    with tempfile.TemporaryFile("w+") as told:
        if not (child := os.fork()):  # what is imported here need not be imported again
            os.dup2(told.fileno(), 1)
            os.dup2(told.fileno(), 2)
            begin(copy, tests, seconds)
        _, status, used = os.wait4(child, 0)
        with suppress(ProcessLookupError):  # also what the tests began
            os.killpg(child, signal.SIGKILL)
        told.seek(0)
        text = told.read()
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
    if not found and os.WIFEXITED(status) and os.WEXITSTATUS(status) > 1:  # none was run
        sys.exit(f"The tests could not be run:\n{text}")
    return used.ru_utime + used.ru_stime, found[1] if found else f"status {status}" if status in CRASHED else None


def outcome(copy, tests, seconds):
    """Whether one of the tests fails in so many seconds of a processor, and which did, or how many were tried."""
    left = tests
    while left and seconds >= 1:
        used, test = tried(copy, left[:TESTS], seconds)
        if test:
            return "killed", test
        left, seconds = left[TESTS:], seconds - used
    return "survived", f"{len(tests) - len(left)} of {len(tests)} tests"


if __name__ == "__main__":
    counted, asked = Counter(), options(__doc__, copy=Path, many=150, skip=0, only=[], seconds=240.0)
    copy = asked.copy.resolve()
    package = copy / "src" / "faithscope"
    for number, (path, node) in list(enumerate(islice(drawn(package), asked.many)))[asked.skip :]:
        if asked.only and str(number) not in asked.only:
            continue
        module = path.relative_to(package.parent).with_suffix("").parts
        source, begun, tests = path.read_text(), time.monotonic(), running(copy, path, node)
        try:
            path.write_bytes(mutated(source, node))
            told, test = outcome(copy, tests, asked.seconds)
        finally:
            path.write_text(source)
        counted[module[1], told] += 1
        slip = f"{ast.unparse(node)} -> {ast.unparse(changed(node))}"
        took = f"{number:>3} {told:<9}{time.monotonic() - begun:>5.0f} s"
        print(f"{took}  {'.'.join(module[1:])}:{node.lineno}  {slip}  {test}", flush=True)
    print(f"\n{'room':<12}{'killed':>8}{'survived':>10}")
    for room in ROOMS:
        print(f"{room:<12}{counted[room, 'killed']:>8}{counted[room, 'survived']:>10}")
