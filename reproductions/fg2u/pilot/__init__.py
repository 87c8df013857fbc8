"""Pilots that settings, positive controls and thresholds of the run rest on."""
