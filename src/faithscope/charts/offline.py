"""A chart that needs no network: notebooks get an image, and HTML files contain the scripts that draw it."""

import base64
import html
import os
from importlib.util import find_spec
from io import StringIO
from typing import Any

import altair as alt

from faithscope.charts.bundle import UNSAFE, bundle
from faithscope.errors import MissingExtra
from faithscope.runtime.files import to_path

_PICTURE = '<img alt="{alt}" src="data:image/svg+xml;base64,{picture}" style="max-width:100%">'
_FRAME = '<iframe title="{alt}" srcdoc="{page}" sandbox="allow-scripts" style="{style}"></iframe>'
_AROUND = 150  # pixels of a title, an axis and a legend
_PICTURES = ("svg", "png", "pdf", "vega")
_NEEDED = 'A chart as {format} needs vl-convert: pip install "faithscope[pictures]". A page (.html) needs nothing more.'
_PAGE = """<!DOCTYPE html>
<html>
<head>
<meta charset="UTF-8">
<title>faithscope</title>
<script>{script}</script>
</head>
<body>
<div id="{place}"></div>
<script>vegaEmbed("#{place}", {spec}, {options}).catch(console.error);</script>
</body>
</html>
"""


class OfflineChart(alt.LayerChart):
    """An Altair chart that is drawn in this process; Altair's default loads a script from the network.

    A renderer that the user has chosen, such as ``alt.renderers.enable("mimetype")``, is respected, and Altair's state
    is never changed. Charts made with ``+``, ``|`` or ``&`` are Altair's own.
    """

    def _repr_mimebundle_(self, *args: Any, **kwds: Any) -> Any:
        element = self._repr_html_()
        if element is None:
            return super()._repr_mimebundle_(*args, **kwds)
        shown = {"text/html": element, "text/plain": self._words}
        return shown | {"image/svg+xml": self._picture} if _can_draw() else shown

    def _repr_html_(self) -> str | None:
        """The chart as an HTML element; None if the user has chosen a renderer, which then shows the chart."""
        if alt.renderers.active != "default":
            return None
        if not _can_draw():
            return self._frame
        # An image, since the identifiers of several inline drawings would clash in one page.
        picture = base64.b64encode(self._picture.encode()).decode()
        return _PICTURE.format(alt=html.escape(self._words), picture=picture)

    @property
    def _picture(self) -> str:
        drawn = StringIO()
        super().save(drawn, format="svg")
        return drawn.getvalue()

    @property
    def _frame(self) -> str:
        """The chart as a page in a frame, which the browser draws."""
        page, height = StringIO(), self.to_dict().get("height")
        self.save(page, format="html")
        style = f"border:0;width:100%;height:{_AROUND + (height if isinstance(height, int | float) else 300)}px"
        return _FRAME.format(alt=html.escape(self._words), page=html.escape(page.getvalue()), style=style)

    @property
    def _words(self) -> str:
        """The numbers in the picture, for readers who cannot see it."""
        return str(self.description)

    def save(self, fp: Any, format: Any = None, *more: Any, **options: Any) -> None:
        """Write the chart to a file, as Altair does; a page contains its scripts unless ``inline=False``."""
        target = to_path(fp) if isinstance(fp, str | os.PathLike) else fp
        kind = format or os.path.splitext(str(target))[1][1:]
        if kind in _PICTURES and not _can_draw():
            raise MissingExtra(_NEEDED.format(format=kind.upper()))
        inline = {"template": _Page()} if kind == "html" and options.pop("inline", True) else {}
        super().save(target, format, *more, **inline | options)


class _Page:
    """A template, as Altair fills it, that contains the scripts and keeps whatever strings the chart holds texts."""

    def render(self, *, spec: str, embed_options: str, output_div: str, **_: Any) -> str:
        spec, options = spec.translate(UNSAFE), embed_options.translate(UNSAFE)
        return _PAGE.format(script=bundle(), place=output_div, spec=spec, options=options)


def _can_draw() -> bool:
    """Whether this process can draw pictures; if not, browsers draw them."""
    return find_spec("vl_convert") is not None
