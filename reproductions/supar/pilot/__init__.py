"""Pilots, at seeds that no run uses: base hyperparameters, windows, and what training does."""
