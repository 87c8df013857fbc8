"""The method as a library: noises, directions, walks through parameter space, and FedSign."""
