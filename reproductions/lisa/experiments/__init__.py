"""What is run."""
