"""What all tests share: how properties are explored, and the marks by which `make quick` leaves tests out."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

import once
from tables import postgres

# What is drawn is the same in every run: `make test` tries 25 examples per property, `make test-all` 50.
settings.register_profile("quick", deadline=None, max_examples=20)
settings.register_profile("test", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("all", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("explore", deadline=None)
settings.load_profile("test")

TESTS = Path(__file__).parent
SLOW = {"contracts", "faults", "fuzz", "notebooks"}  # folders
ENGINES = {"postgres", "spark", "in_postgres"}


def pytest_configure(config):
    """Begin what the workers share, in the process that starts them; each of them has one thread for small models."""
    if not hasattr(config, "workerinput"):
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        once.begin()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Stop and remove what the workers shared."""
    if not hasattr(config, "workerinput"):
        postgres.stop()
        once.end()


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
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("property")
