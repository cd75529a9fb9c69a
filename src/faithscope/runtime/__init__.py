"""What the package runs on: files, memory, progress, and fingerprints of code."""

import faithscope.runtime.threads  # noqa: F401
