"""Where this paper's claims are decided, and by which thresholds."""

from __future__ import annotations

from harness.declare import CHECK, CPU_UP, PAPER, Scope, ours

TOO_SHORT = "a few training steps show the structure, not the shape of a converged net's valley"
PAPER_ONLY = "it needs the paper's own net, data and 200 epochs"
ONE_SEED = "smoke has one seed or fewer draws; the other profiles are the paper's own setting"

TRAINED = ours("DEV-08", elsewhere=TOO_SHORT)
"""Our reading of a word on the valleys of trained nets."""
CALIBRATED = Scope(
    grade="empirical", threshold_from="calibration", profiles=CPU_UP, elsewhere=TOO_SHORT
)
"""The same by a threshold that a small net on digits was run for."""
STATED = Scope(grade="empirical", threshold_from="paper", profiles=PAPER, elsewhere=PAPER_ONLY)
"""A number of the paper."""
ON_A_CPU = CHECK.at(
    "smoke",
    "cpu",
    elsewhere="CUDA kernels add in no fixed order, so equality is not promised there",
)
"""Equality to the bit."""
TOY = ours("DEV-08", profiles=("cpu", "paper"), elsewhere=ONE_SEED)
TOY_CHECK = CHECK.at(
    "smoke", "cpu", "paper", elsewhere="it needs no GPU: the cpu profile is the paper's own setting"
)
