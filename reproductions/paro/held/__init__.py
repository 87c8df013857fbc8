"""Bytes that PyTorch itself holds, counted beside the formula's."""
