"""Two sweeps: one whose trials cost nothing, one whose trials are real training."""
