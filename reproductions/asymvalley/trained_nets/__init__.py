"""Every net that the valleys run through, trained once; and the signs of one and its gradient."""
