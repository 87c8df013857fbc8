"""How noisy (FG)2U is, by its directions and their number, beside methods that are biased."""
