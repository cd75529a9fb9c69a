"""Which faults do the tests find? Mutants drawn at random from the sources, each switched on by itself.

python benchmarks/mutants.py plant COPY                  # write 150 mutants into COPY/src, all switched off
cd COPY && REACHED=reached.txt pytest -n 2               # which tests reach which mutants; how long they take
python benchmarks/mutants.py kill COPY -m "not thorough" # the 200 quickest tests that reach each, until one fails

A mutant is an expression changed as a slip would change it: a comparison, an operator, a number by one, a condition.
It is switched on by the variable MUTANT; every test that comes by writes a line to the file that REACHED names.
"""

import argparse
import ast
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SEED, HOW_MANY = 39, 150
ROOMS = ("counting", "measures", "tables", "explainers", "readers")
OPERATORS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
SWITCH = '''"""Which mutant is switched on, and which test comes by which."""

import os

seen: dict[int, str] = {}


def on(number: int) -> bool:
    """Whether this mutant is switched on."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").removesuffix(" (call)").removesuffix(" (setup)")
    if "REACHED" in os.environ and seen.get(number) != test:
        seen[number] = test
        with open(os.environ["REACHED"], "a") as file:
            file.write(f"{number}\\t{test}\\n")
    return os.environ.get("MUTANT") == str(number)
'''


def changed(node: ast.expr) -> ast.expr | None:
    """The expression as a slip would have it; None where nothing is to be changed."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATORS:
        return ast.Compare(node.left, [OPERATORS[type(node.ops[0])]()], node.comparators)
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(OPERATORS[type(node.op)](), node.values)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return node.operand
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return ast.Constant(node.value + 1)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        return ast.Constant(not node.value)
    if isinstance(node, ast.IfExp):
        return ast.IfExp(node.test, node.orelse, node.body)
    return None


def expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions inside functions that run: no annotations, no decorators, no parts of f-strings or patterns."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases", "keywords_of_class", "pattern"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.JoinedStr) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), ast.Store | ast.Del):
                yield child
            yield from expressions(child)


def candidates(path: Path) -> list[tuple[ast.expr, ast.expr]]:
    """What may be changed in a file, with its change."""
    tree = ast.parse(path.read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    outer = [one for one in functions if not any(one in ast.walk(other) for other in functions if other is not one)]
    found = [node for function in outer for statement in function.body for node in expressions(statement)]
    return [(node, new) for node in found if (new := changed(node)) is not None]


def plant(copy: Path) -> None:
    """Write the mutants into a copy of the sources, all switched off, and a list of them."""
    package = copy / "src" / "faithscope"
    files = [path for room in ROOMS for path in sorted((package / room).rglob("*.py")) if "gpu" not in path.parts]
    sites = [(path, node, new) for path in files for node, new in candidates(path)]
    random.Random(SEED).shuffle(sites)
    chosen: list[tuple[Path, ast.expr, ast.expr]] = []
    for path, node, new in sites:
        lines = range(node.lineno, node.end_lineno + 1)
        near = [one for other, one, _ in chosen if other == path]
        if len(chosen) < HOW_MANY and not any(set(lines) & set(range(one.lineno, one.end_lineno + 1)) for one in near):
            chosen.append((path, node, new))
    told = []
    for number, (path, node, new) in enumerate(chosen):
        old = ast.get_source_segment(path.read_text(), node)
        told.append(
            {
                "number": number,
                "file": str(path.relative_to(copy)),
                "line": node.lineno,
                "old": old,
                "new": ast.unparse(new),
            }
        )
    for path in {path for path, _, _ in chosen}:
        here = [(number, node, new) for number, (other, node, new) in enumerate(chosen) if other == path]
        content = path.read_bytes().split(b"\n")
        for number, node, new in sorted(here, key=lambda one: -one[1].lineno):
            first, last = node.lineno - 1, node.end_lineno - 1
            before, after = content[first][: node.col_offset], content[last][node.end_col_offset :]
            text = f"(({ast.unparse(new)}) if _mutant({number}) else ({ast.unparse(node)}))".encode()
            content[first : last + 1] = [before + text + after]
        tree = ast.parse(b"\n".join(content))
        start = tree.body[0].end_lineno if ast.get_docstring(tree) is not None else 0
        content[start:start] = [b"from faithscope.mutants import on as _mutant"]
        path.write_bytes(b"\n".join(content))
        compile(path.read_bytes(), path, "exec")
    (package / "mutants.py").write_text(SWITCH)
    (copy / "mutants.json").write_text(json.dumps(told, indent=1))
    print(f"{len(chosen)} mutants of {len(sites)} places in {len(files)} files")


def reaching(copy: Path, seconds: dict[str, float]) -> dict[int, list[str]]:
    """The tests that reach each mutant, the quickest first."""
    tests: dict[int, set[str]] = {}
    for line in (copy / "reached.txt").read_text().splitlines():
        number, _, test = line.partition("\t")
        tests.setdefault(int(number), set()).add(test.removesuffix(" (teardown)"))
    return {
        number: sorted(filter(None, names), key=lambda one: seconds.get(one, 0.3)) for number, names in tests.items()
    }


def killed(copy: Path, number: int, tests: list[str], options: list[str], limit: float) -> str:
    """The outcome for one mutant, in a fork of this process, which has imported what tests import."""
    child = os.fork()
    if child == 0:
        os.environ["MUTANT"] = str(number)
        quiet = os.open(os.devnull, os.O_WRONLY)
        log = os.open(copy / f"mutant-{number}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1), os.dup2(quiet, 2)
        os.setsid()
        import pytest

        status = pytest.main([*tests, "-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", *options])
        os._exit(int(status))
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return {0: "survived", 1: "killed", 5: "survived"}.get(code, f"killed (status {code})")
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "survived (time)"


def kill(copy: Path, options: list[str], limit: float, part: int, parts: int) -> None:
    """Run the tests that reach each mutant until one fails."""
    os.chdir(copy)
    sys.path[0] = str(copy / "src")  # not the folder of this script, whose names tests have too
    import duckdb
    import pandas
    import pytest
    import sklearn.ensemble

    import faithscope

    assert all((duckdb, pandas, pytest, sklearn.ensemble))
    assert str(copy) in faithscope.__file__, "the mutants are not what is imported: set PYTHONPATH to the copy's src"
    times = copy / "times.json"
    seconds = json.loads(times.read_text()) if times.exists() else {}
    tests = reaching(copy, seconds)
    outcomes = copy / f"outcomes-{part}.jsonl"
    done = {json.loads(line)["number"] for line in outcomes.read_text().splitlines()} if outcomes.exists() else set()
    for mutant in json.loads((copy / "mutants.json").read_text()):
        number = mutant["number"]
        if number % parts != part or number in done:
            continue
        names = tests.get(number, [])
        outcome = killed(copy, number, names[:200], options, limit) if names else "not reached"
        print(
            number, outcome, mutant["file"], mutant["line"], mutant["old"], "->", mutant["new"], len(names), flush=True
        )
        with outcomes.open("a") as file:
            file.write(json.dumps({**mutant, "outcome": outcome, "tests": len(names)}) + "\n")
    print(Counter(json.loads(line)["outcome"].split(" (")[0] for line in outcomes.read_text().splitlines()))


def main() -> None:
    """Plant, or kill."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=["plant", "kill"])
    parser.add_argument("copy", type=Path)
    parser.add_argument("-m", dest="marks", default="")
    parser.add_argument("--limit", type=float, default=120, help="seconds per mutant")
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--parts", type=int, default=1)
    asked = parser.parse_args()
    copy = asked.copy.resolve()
    if asked.work == "plant":
        plant(copy)
    else:
        kill(copy, ["-m", asked.marks] if asked.marks else [], asked.limit, asked.part, asked.parts)


if __name__ == "__main__":
    main()
