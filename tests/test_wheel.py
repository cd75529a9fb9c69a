"""What is published has all that the code reads, and nothing else."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import BytesParser
from pathlib import Path

import pytest

import faithscope as fs

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "faithscope"
pytest.importorskip("hatchling")


def built(kind, tree, folder):
    """The file that hatchling makes of a tree."""
    program = f"import sys; from hatchling.build import build_{kind}; build_{kind}(sys.argv[1])"
    subprocess.run([sys.executable, "-c", program, str(folder)], cwd=tree, check=True, capture_output=True)
    return next(folder.iterdir())


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return contents(built("wheel", ROOT, tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    archive, folder = built("sdist", ROOT, tmp_path_factory.mktemp("sdist")), tmp_path_factory.mktemp("unpacked")
    with tarfile.open(archive) as packed:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        packed.extractall(folder, **safely)
    return next(folder.iterdir())


def metadata(wheel):
    name = next(name for name in wheel if name.endswith(".dist-info/METADATA"))
    return BytesParser().parsebytes(wheel[name])


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_package_and_no_other(wheel):
    kept = {
        path.relative_to(SOURCE.parent).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in wheel if ".dist-info/" not in name} == kept
    assert "faithscope/py.typed" in kept
    assert {path.rsplit(".", 1)[1] for path in kept} == {
        *("py", "typed", "css", "js", "j2", "json", "txt"),
        *("parquet", "md"),  # of the bundled data, and their license
    }


@pytest.mark.slow
def test_the_wheel_is_small(wheel):
    assert sum(map(len, wheel.values())) < 5e6


@pytest.mark.slow
def test_licenses_are_in_the_wheel(wheel):
    licenses = {name.split("/licenses/")[1]: text for name, text in wheel.items() if ".dist-info/licenses/" in name}
    assert licenses["LICENSE"] == (ROOT / "LICENSE").read_bytes()
    others = {"src/faithscope/charts/scripts/LICENSES.txt", "src/faithscope/datasets/bundled/LICENSE.md"}
    for path in others:
        assert licenses[path] == (ROOT / path).read_bytes()
    assert set(metadata(wheel).get_all("License-File")) == {"LICENSE", *others}


@pytest.mark.slow
def test_what_is_built_of_the_source_distribution_is_the_same_wheel(wheel, sdist, tmp_path):
    again = contents(built("wheel", sdist, tmp_path))
    assert {name: text for name, text in again.items() if not name.endswith("RECORD")} == {
        name: text for name, text in wheel.items() if not name.endswith("RECORD")
    }


@pytest.mark.slow
def test_the_source_distribution_has_no_pictures_no_tests_and_no_results(sdist):
    names = {path.relative_to(sdist).parts[0] for path in sdist.rglob("*")}
    assert names == {
        *("src", "README.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore"),
        *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md"),
    }


@pytest.mark.slow
def test_the_metadata_names_no_address(wheel):
    told = metadata(wheel)
    assert told["Version"] == fs.__version__
    assert told.get_all("Project-URL") is None
    assert told["Home-page"] is None


def test_everything_is_installed_once():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = declared["optional-dependencies"]
    everything = re.findall(r"\w+", extras["all"][0].split("[")[1])
    assert set(everything) == {"pictures", "shap", "xgboost", "postgres", "spark"}
    assert not any(requirement.startswith("dice") for name in everything for requirement in extras[name])
    assert not any("vl-convert" in requirement for requirement in declared["dependencies"])


def test_the_citation_has_the_version_of_the_package():
    told = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert told[1] == fs.__version__
