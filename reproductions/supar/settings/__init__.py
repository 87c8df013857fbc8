"""The paper's settings, Tables 3 and 4, beside those of our `paper` grids."""
