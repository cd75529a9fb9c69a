"""Sufficiency watched: rules that were fixed beforehand, rows by the scopes in which they lie, and what they add."""
