"""SGD and SWA on digits."""
