"""Hand-made tables of every task, in which each claim plainly holds, plainly fails, or ties."""
