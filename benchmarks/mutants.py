"""Which faults do the tests find? Mutants drawn at random from the sources, each switched on by itself.

python benchmarks/mutants.py plant COPY                  # write 150 mutants into COPY/src, all switched off
cd COPY && REACHED=reached.txt pytest -n 2               # which tests reach which mutants
python benchmarks/mutants.py kill COPY -m "not thorough" # 200 tests that reach each, until one fails

A mutant is an expression changed as a slip would change it: a comparison, an operator, a number by one, a condition.
It is switched on by the variable MUTANT; every test that comes by writes a line to the file that REACHED names.
"""

import argparse
import ast
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

SEED, HOW_MANY = 39, 150
LIMIT, MOST = 120, 200  # seconds and tests per mutant
SKIPPED = ("annotation", "returns", "decorator_list", "bases", "pattern")
ROOMS = ("counting", "measures", "tables", "explainers", "readers")
PAIRS = (
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn),
    (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.BitAnd, ast.BitOr),
)  # fmt: skip
OPERATORS = dict.fromkeys((ast.Div, ast.FloorDiv, ast.Pow), ast.Mult) | {ast.Mult: ast.Add}
OPERATORS |= {old: new for pair in PAIRS for old, new in (pair, pair[::-1])}
IMPORTED = "from faithscope.mutants import on as _mutant"
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


def changed(node):
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


class Planted(ast.NodeTransformer):
    """Expressions of a file, by their numbers, beside what a slip makes of them."""

    def __init__(self, numbers):
        self.numbers = numbers

    def visit(self, node):
        """The expression with its switch, if it has a number."""
        if node not in self.numbers:
            return self.generic_visit(node)
        return ast.IfExp(ast.parse(f"_mutant({self.numbers[node]})").body[0].value, changed(node), node)


def plant(copy):
    """Write the mutants into a copy of the sources, all switched off, and a list of them."""
    package = copy / "src" / "faithscope"
    files = [path for room in ROOMS for path in sorted((package / room).rglob("*.py")) if "gpu" not in path.parts]
    trees = {path: ast.parse(path.read_text()) for path in files}
    sites = [(path, node) for path, tree in trees.items() for node in expressions(tree) if changed(node)]
    random.Random(SEED).shuffle(sites)
    told, taken, numbers = [], set(), {}
    for path, node in sites:
        lines = {(path, line) for line in range(node.lineno, node.end_lineno + 1)}
        if len(told) < HOW_MANY and not lines & taken:
            taken |= lines
            numbers[node] = len(told)
            words = {"old": ast.unparse(node), "new": ast.unparse(changed(node))}
            told.append({"number": len(told), "file": str(path.relative_to(copy)), "line": node.lineno, **words})
    for path in {path for path, _ in taken}:
        tree = Planted(numbers).visit(trees[path])
        tree.body[int(ast.get_docstring(tree) is not None) : 0] = ast.parse(IMPORTED).body
        path.write_text(ast.unparse(tree))
    (package / "mutants.py").write_text(SWITCH)
    (copy / "mutants.json").write_text(json.dumps(told, indent=1))
    print(f"{len(told)} mutants of {len(sites)} places in {len(files)} files")


def killed(copy, number, tests, options):
    """The outcome for one mutant."""
    asked = [sys.executable, "-m", "pytest", *tests, "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *options]
    with (copy / f"mutant-{number}.log").open("w") as log:
        try:
            known = {"cwd": copy, "env": os.environ | {"MUTANT": str(number)}, "timeout": LIMIT}
            code = subprocess.run(asked, stdout=log, stderr=log, **known).returncode
        except subprocess.TimeoutExpired:
            return "survived (time)"
    return "survived" if code in (0, 5) else "killed" if code == 1 else f"killed (status {code})"


def kill(copy, marks, part, parts):
    """Run the tests that reach each mutant until one fails."""
    asked = [sys.executable, "-c", "import faithscope; print(faithscope.__file__)"]
    if str(copy) not in subprocess.check_output(asked, cwd=copy, text=True):
        sys.exit("The mutants are not what is imported: set PYTHONPATH to the copy's src.")
    tests, outcomes = {}, Counter()
    for line in (copy / "reached.txt").read_text().splitlines():
        number, _, test = line.partition("\t")
        if test:
            tests.setdefault(int(number), {})[test.removesuffix(" (teardown)")] = None
    for mutant in json.loads((copy / "mutants.json").read_text())[part::parts]:
        names = list(tests.get(mutant["number"], ()))
        outcome = killed(copy, mutant["number"], names[:MOST], ["-m", marks]) if names else "not reached"
        print(json.dumps({**mutant, "outcome": outcome, "tests": len(names)}), flush=True)
        outcomes[outcome.split(" (")[0]] += 1
    print(outcomes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=["plant", "kill"])
    parser.add_argument("copy", type=Path)
    parser.add_argument("-m", dest="marks", default="")
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--parts", type=int, default=1)
    asked = parser.parse_args()
    copy = asked.copy.resolve()
    if asked.work == "plant":
        plant(copy)
    else:
        kill(copy, asked.marks, asked.part, asked.parts)
