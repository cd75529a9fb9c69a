"""Inline code of the pages names what exists: attributes, parameters, commands and their options."""

import ast
import inspect
import re
import shlex
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import pytest
import typer.main

import faithscope
import faithscope as fs
from faithscope import explainers, testing
from faithscope.cli import app
from faithscope.explanations.base import Explanations
from faithscope.integrations import sklearn
from faithscope.measures.comparing.populations import Populations
from faithscope.measures.planning import Plan
from faithscope.tables.audit import Audit
from listed import names

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCED = re.compile(r"^```.*?^```$|<!--.*?-->", re.M | re.S)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
# What a page means by a name: any of these has the attribute.
MEANT = {
    "fs": (fs,),
    "faithscope": (faithscope,),
    "ev": (fs.Evaluation,),
    "est": (fs.Estimate,),
    "estimate": (fs.Estimate,),
    "cmp": (fs.Comparison,),
    "comparison": (fs.Comparison,),
    "audited": (Audit,),
    "explanations": (Explanations,),
    "plan": (Plan,),
}
COMMANDS = typer.main.get_command(app).commands
OPTIONS = {
    name: {
        word
        for each in (command, *getattr(command, "commands", {}).values())
        for one in each.params
        for word in one.opts
    }
    for name, command in COMMANDS.items()
}


def snippets(page):
    return sorted(set(_INLINE.findall(_FENCED.sub("", page))))


def found_in(owner, name):
    """What an attribute of a module, of a class or of its instances is; None where there is none."""
    if is_dataclass(owner) and name in {one.name for one in fields(owner)}:
        return object
    if name in getattr(owner, "__annotations__", {}):
        return object
    return getattr(owner, name, None)


def resolved(node):
    """What a dotted name stands for, as the candidates there are; None where it begins with something unknown."""
    if isinstance(node, ast.Name):
        if node.id in MEANT:
            return MEANT[node.id]
        known = [getattr(place, node.id) for place in (fs, explainers, testing, sklearn) if node.id in names(place)]
        return tuple(known[:1]) or None
    if isinstance(node, ast.Subscript) and resolved(node.value) == (fs.Comparison,):
        return (fs.Evaluation,)  # one of a comparison's
    if isinstance(node, ast.Attribute):
        owners = resolved(node.value)
        if owners is None or object in owners:
            return None
        return tuple(one for owner in owners if (one := found_in(owner, node.attr)) is not None)
    return None


def wrong_call(function, call):
    """What is wrong with a call's parameters; None where nothing is, or where nobody can say."""
    if not callable(function) or function is object:
        return None
    try:
        wanted = inspect.signature(function).parameters
    except ValueError:
        return None
    if any(one.kind is one.VAR_KEYWORD for one in wanted.values()):
        return None
    unknown = [one.arg for one in call.keywords if one.arg and one.arg not in wanted]
    places = [one for one in wanted.values() if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    some = any(one.kind is one.VAR_POSITIONAL for one in wanted.values())
    if unknown:
        return f"no parameter {unknown[0]!r}"
    return None if some or len(call.args) <= len(places) else f"takes {len(places)} positions"


def subscripted(owners):
    return any(one is object or hasattr(one, "__getitem__") or inspect.isfunction(one) for one in owners)


def wrong_python(code):
    """Everything that a piece of Python names and that is not there."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and resolved(node) == ():
            yield f"{ast.unparse(node)} does not exist"
        if isinstance(node, ast.Subscript) and resolved(node.value) and not subscripted(resolved(node.value)):
            yield f"{ast.unparse(node.value)} has no items"
        if isinstance(node, ast.Call):
            functions = resolved(node.func) or ()
            problems = [wrong_call(one, node) for one in functions]
            if problems and all(problems):
                yield f"{ast.unparse(node.func)}: {problems[0]}"


def wrong_command(code):
    """Commands and options that the program does not have."""
    words = shlex.split(code)
    known = set.union(*OPTIONS.values(), {"--help", "--version", "-h", "--install-completion"})
    if words[0] == "faithscope" and not words[1].startswith("-"):
        if words[1] not in OPTIONS:
            yield f"no command {words[1]!r}"
            return
        known = OPTIONS[words[1]] | {"--help"}
    for word in words:
        if word.startswith("--") and word.split("=")[0] not in known:
            yield f"no option {word}"


@cache
def parameters():
    """Every parameter of every public function, class and method."""
    owners = [getattr(place, name) for place in (fs, explainers, testing, sklearn) for name in names(place)]
    owners += [Audit, Populations, Plan]
    owners += [value for owner in owners if inspect.isclass(owner) for _, value in inspect.getmembers(owner, callable)]
    known = set()
    for one in owners:
        with suppress(TypeError, ValueError):
            known.update(inspect.signature(one).parameters)
    return known


def wrong(code):
    if re.search(r"[\w*]\.(py|txt|md|toml|html)$|/", code) and " " not in code:
        return  # a file
    if re.match(r"faithscope [\w-]|--\w", code):
        yield from wrong_command(code)
    elif keyword := re.match(r"(\w+)=(?!=)", code):
        if keyword[1] not in parameters() and keyword[1].islower() and keyword[1] not in ELSEWHERE:
            yield f"nothing has a parameter {keyword[1]!r}"
        yield from wrong_python(code)
    else:
        yield from wrong_python(code)


ELSEWHERE = {"batch_size", "discretize_continuous", "l1_reg"}  # parameters of other libraries that pages speak of


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
@pytest.mark.slow
def test_inline_code_names_what_exists(path):
    problems = [f"`{code}`: {problem}" for code in snippets(path.read_text()) for problem in wrong(code)]
    assert problems == []


def test_what_does_not_exist_is_noticed():
    for code in [
        "fs.consistancy(phi, predictions)",
        "fs.consistency(phi, predictions, discretiser=fs.Sign())",
        "ev.counterexample()",
        "Lime(model, X_train, sample=5)",
        "discretiser=fs.Sign()",
        "faithscope evaluat --system x",
        "faithscope audit log --fail-below 0.9",
        "--fail-below 0.9",
        'comparison["tree"].counterexample()',
    ]:
        assert list(wrong(code))


def test_pages_have_inline_code_to_check():
    assert sum(len(snippets(page.read_text())) for page in PAGES) > 300
