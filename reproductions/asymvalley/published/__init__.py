"""Valleys around well-trained nets that others published."""
