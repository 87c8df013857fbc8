"""Optimizer steps of the engine and of PyTorch's own, timed over links that are shaped."""
