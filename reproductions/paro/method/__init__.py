"""PaRO's strategies and what they cost: memory, messages, time, and a choice among them."""
