"""docs/commands.md tells every verb and option that there is, and no other."""

from __future__ import annotations

import re

from harness.commands.app import command
from tools.commands_page import PAGE, options, table, verbs, written

TOLD = ("list", "check", "table", "plan", "run", "params", "variants", "verify", "plot", "show",
        "diff", "report", "doctor", "new")  # fmt: skip


def test_the_list_of_verbs_and_options_is_that_of_the_command_line() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert written(page) == page, "write it anew: python -m tools.commands_page"


def test_the_list_holds_every_verb_with_every_option() -> None:
    rows = {line.split("`")[1]: line for line in table().splitlines()[2:]}
    found = dict(verbs(command))
    assert rows.keys() == found.keys() and {"data make", "verify"} <= rows.keys()
    assert all(
        f"`{option}`" in rows[name] for name, verb in found.items() for option in options(verb)
    )


def test_the_words_above_it_tell_the_verbs_that_a_reader_needs() -> None:
    words = PAGE.read_text(encoding="utf-8").partition("<!-- verbs:begin -->")[0]
    found = [re.match(r"`repro (\w+)", block) for block in words.split("\n\n")]
    assert [match[1] for match in found if match] == list(TOLD)
    # A sentence that begins with another verb stands in that one's block.
    inside = re.findall(r"[.:] *\s`repro (\w+)[^`]*` [a-z]", words)
    assert inside == []
