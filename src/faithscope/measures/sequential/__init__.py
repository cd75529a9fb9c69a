"""Limits and alarms that may be looked at as often as one likes, from pairs of rows (`counting.pairing`)."""
