"""LISA's own settings on the in-house model: blocks, periods, and what happens to states."""
