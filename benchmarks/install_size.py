"""Packages and megabytes of `pip install faithscope`, in fresh environments.

    python benchmarks/install_size.py                     # without extras
    python benchmarks/install_size.py "" shap all         # several, one after the other

Megabytes are those of the installed files, with what Python compiles of them.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHOWN = 10  # the largest packages
# Runs in the fresh environment: the name of every package with the bytes of its files.
LISTED = """
import json
from importlib.metadata import distributions
sizes, seen = {}, set()
for package in distributions():
    files = {path.locate().resolve() for path in package.files or ()} - seen  # a file of two packages counts once
    seen |= files
    sizes[package.name] = sum(path.stat().st_size for path in files if path.is_file())
print(json.dumps(sizes))
"""


def install(tree, extras, folder):
    """Bytes per package of a tree with its extras."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [python, "-m", "pip", "-qq", "--disable-pip-version-check"]  # no word about where it looks
    subprocess.run([*pip, "install", f"{tree}[{extras}]" if extras else str(tree)], check=True)
    sizes = json.loads(subprocess.check_output([python, "-c", LISTED]))
    return {name: size for name, size in sizes.items() if name not in ("pip", "setuptools")}


def told(extras, sizes):
    """One line for all packages, and one for each of the largest."""
    largest = sorted(sizes, key=sizes.get, reverse=True)[:SHOWN]
    yield f"faithscope[{extras}]: {len(sizes)} packages, {sum(sizes.values()) / 1e6:,.0f} MB"
    yield from (f"  {sizes[package] / 1e6:>7,.1f} MB  {package}" for package in largest)


if __name__ == "__main__":
    for extras in sys.argv[1:] or [""]:
        with tempfile.TemporaryDirectory() as folder:
            print(*told(extras, install(ROOT, extras, Path(folder))), sep="\n", flush=True)
