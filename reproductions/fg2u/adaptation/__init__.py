"""Online adaptation: weights of tokens, learned so that one pass over documents teaches answers."""
