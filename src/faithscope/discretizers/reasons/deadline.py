"""A deadline that stops a codebook that takes too long."""

import time
from dataclasses import dataclass, field

from faithscope.errors import BadInput

_SECONDS = 60.0  # that a batch may take, of which it should take less than one


@dataclass
class Deadline:
    """When a batch of texts must be done."""

    began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds until then."""
        return self.began + _SECONDS - time.monotonic()

    def check(self, name: str) -> None:
        """Raise if it takes too long, up to the pattern of this name."""
        seconds = time.monotonic() - self.began
        if seconds > _SECONDS:
            raise BadInput(
                f"The codebook took {seconds:.0f} seconds for a few reasons, up to the pattern of {name!r}: bound its "
                "repeats, such as .{0,100}, or shorten the reasons."
            )
