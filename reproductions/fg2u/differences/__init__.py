"""What the step of its differences costs (FG)2U-ZO: truncation above, rounding below."""
