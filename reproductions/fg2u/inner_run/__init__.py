"""One inner run on condensed images, far beyond the unroll that they were condensed with."""
