"""What methods can do, and how long an estimate takes: Figure 1."""
