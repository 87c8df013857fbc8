"""What a machine with a card and no network is brought, and how it is set up there."""
