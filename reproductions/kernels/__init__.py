"""GPU kernels that papers share, each beside the plain torch code that says what it computes."""
