"""The bundled text: whole sentences, and as much of it as is promised."""

from __future__ import annotations

from harness.data.bundled import grammar_text
from harness.data.grammar_text import generate_text


def test_bundled_text_has_the_promised_size() -> None:
    text = grammar_text()
    assert 200_000 <= len(text) <= 300_000
    assert text.isascii()
    assert text.startswith(generate_text(min_chars=1000, seed=0))
    assert generate_text(min_chars=1000, seed=1) != generate_text(min_chars=1000, seed=0)
