"""Hidden units that go on and off along sign-consistent noise."""
