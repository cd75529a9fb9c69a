"""What JupyterLab leaves of untrusted HTML: its allowed tags and attributes, from packages/apputils/src/sanitizer.ts.

Tags that are not allowed are dropped, their text stays, except that of style, script, textarea and option. Only those
that can occur in tables, texts and pictures are listed: fewer than JupyterLab allows, so what passes here passes there.
"""

import re
from html import escape
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
_SILENT = ("style", "script", "textarea", "option")
_VOID = ("br", "col", "hr", "img", "wbr")


class Sanitizer(HTMLParser):
    """HTML as it is shown if a notebook is not trusted, and what was taken away."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.kept, self.dropped, self._within = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in TAGS:
            self.dropped.append(tag)
            self._within += [tag] if tag in _SILENT else []
            return
        known = [pair for pair in attributes if pair[0] in ATTRIBUTES["*"] | ATTRIBUTES.get(tag, frozenset())]
        self.dropped += [f"{tag} {name}" for name, _ in attributes if name not in {name for name, _ in known}]
        told = "".join(f' {name}="{escape(self._style(name, value or ""))}"' for name, value in known)
        self.kept.append(f"<{tag}{told}>")

    def _style(self, name, value):
        if name != "style":
            return value
        pairs = [tuple(map(str.strip, part.split(":", 1))) for part in value.split(";") if part.strip()]
        allowed = [pair for pair in pairs if re.fullmatch(STYLES.get(pair[0], r"(?!)"), pair[1])]
        self.dropped += [f"style {style}" for style in pairs if style not in allowed]
        return ";".join(map(":".join, allowed))

    def handle_endtag(self, tag):
        if self._within and self._within[-1] == tag:
            self._within.pop()
        elif tag in TAGS and tag not in _VOID:
            self.kept.append(f"</{tag}>")

    def handle_data(self, text):
        if not self._within:
            self.kept.append(escape(text))


def sanitized(html):
    """The HTML that is left, and the names of what was dropped."""
    parser = Sanitizer()
    parser.feed(html)
    parser.close()
    return "".join(parser.kept), parser.dropped
