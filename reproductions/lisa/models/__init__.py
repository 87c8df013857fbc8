"""What several studies share: models, data as they take it, and training."""
