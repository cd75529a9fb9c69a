"""Makes the script that draws charts, which the package keeps: ``python .ci/bundle.py`` after vl-convert was updated.

python .ci/bundle.py                      # vega.js and versions.json
npm install vega@6 vega-lite@6 vega-embed@7 --prefix FOLDER --ignore-scripts
python .ci/bundle.py FOLDER/node_modules  # LICENSES.txt too, of these packages and of all that they need
"""

import hashlib
import json
import re
import sys
from importlib.metadata import version
from pathlib import Path

import vl_convert

from faithscope.charts.bundle import EXPORT

SCRIPTS = Path(__file__).resolve().parents[1] / "src" / "faithscope" / "charts" / "scripts"
NAMES = ("vega", "vega-lite", "vega-embed")
PROGRAMS = {"yargs", "commander", "iconv-lite", "rw"}  # of command lines, which no page has


def write_script() -> None:
    """Write the script, and which versions it was made of."""
    script = vl_convert.javascript_bundle(EXPORT).encode()
    versions = {
        "vega": vl_convert.get_vega_version(),
        "vega-lite": vl_convert.get_vegalite_versions()[-1],
        "vega-embed": vl_convert.get_vega_embed_version(),
        "vl-convert-python": version("vl-convert-python"),
        "sha256": hashlib.sha256(script).hexdigest(),
    }
    (SCRIPTS / "vega.js").write_bytes(script)
    (SCRIPTS / "versions.json").write_text(json.dumps(versions, indent=2) + "\n")


def needed(modules: Path, name: str, known: dict[str, Path]) -> None:
    """Add a package to those known, and all that it needs."""
    if name in known or name in PROGRAMS or name.startswith("@types/"):
        return
    known[name] = modules / name
    for other in json.loads((modules / name / "package.json").read_text()).get("dependencies", {}):
        needed(modules, other, known)


def write_licenses(modules: Path) -> None:
    """Write every license once, under the names of the packages that have it."""
    known: dict[str, Path] = {}
    for name in NAMES:
        needed(modules, name, known)
    names: dict[str, list[str]] = {}
    for name, folder in sorted(known.items()):
        license = next(path for path in folder.iterdir() if path.name.upper().startswith("LICENSE"))
        text = re.sub(r"[ \t]+$", "", license.read_text().replace("\r\n", "\n").strip(), flags=re.M)
        names.setdefault(text, []).append(name)
    told = ["The file vega.js is made of these packages, under the licenses that follow their names."]
    told += [f"{'-' * 80}\n{', '.join(packages)}\n\n{text}" for text, packages in names.items()]
    (SCRIPTS / "LICENSES.txt").write_text("\n\n".join(told) + "\n")


if __name__ == "__main__":
    write_script()
    if len(sys.argv) > 1:
        write_licenses(Path(sys.argv[1]))
