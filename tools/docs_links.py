"""Links of the guide that leave docs: to a page of results, or, where there is none, plain text."""

from __future__ import annotations

import re
from typing import Any

PAPERS = "asymvalley|fg2u|kernels|lisa|paro|supar"
LINK = re.compile(r"\[([^\]]+)\]\(\.\./([^)]+)\)")
PAGE = re.compile(rf"(?:results|reproductions)/({PAPERS})/README\.md(?:#.*)?")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page of docs/ with links that hold on the site; pages of its folders stay."""
    return markdown if "/" in page.file.src_uri else LINK.sub(_link, markdown)


def _link(found: re.Match[str]) -> str:
    words, target = found.groups()
    if target == "RESULTS.md":
        return f'<a href="../index.html">{words}</a>'
    paper = PAGE.fullmatch(target)
    return f'<a href="../{paper[1]}.html">{words}</a>' if paper else words
