"""A page in one file that needs no network: scripts, styles and charts are in it, and nothing else may be fetched."""

import base64
import hashlib
from importlib.resources import files
from typing import Any

from faithscope.charts.bundle import bundle, safe_json
from faithscope.charts.theme import DARK, FONT, LIGHT

_OWN = "faithscope.report"


def fill_page(package: str, charts: Any, **names: Any) -> str:
    """Fill the template of a package.

    Parameters
    ----------
    package : str
        Its folder ``page`` has the template ``page.html.j2``, the script ``page.js``, and ``page.css``, which adds to
        the style of reports.
    charts : object
        What the script draws, as JSON.
    **names
        What the template uses.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader(package, "page")
    jinja = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    drawing, script = bundle(), _part(package, "page.js")
    page = jinja.get_template("page.html.j2").render(
        bundle=Markup(drawing),
        script=Markup(script),
        style=Markup(_style() if package == _OWN else _style() + _part(package, "page.css")),
        charts=Markup(safe_json(charts)),
        policy=_policy(drawing, script),
        **names,
    )
    return page.lstrip()


def _part(package: str, name: str) -> str:
    return files(package).joinpath("page", name).read_text(encoding="utf-8")


def _style() -> str:
    """The style of reports, with the colors of light and dark."""

    def variables(palette: dict[str, str]) -> str:
        return "".join(f"--{name}:{color};" for name, color in palette.items())

    light, dark = variables(LIGHT) + "color-scheme:light;", variables(DARK) + "color-scheme:dark;"
    themes = (
        f":root{{{light}}}\n@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme]){{{dark}}}}}\n"
    )
    return themes + _part(_OWN, "page.css").replace("FONT", FONT)


def _policy(*scripts: str) -> str:
    """The policy that forbids fetching anything and running any script but these."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    rest = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {rest}"
