"""Models, texts and training that several studies share."""
