"""Norms by layer of weights and adapters: Figures 2 and 12."""
