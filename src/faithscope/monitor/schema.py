"""What a store holds: its tables, and the version by which later programs know them."""

from collections.abc import Collection

FORMAT = "faithscope monitor"
VERSION = 2
WHOLE = -1  # the group that stands for all rows
# Levels of cells: 0 is a day of one batch, then all batches of a month (in the beginning of a week), then of all
# earlier months.
MONTH, EVER = 1, 2

TABLES = {
    "settings": "name VARCHAR, value VARCHAR",
    "batches": "number INTEGER, id VARCHAR, rows BIGINT, first_day INTEGER, last_day INTEGER, added TIMESTAMP,"
    " content VARCHAR",
    "labels": "code INTEGER, canonical VARCHAR, shown VARCHAR",
    "groups": "code INTEGER, canonical VARCHAR, shown VARCHAR",
    # Rows by explanation and label: of a day, a month, or ever.
    "cells": "batch INTEGER, level TINYINT, period INTEGER, grp INTEGER, high UBIGINT, low UBIGINT, label INTEGER,"
    " given BIGINT",
    # Rows of explanations that came once, long ago, and are no longer known by name.
    "forgotten": "grp INTEGER, label INTEGER, rows BIGINT",
    # Rows that wait for a partner; numbers of one explanation and label add up, and may be negative.
    "waiting": "grp INTEGER, high UBIGINT, low UBIGINT, label INTEGER, day INTEGER, closing BOOLEAN, rows BIGINT",
    # What each batch added, per group and day (of pairs, the day of the opener), in the order of batches.
    "pairs": "batch INTEGER, day INTEGER, grp INTEGER, rows BIGINT, openers BIGINT, matched BIGINT, agreeing DOUBLE",
    # Days whose cells were merged into months: their measures, final.
    "days": "day INTEGER, grp INTEGER, n BIGINT, agreeing DOUBLE, unverifiable BIGINT, explanations BIGINT, low DOUBLE,"
    " high DOUBLE, confidence DOUBLE",
    "names": "high UBIGINT, low UBIGINT, name VARCHAR, features VARCHAR",
}
FURTHER = {  # by the setting with which a store has them too
    # Of a monitor without clusters whose rows have ids: some of each batch, by which it is known who comes back.
    "ids": {"ids": "name VARCHAR, word UBIGINT, batch INTEGER"},
    # 64 bits for each cluster, and the row by which it counts.
    "clusters": {
        "clusters": "word UBIGINT, batch INTEGER, day INTEGER, grp INTEGER, high UBIGINT, low UBIGINT, label INTEGER"
    },
    # Cells are then of patterns in place of explanations: the scope that rows of a pattern were given, and the scopes
    # they lie in, as bits. Openers by scope: those that were given it, and those that lie in it; numbers add up. Scope
    # -1 has all of them.
    "scopes": {
        "patterns": "high UBIGINT, low UBIGINT, own INTEGER, inside VARCHAR",
        "scoped_openers": "grp INTEGER, scope INTEGER, given BIGINT, inside BIGINT",
    },
    # The closers of a settled reference by explanation and label, and how many rows of a day, or of the reference
    # (filed under its first day), agree with how many 64ths of them; -1 if nobody closes for them.
    "reference": {
        "closers": "high UBIGINT, low UBIGINT, label INTEGER, rows BIGINT",
        "beside": "day INTEGER, grp INTEGER, part TINYINT, rows BIGINT",
    },
}


def tables_of(settings: Collection[str]) -> dict[str, str]:
    """The tables of a store with these settings, and their columns."""
    held = [TABLES, *(tables for setting, tables in FURTHER.items() if setting in settings)]
    return {name: columns for tables in held for name, columns in tables.items()}
