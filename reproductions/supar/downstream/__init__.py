"""Accuracy of Figure 3's nets: Table 2, and a substitute that tiny nets can take."""
