"""Run as `python benchmarks/coverage`, and never imported: numba, if installed, looks for a package of this name."""

raise ImportError("benchmarks/coverage is a folder of scripts: run it.")
