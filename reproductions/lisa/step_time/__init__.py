"""Time of one training step by method: Figure 4."""
