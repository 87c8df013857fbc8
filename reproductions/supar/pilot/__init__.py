"""Dense pilots that centre the windows of every sweep."""
