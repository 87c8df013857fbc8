"""Answers decoded by DoLa's early exits, before and after tuning: Table 13."""
