"""A sweep of learning rates as one stack of nets, with kernels and without."""
