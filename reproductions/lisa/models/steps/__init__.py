"""A training step: its memory, computed and counted, and what claims on its time measure."""
