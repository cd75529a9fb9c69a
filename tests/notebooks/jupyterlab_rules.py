"""What JupyterLab leaves of untrusted HTML: its allowed tags and attributes, from packages/apputils/src/sanitizer.ts.

Only those that can occur in tables, texts and pictures are listed: fewer than JupyterLab allows, so what passes here
passes there.
"""

import re
from html.parser import HTMLParser

TAGS = frozenset(
    re.findall(
        r"\w+",
        """
        a abbr b bdi bdo br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3
        h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp section small span strong sub summary sup table
        tbody td tfoot th thead tr u ul var wbr
        """,
    )
)
ATTRIBUTES = {
    "*": frozenset(["class", "dir", "hidden", "id", "lang", "style", "title", "translate"]),
    "img": frozenset(["align", "alt", "border", "height", "src", "width"]),
    "table": frozenset(["align", "border", "cellpadding", "cellspacing", "summary", "width"]),
    "td": frozenset(["align", "colspan", "headers", "height", "nowrap", "rowspan", "scope", "valign", "width"]),
    "th": frozenset(["align", "colspan", "headers", "height", "nowrap", "rowspan", "scope", "valign", "width"]),
}
STYLES = {
    "text-align": r"left|center|right|justify",
    "max-width": r"\d+(px|em|rem|%)|\d+\.\d+(px|em|rem|%)",
    "font-weight": r"normal|bold|\d00",
}


class Sanitizer(HTMLParser):
    """What is taken away from HTML if a notebook is not trusted; where that is nothing, all of it is shown."""

    def __init__(self):
        super().__init__()
        self.dropped = []

    def handle_starttag(self, tag, attributes):
        if tag not in TAGS:
            self.dropped.append(tag)
            return
        for name, value in attributes:
            if name not in ATTRIBUTES["*"] | ATTRIBUTES.get(tag, frozenset()):
                self.dropped.append(f"{tag} {name}")
            for part in filter(str.strip, value.split(";") if name == "style" else ()):
                style, _, setting = part.partition(":")
                if not re.fullmatch(STYLES.get(style.strip(), r"(?!)"), setting.strip()):
                    self.dropped.append(f"style {part}")


def dropped(html):
    """The names of what is dropped."""
    parser = Sanitizer()
    parser.feed(html)
    parser.close()
    return parser.dropped
