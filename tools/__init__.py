"""What the repository needs and a user does not."""
