"""Ranks of gloo whose groups are joined by links of chosen speed, on one machine (Linux)."""
