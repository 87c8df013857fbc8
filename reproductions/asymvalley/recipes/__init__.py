"""Learning rate, batch size and weight decay: the valleys they end in, and lines between."""
