"""Pages of what is on disk: `site/`, RESULTS.md, a page per paper, and blocks of the READMEs.

One page object per paper, and templates over it. No GPU, no data, no record is read.
"""
