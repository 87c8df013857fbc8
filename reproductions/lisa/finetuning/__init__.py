"""Fine-tuning on instructions by every method: losses, numbers of blocks, periods and seeds."""
