"""The static report: cards and rows on its first page, a page per item."""
