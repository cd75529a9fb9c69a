"""A card as HTML: a fragment that needs no style sheet, for notebooks, or a page of its own."""

from html import escape

from faithscope.sinks.card import Card, Sentence, Table
from faithscope.visible import visible

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; } caption { text-align: left; font-weight: 600; padding: .5rem 0; }
td, th { border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .3rem .7rem; }
"""
_LEFT, _RIGHT = ' style="text-align: left"', ' style="text-align: right"'


def page(card: Card) -> str:
    """The card as a whole page, which needs no network."""
    head = f'<meta charset="utf-8"><title>{_text(card.title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{fragment(card)}</body></html>\n'


def fragment(card: Card) -> str:
    """The card as elements that a notebook shows alike, whether it trusts them or not: no style sheet, no script.

    Examples
    --------
    >>> fragment(Card("Who?", notes=("few <rows>",)))
    '<p><strong>Who?</strong></p><ul><li>few &lt;rows&gt;</li></ul>'
    """
    notes = "".join(f"<li>{_text(note)}</li>" for note in card.notes)
    title = f"<p><strong>{_text(card.title)}</strong></p>" if card.title else ""
    parts = [title, *map(_sentence, card.sentences), *map(_table, card.tables)]
    return "".join([*parts, f"<ul>{notes}</ul>" if notes else ""])


def _text(text: str) -> str:
    return escape(visible(text))


def _sentence(sentence: Sentence) -> str:
    subject = f"<strong>{_text(sentence.subject)}</strong>: " if sentence.subject else ""
    return f"<p>{subject}{_text(sentence.text)}</p>"


def _table(table: Table) -> str:
    table = table.narrow()
    title = f"<caption>{_text(table.title)}</caption>" if table.title else ""
    head, body = _row(table, table.columns, "th"), "".join(_row(table, row, "td") for row in table.rows)
    caption = f"<p>{_text(table.caption)}</p>" if table.caption else ""
    return f"<table>{title}<thead>{head}</thead><tbody>{body}</tbody></table>{caption}"


def _row(table: Table, cells: tuple[str, ...], tag: str) -> str:
    aligned = [_LEFT if place < table.words else _RIGHT for place in range(len(cells))]
    filled = zip(aligned, cells, strict=True)
    return f"<tr>{''.join(f'<{tag}{style}>{_text(cell)}</{tag}>' for style, cell in filled)}</tr>"
