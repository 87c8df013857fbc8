"""What several studies of the paper share."""
