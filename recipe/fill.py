"""Fills the recipe with a release: ``python recipe/fill.py dist/faithscope-0.1.0.tar.gz ADDRESS``.

The address is that from which the source distribution can be downloaded.
"""

import hashlib
import re
import sys
from pathlib import Path

RECIPE = Path(__file__).with_name("recipe.yaml")


def filled(recipe: str, archive: Path, address: str) -> str:
    """The recipe with the version, the address and the digest of a source distribution."""
    values = {
        "version": archive.name.removeprefix("faithscope-").removesuffix(".tar.gz"),
        "url": address,
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
    }
    for name, value in values.items():
        recipe = re.sub(rf'^  {name}: ".*".*$', f'  {name}: "{value}"', recipe, flags=re.M)
    return recipe


if __name__ == "__main__":
    RECIPE.write_text(filled(RECIPE.read_text(), Path(sys.argv[1]), sys.argv[2]))
