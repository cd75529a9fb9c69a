"""Structured rationales: conditions written as JSON become rules, quotes of the input become highlights."""
