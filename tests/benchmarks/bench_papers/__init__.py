"""Papers that exist for the benchmarks alone; found only through an entry point they write."""
