"""The rules of Table 1, as our models are really built."""
