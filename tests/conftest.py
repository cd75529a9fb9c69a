"""What all tests share: how properties are explored, and the marks by which `make quick` leaves tests out."""

import os
from pathlib import Path

from hypothesis import settings

settings.register_profile("explore", deadline=None)
settings.register_profile("repeat", deadline=None, derandomize=True)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile("repeat" if os.environ.get("CI") else "explore")

TESTS = Path(__file__).parent
SLOW = {"contracts", "faults", "fuzz", "notebooks", "reproduce"}  # folders
ENGINES = {"postgres", "spark", "in_postgres"}


def pytest_collection_modifyitems(items):
    """Mark whole folders, and what is run with Postgres or Spark; single tests are marked where they stand."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0] if item.path.is_relative_to(TESTS) else ""
        if folder in SLOW:
            item.add_marker("slow")
        if folder == "browser":
            item.add_marker("browser")
        chosen = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if ENGINES & {str(getattr(value, "__name__", value)) for value in chosen}:
            item.add_marker("engine")
