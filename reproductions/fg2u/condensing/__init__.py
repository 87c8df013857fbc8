"""Data condensation: what images become under a method, or under two in turn."""
