"""What the guideline says at the paper's inputs: memory, communication time, ranks."""
