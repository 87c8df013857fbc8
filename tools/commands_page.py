"""The list of verbs and options in docs/commands.md, made from the command line itself.

`python -m tools.commands_page` writes it; a test compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
BEGIN, END = "<!-- verbs:begin -->\n", "<!-- verbs:end -->\n"


def table() -> str:
    """Return a row per verb: what it does, and its options."""
    from harness.commands.app import command

    heads = ["| `repro` | does | options |", "| --- | --- | --- |"]
    return "\n".join([*heads, *(_row(*verb) for verb in verbs(command))]) + "\n"


def verbs(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all verbs with their names, those of groups after the group's."""
    for name in group.list_commands(None):
        verb = group.get_command(None, name)
        if hasattr(verb, "commands"):
            yield from verbs(verb, f"{before}{name} ")
        else:
            yield f"{before}{name}", verb


def options(verb: Any) -> list[str]:
    """Return the long names of a verb's options."""
    return [max(each.opts, key=len) for each in verb.params if each.opts[0].startswith("-")]


def _row(name: str, verb: Any) -> str:
    does = " ".join(verb.help.partition("\n\n")[0].split()).replace("|", "\\|")
    return f"| `{name}` | {does} | {' '.join(f'`{each}`' for each in options(verb))} |"


def written(page: str) -> str:
    """Return the page with the list as it is now."""
    head, _, rest = page.partition(BEGIN)
    return head + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
