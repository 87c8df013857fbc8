"""Table 1: sets of images that train a ConvNet, condensed by every method."""
