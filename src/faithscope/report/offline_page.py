"""A page in one file that needs no network: scripts, styles and charts are in it, and nothing else may be fetched."""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from faithscope.charts.bundle import bundle, safe_json
from faithscope.charts.theme import DARK, FONT, LIGHT, theme
from faithscope.report.document import Chart, Document
from faithscope.report.maps import draw
from faithscope.visible import visible

_OWN = "faithscope.report"
_LINK = re.compile(r"\[([^]|]+)(?:\|([^]]+))?\]")  # [word], or [text|word]
_MEANS = {"checked": "where it can be checked"}  # headings of tables that the glossary has under another name


def page_of(document: Document) -> str:
    """A document as one page, which needs nothing else."""
    specs: dict[str, Any] = {}

    def place(chart: Chart) -> str:
        """The name of a chart on the page, which then holds its specification."""
        name = f"chart-{chart.anchor or len(specs)}"
        specs[name] = chart.spec
        return name

    def means(heading: str) -> str:
        """What the heading of a column means; empty if the glossary does not have it."""
        return document.glossary.get(_MEANS.get(heading, heading), "")

    colors = {name: f"var(--{name})" for name in LIGHT} | {"hatch": "url(#hatch)"}
    # The words for a chart are its place's; what Vega would add says less.
    config = theme(colors) | {"aria": False, "mark": {"aria": False}, "background": "transparent"}
    drawn = {"specs": specs, "config": config, "names": list(document.names), "about": document.about}
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader(_OWN, "page")
    jinja = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    drawing, script = bundle(), _part("page.js")
    page = jinja.get_template("page.html.j2").render(
        bundle=Markup(drawing),
        script=Markup(script),
        style=Markup(_style()),
        charts=lambda: Markup(safe_json(drawn)),
        policy=_policy(drawing, script),
        document=document,
        version=version("faithscope"),
        kind=lambda block: type(block).__name__,
        place=place,
        linked=partial(_linked, document.glossary),
        means=means,
        draw=draw,
        visible=visible,
    )
    return page.lstrip()


def _linked(glossary: Mapping[str, str], text: str) -> Any:
    """Our own words, with those in brackets as links to the glossary."""
    from markupsafe import Markup, escape

    link = '<a class="term" href="#means-{}" title="{}">{}</a>'

    def shown(found: re.Match[str]) -> str:
        word = found[2] or found[1]
        return link.format(word.replace(" ", "-"), escape(glossary[word]), found[1])

    return Markup(_LINK.sub(shown, str(escape(text))))


def _part(name: str) -> str:
    return files(_OWN).joinpath("page", name).read_text(encoding="utf-8")


def _style() -> str:
    """The style of reports, with the colors of light and dark."""

    def variables(palette: dict[str, str]) -> str:
        return "".join(f"--{name}:{color};" for name, color in palette.items())

    light, dark = variables(LIGHT) + "color-scheme:light;", variables(DARK) + "color-scheme:dark;"
    themes = (
        f":root{{{light}}}\n@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme]){{{dark}}}}}\n"
    )
    return themes + _part("page.css").replace("FONT", FONT)


def _policy(*scripts: str) -> str:
    """The policy that forbids fetching anything and running any script but these."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    rest = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {rest}"
