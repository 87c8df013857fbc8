"""Memory of one step, by method and model; and what optimizer states grow to over periods."""
