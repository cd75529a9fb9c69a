"""Explanations that say where they apply, in an engine."""
