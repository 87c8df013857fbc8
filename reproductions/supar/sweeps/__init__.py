"""Sweeps of the learning rate and the initial standard deviation: Figures 1, 6 to 9, 11, 13, 14."""
