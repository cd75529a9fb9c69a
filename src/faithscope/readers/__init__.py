"""What other libraries made, as `Explanations`: a table of libraries, none of which is imported."""

from faithscope.readers.reading import as_explanations, read

__all__ = ["as_explanations", "read"]
