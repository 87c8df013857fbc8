"""What ranks did in a step and in an all-gather, by the engine's own trace."""
