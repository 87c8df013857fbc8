"""Plan, run and resume trials."""
