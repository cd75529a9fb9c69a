"""Packages, megabytes and seconds of `pip install faithscope`, in fresh environments.

    python benchmarks/install_size.py                     # without extras
    python benchmarks/install_size.py "" shap all         # several, one after the other

Everything is downloaded first, from wherever pip is configured to look, so that the seconds are those of installing
alone; they are of processor time too, which other work on the machine does not change. Megabytes are those of the
installed files, with what Python compiles of them.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from time import perf_counter

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
    """Bytes per package, bytes downloaded and seconds of installing a tree with its extras."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wheels, what = folder / "wheels", f"{tree}[{extras}]" if extras else str(tree)
    pip = [python, "-m", "pip", "-qq", "--disable-pip-version-check"]  # no word about where it looks
    subprocess.run([*pip, "wheel", "--wheel-dir", wheels, what], check=True)
    start, before = perf_counter(), sum(os.times()[2:4])  # of children
    subprocess.run([*pip, "install", "--no-index", *sorted(wheels.iterdir())], check=True)
    seconds, worked = perf_counter() - start, sum(os.times()[2:4]) - before
    listed = subprocess.check_output([python, "-c", LISTED])
    sizes = {name: size for name, size in json.loads(listed).items() if name not in ("pip", "setuptools")}
    return sizes, sum(path.stat().st_size for path in wheels.iterdir()), (seconds, worked)


def told(extras, sizes, downloaded, seconds):
    """One line for all packages, and one for each of the largest."""
    name = f"faithscope[{extras}]" if extras else "faithscope"
    total = sum(sizes.values())
    took = f"{seconds[0]:.0f} s ({seconds[1]:.0f} s of processor time)"
    lines = [f"{name}: {len(sizes)} packages, {_mb(total)} MB, {_mb(downloaded)} MB to download, {took}"]
    largest = sorted(sizes, key=lambda package: -sizes[package])[:SHOWN]
    return "\n".join(lines + [f"  {_mb(sizes[package]):>7} MB  {package}" for package in largest])


def _mb(count):
    return f"{count / 1e6:,.0f}" if count >= 1e7 else f"{count / 1e6:.1f}"


if __name__ == "__main__":
    for extras in sys.argv[1:] or [""]:
        with tempfile.TemporaryDirectory() as folder:
            print(told(extras, *install(ROOT, extras, Path(folder))), flush=True)
