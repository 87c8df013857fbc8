"""Learning-rate sweeps under RigL and GMP: Figure 12."""
