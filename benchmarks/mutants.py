"""Which faults do the tests find? Mutants drawn at random from the sources, each tried by the tests likely to find it.

    git worktree add --detach ../mutants                            # a checkout of its own, whose sources are changed
    python benchmarks/mutants.py --copy ../mutants                  # 150 mutants: some hours of one core
    python benchmarks/mutants.py --copy ../mutants --seconds 50     # soon, and then the survivors once more:
    python benchmarks/mutants.py --copy ../mutants --only 3 --only 7

A mutant is an expression changed as a slip would change it: a comparison, an operator, a number by one, a condition.
Test files are run until one fails or the time is over, cheap and likely ones first: likely are those that import the
module, are called like it, or lie in the folder of its room; then the frozen numbers, the laws and the contracts. A
mutant that no test finds in time has survived; a test that fails anyway kills all, so the test that failed is told.
Results are printed as they come, then as a table.
"""

import ast
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
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
LAST = ("frozen", "laws", "contracts")  # folders of tests that are about everything
CHOSEN = "not thorough and not engine and not browser"  # Postgres, Spark and Chromium take long to begin
CRASHED = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS)
FILES = 6  # read at once, before any of their tests is run
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


def likely(copy, module):
    """The test files that may find a fault in a module, in the order in which most is found per second."""
    kept = (copy / "benchmarks" / "results" / "test_costs.txt").read_text()
    costs = {file: float(cost) for cost, file in re.findall(r"^ *([\d.]+) .* tests (\S+)", kept, re.MULTILINE)}
    dotted, (room, *_, stem), order = ".".join(module), module[1:], {}
    for path in sorted((copy / "tests").rglob("test_*.py")):
        folders, words = path.relative_to(copy / "tests").parts[:-1], path.stem.split("_")
        rank = 4 * (dotted in path.read_text()) + 2 * any(word in stem for word in words[1:]) + (room in folders)
        rank = rank or 2 * (LAST[0] in folders) + any(folder in folders for folder in LAST)
        if rank:
            order[str(path)] = costs.get(str(path.relative_to(copy)), 1.0) / 2**rank
    return sorted(order, key=order.get)


def begin(copy, tests, seconds):
    """Run the tests in this process, which has so many seconds of a processor, and five times as many by the clock."""
    os.setsid()
    os.chdir(copy)
    signal.alarm(5 * int(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    paths = [str(copy / folder) for folder in ("src", "reproduction")]
    # in place of the folder of this script, whose files are called like those of tests
    sys.path[:1], os.environ["PYTHONPATH"], sys.dont_write_bytecode = paths, os.pathsep.join(paths), True
    os._exit(pytest.main([*tests, "-x", "-q", "-n0", "-p", "no:cacheprovider", "-m", CHOSEN]))


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
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", told.read(), re.MULTILINE)
    return used.ru_utime + used.ru_stime, found[1] if found else f"status {status}" if status in CRASHED else None


def outcome(copy, tests, seconds):
    """Whether one of the test files fails in so many seconds of a processor, and which test did."""
    while tests and seconds >= 1:
        used, test = tried(copy, tests[:FILES], seconds)
        if test:
            return "killed", test
        tests, seconds = tests[FILES:], seconds - used
    return "survived", ""


if __name__ == "__main__":
    counted, asked = Counter(), options(__doc__, copy=Path, many=150, skip=0, only=[], seconds=240.0)
    copy = asked.copy.resolve()
    package = copy / "src" / "faithscope"
    for number, (path, node) in list(enumerate(islice(drawn(package), asked.many)))[asked.skip :]:
        if asked.only and str(number) not in asked.only:
            continue
        module = path.relative_to(package.parent).with_suffix("").parts
        source, begun = path.read_text(), time.monotonic()
        try:
            path.write_bytes(mutated(source, node))
            told, test = outcome(copy, likely(copy, module), asked.seconds)
        finally:
            path.write_text(source)
        counted[module[1], told] += 1
        slip = f"{ast.unparse(node)} -> {ast.unparse(changed(node))}"
        took = f"{number:>3} {told:<9}{time.monotonic() - begun:>5.0f} s"
        print(f"{took}  {'.'.join(module[1:])}:{node.lineno}  {slip}  {test}", flush=True)
    print(f"\n{'room':<12}{'killed':>8}{'survived':>10}")
    for room in ROOMS:
        print(f"{room:<12}{counted[room, 'killed']:>8}{counted[room, 'survived']:>10}")
