"""Valleys around trained nets: seven noises, six directions, shares of signs, groups."""
