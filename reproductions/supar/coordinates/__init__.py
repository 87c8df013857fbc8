"""The coordinate check of Figure 5, and by layer."""
