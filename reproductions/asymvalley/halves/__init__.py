"""Two nets from one start, trained on halves of the data, and the line between them."""
