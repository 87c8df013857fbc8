"""One unknown coefficient of a PDE from observations of its solution: Figures 2 and E.1."""
