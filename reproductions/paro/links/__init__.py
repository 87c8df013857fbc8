"""What links between groups of ranks carry on a testbed, and how long an all-gather takes there."""
