"""What tells whether a result is still what it was: digests of code, seals, cohorts."""
