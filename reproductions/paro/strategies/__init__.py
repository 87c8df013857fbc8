"""The 27 strategies: which are kept, why, and which of them are worth having."""
