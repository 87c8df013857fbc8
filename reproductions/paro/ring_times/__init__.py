"""Time of an all-gather of all GPUs by bandwidth: one ring against PaRO-CC."""
