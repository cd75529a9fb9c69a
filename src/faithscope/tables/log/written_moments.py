"""Dates and moments that a condition writes as texts, beside columns of them: with an offset they mean UTC."""

import re
from datetime import UTC, datetime
from typing import Any

from faithscope.errors import BadInput
from faithscope.tables.engine.dialects import engine_of
from faithscope.tables.engine.protocol import Expression

_TOO_FINE = re.compile(r"[.,]\d{7}")  # Python drops what is finer than microseconds


def is_moment(value: Expression) -> bool:
    """Whether an expression is a date or moment."""
    return bool(value.type().is_timestamp() or value.type().is_date())


def beside_moment(moment: Expression, text: str) -> tuple[Expression, Expression]:
    """A date or moment and a text that says another, so that engines compare them as they stand in UTC."""
    written = _read(text)
    if moment.type().is_date():
        if written.time() == written.min.time():
            return moment, _literal(written.date(), "date")
        return moment.cast("timestamp"), _literal(written, "timestamp")
    zone = "+00:00" if engine_of(moment).has_zone(moment) else ""
    return moment, _literal(f"{written}{zone}", moment.type())


def cast_moment(text: str, kind: str) -> Expression:
    """A text that is cast to a date or moment."""
    written = _read(text)
    if kind == "date":
        if len(text.strip()) > len("2026-03-01"):
            raise BadInput(f"where casts {text!r} to a date: write the date alone, such as {str(written.date())!r}.")
        return _literal(written.date(), kind)
    return _literal(written if kind == "timestamp" else f"{written}+00:00", kind)


def _read(text: str) -> datetime:
    """In UTC; without an offset it is taken as it stands."""
    try:
        written = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(f"where compares moments with {text!r}: write one such as '2026-03-01T12:30'.") from None
    if _TOO_FINE.search(text):
        raise BadInput(f"where compares moments with {text!r}, finer than microseconds: write at most six decimals.")
    return written.astimezone(UTC).replace(tzinfo=None) if written.tzinfo else written


def _literal(value: Any, kind: Any) -> Expression:
    import ibis

    return ibis.literal(str(value)).cast(kind)
