"""Accuracies on five benchmarks by lm-eval: Tables 2 and 5."""
