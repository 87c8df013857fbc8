"""SmuPar and its rivals as a library: rules, masks, dynamic sparsity, sizes of activations."""
