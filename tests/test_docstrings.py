"""Every example of a docstring shows what it says it shows."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = {path: folder for folder in (ROOT / "src", ROOT / "reproduction") for path in sorted(folder.rglob("*.py"))}
# Kernels of the GPU can only be imported with Triton; tests/counting/test_gpu.py runs them.
FILES = [path for path in SOURCES if "tests" not in path.parts[-3:] and ">>> " in path.read_text()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCES[path]).as_posix())
def test_the_examples_run(path):
    parts = path.relative_to(SOURCES[path]).with_suffix("").parts
    module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    found = [one for one in doctest.DocTestFinder(exclude_empty=True).find(module) if one.examples]
    assert found, f"no example of {path.name} is found by doctest"
    failures = []
    for one in found:
        runner.run(one, out=failures.append)
    assert not failures, "".join(failures)
