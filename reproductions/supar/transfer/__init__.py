"""Losses at hyperparameters that are carried over and not tuned: Figures 3 and 10."""
