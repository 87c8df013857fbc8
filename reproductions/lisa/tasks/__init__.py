"""Views: a table, its claims and its figure."""
