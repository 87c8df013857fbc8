"""Verdicts of two sides, and where they differ."""
