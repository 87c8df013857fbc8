"""Exact statements: estimators against each other, Lemma 3.1, Theorem 3.4, Appendix B, costs."""
