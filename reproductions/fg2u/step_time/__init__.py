"""Time of one estimate by method, directions at a time and processes."""
