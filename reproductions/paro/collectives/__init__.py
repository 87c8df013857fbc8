"""Who holds which blocks, what moves them, what it takes; and a step counted message by message."""
