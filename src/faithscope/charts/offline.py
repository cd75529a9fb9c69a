"""A chart that needs no network: notebooks get an image, and HTML files contain the scripts that draw it."""

import base64
import html
import os
from io import StringIO
from typing import Any

import altair as alt

from faithscope.runtime.files import to_path

_PICTURE = '<img alt="{alt}" src="data:image/svg+xml;base64,{picture}" style="max-width:100%">'


class OfflineChart(alt.LayerChart):
    """An Altair chart that is drawn in this process; Altair's default loads a script from the network.

    A renderer that the user has chosen, such as ``alt.renderers.enable("mimetype")``, is respected, and Altair's state
    is never changed. Charts made with ``+``, ``|`` or ``&`` are Altair's own.
    """

    def _repr_mimebundle_(self, *args: Any, **kwds: Any) -> Any:
        if _chosen():
            return super()._repr_mimebundle_(*args, **kwds)
        return {"text/html": self._repr_html_(), "image/svg+xml": self._picture, "text/plain": self._words}

    def _repr_html_(self) -> str | None:
        """The picture as an HTML element; None if the user has chosen a renderer, which then shows the chart."""
        if _chosen():
            return None
        # An image, since the identifiers of several inline drawings would clash in one page.
        picture = base64.b64encode(self._picture.encode()).decode()
        return _PICTURE.format(alt=html.escape(self._words, quote=True), picture=picture)

    @property
    def _picture(self) -> str:
        drawn = StringIO()
        super().save(drawn, format="svg")
        return drawn.getvalue()

    @property
    def _words(self) -> str:
        """The numbers in the picture, for readers who cannot see it."""
        return str(self.description)

    def save(self, fp: Any, format: Any = None, *more: Any, **options: Any) -> None:
        """Write the chart to a file, as Altair does; a page contains its scripts unless ``inline=False``."""
        target = to_path(fp) if isinstance(fp, str | os.PathLike) else fp
        page = format == "html" or (format is None and str(target).endswith(".html"))
        super().save(target, format, *more, **({"inline": True} if page else {}) | options)


def _chosen() -> bool:
    """Whether the user has chosen how Altair renders."""
    return bool(alt.renderers.active != "default")
