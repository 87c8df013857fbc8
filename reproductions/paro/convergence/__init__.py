"""Losses of training by every strategy, beside those of one process."""
