"""How batch normalisation starts, and how its statistics are taken along a walk."""
