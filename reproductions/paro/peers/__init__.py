"""Which of the 14 strategies known systems can express."""
