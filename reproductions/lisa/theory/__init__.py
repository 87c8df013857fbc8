"""Convergence on a convex problem: Theorem 1."""
