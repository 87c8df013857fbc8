"""Trials at seeds of their own, on which the settings of the run were chosen."""
