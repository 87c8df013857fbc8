"""Whether kernels are right on a device: outputs against float64, and NVIDIA's own checker."""
