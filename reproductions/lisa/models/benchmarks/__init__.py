"""Accuracies on benchmarks: under lm-eval, and by a scorer that needs no lm-eval."""
