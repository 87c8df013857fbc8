"""Continual pre-training and then word problems, by the number of blocks: Table 4 and Figure 7."""
