"""Hypergradients through an unrolled inner optimisation, by every method the paper compares."""
