"""What studies share: nets, data, training, and how curves are tabled, measured and drawn."""
