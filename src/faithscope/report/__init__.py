"""Reports: one summary of a result, shown in a terminal, on a page or as JSON; nothing is measured here."""
