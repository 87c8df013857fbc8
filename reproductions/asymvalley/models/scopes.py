"""Where this paper's claims are decided, and by which thresholds."""

from __future__ import annotations

from harness.declare import CHECK, CPU_UP, PAPER, Scope, ours

TOO_SHORT = "after a few training steps a net has no valley yet"
PAPER_ONLY = "it needs the paper's net, data and training"
ONE_SEED = "smoke has too few draws, and it needs no GPU"

TRAINED = ours("DEV-08", elsewhere=TOO_SHORT)
"""Our reading of a word on the valleys of trained nets."""
CALIBRATED = Scope(
    grade="empirical", threshold_from="calibration", profiles=CPU_UP, elsewhere=TOO_SHORT
)
"""The same by a threshold that runs of a small net on digits set."""
STATED = Scope(grade="empirical", threshold_from="paper", profiles=PAPER, elsewhere=PAPER_ONLY)
"""A number of the paper."""
ON_A_CPU = CHECK.at(
    "smoke",
    "cpu",
    elsewhere="a GPU adds in no fixed order, so bits may differ there",
)
"""Equality to the bit."""
TOY = ours("DEV-08", profiles=("cpu", "paper"), elsewhere=ONE_SEED)
TOY_CHECK = CHECK.at(
    "smoke", "cpu", "paper", elsewhere="it needs no GPU: the cpu profile is the paper's own setting"
)
