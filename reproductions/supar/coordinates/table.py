"""What the two tasks on the coordinate check share: words, and columns of their tables."""

from __future__ import annotations

from harness.declare.table import Column

TOO_NARROW = "two densities and narrow layers show the structure, not a scaling law"
BLOCKS = {"attention": "attention", "feed_forward": "feed-forward"}
STEP = Column(name="step", type="int", role="param", doc="Updates made before the measurement.")
BLOCK = Column(name="block", type="str", role="param", doc="attention or feed_forward.")
