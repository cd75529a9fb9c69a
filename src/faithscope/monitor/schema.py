"""What a store holds: its tables, and the version by which later programs know them."""

from collections.abc import Collection

FORMAT = "faithscope monitor"
VERSION = 2
WHOLE = -1  # the group that stands for all rows
# Levels of cells: 0 is a day of one batch, then all batches of a month (in the beginning of a week), then of all
# earlier months.
MONTH, EVER = 1, 2

TABLES = (
    "CREATE TABLE settings (name VARCHAR, value VARCHAR)",
    "CREATE TABLE batches (number INTEGER, id VARCHAR, rows BIGINT, first_day INTEGER, last_day INTEGER,"
    " added TIMESTAMP, content VARCHAR)",
    "CREATE TABLE labels (code INTEGER, canonical VARCHAR, shown VARCHAR)",
    "CREATE TABLE groups (code INTEGER, canonical VARCHAR, shown VARCHAR)",
    # Rows by explanation and label: of a day, a month, or ever.
    "CREATE TABLE cells (batch INTEGER, level TINYINT, period INTEGER, grp INTEGER,"
    " high UBIGINT, low UBIGINT, label INTEGER, given BIGINT)",
    # Rows of explanations that came once, long ago, and are no longer known by name.
    "CREATE TABLE forgotten (grp INTEGER, label INTEGER, rows BIGINT)",
    # Rows that wait for a partner; numbers of one explanation and label add up, and may be negative.
    "CREATE TABLE waiting (grp INTEGER, high UBIGINT, low UBIGINT, label INTEGER, day INTEGER, closing BOOLEAN,"
    " rows BIGINT)",
    # What each batch added, per group and day (of pairs, the day of the opener), in the order of batches.
    "CREATE TABLE pairs (batch INTEGER, day INTEGER, grp INTEGER, rows BIGINT, openers BIGINT, matched BIGINT,"
    " agreeing DOUBLE)",
    # Days whose cells were merged into months: their measures, final.
    "CREATE TABLE days (day INTEGER, grp INTEGER, n BIGINT, agreeing DOUBLE, unverifiable BIGINT, explanations BIGINT,"
    " low DOUBLE, high DOUBLE, confidence DOUBLE)",
    "CREATE TABLE names (high UBIGINT, low UBIGINT, name VARCHAR, features VARCHAR)",
)
# A further table of a monitor without clusters whose rows have ids: some of each batch, by which it is known who comes
# back.
ID_TABLES = ("CREATE TABLE IF NOT EXISTS ids (name VARCHAR, word UBIGINT, batch INTEGER)",)
# A further table of a monitor with clusters: 64 bits for each, and the row by which it counts.
CLUSTER_TABLES = (
    "CREATE TABLE IF NOT EXISTS clusters (word UBIGINT, batch INTEGER, day INTEGER, grp INTEGER, high UBIGINT,"
    " low UBIGINT, label INTEGER)",
)
# Further tables of a monitor with scopes, whose cells are of patterns in place of explanations.
SCOPE_TABLES = (
    # The scope that rows of a pattern were given, and the scopes they lie in, as bits.
    "CREATE TABLE IF NOT EXISTS patterns (high UBIGINT, low UBIGINT, own INTEGER, inside VARCHAR)",
    # Openers by scope: those that were given it, and those that lie in it; numbers add up. Scope -1 has all of them.
    "CREATE TABLE IF NOT EXISTS scoped_openers (grp INTEGER, scope INTEGER, given BIGINT, inside BIGINT)",
)

# Further tables of a monitor whose reference was settled: its closers by explanation and label, and how many rows of a
# day, or of the reference (filed under its first day), agree with how many 64ths of them; -1 if nobody closes for them.
BESIDE_TABLES = (
    "CREATE TABLE IF NOT EXISTS closers (high UBIGINT, low UBIGINT, label INTEGER, rows BIGINT)",
    "CREATE TABLE IF NOT EXISTS beside (day INTEGER, grp INTEGER, part TINYINT, rows BIGINT)",
)


def further_tables(settings: Collection[str]) -> tuple[str, ...]:
    """The tables that a store with these settings has beside those of all stores."""
    held = {"scopes": SCOPE_TABLES, "clusters": CLUSTER_TABLES, "ids": ID_TABLES, "reference": BESIDE_TABLES}
    return tuple(statement for setting, tables in held.items() if setting in settings for statement in tables)
