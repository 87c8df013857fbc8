"""Peak live bytes of every method against inner steps, directions at a time and meta variables."""
