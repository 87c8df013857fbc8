"""What each method can do, measured: Figure 1 and its table of capabilities."""
