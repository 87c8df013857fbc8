"""All verbs in one command; the module of a verb is imported when it is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from harness.commands.common import fail_if_broken
from harness.errors import Interrupted

EPILOG = """
Examples:  repro run supar/fig06 --profile smoke  |  repro check 'supar/*' --json  |
repro plot supar/fig06 --format pdf --width single --out fig06.pdf
"""
VERBS = {
    "list": "reading:list_tasks",
    "plan": "reading:show_plan",
    "status": "reading:show_status",
    "doctor": "doctor:doctor",
    "run": "run:run",
    "params": "variants:params",
    "variants": "variants:variants",
    "check": "check:check",
    "show": "reading:show",
    "diff": "reading:diff",
    "verify": "verify:verify",
    "plot": "output:plot",
    "figures": "output:figures",
    "table": "output:table",
    "report": "output:report",
    "data": "data:app",
    "records": "records:app",
    "gpu": "gpu:gpu",
    "new": "new:app",
}
"""By name the module beside this one, and its function, or its group of verbs."""


@cache
def _made(name: str) -> Any:
    module, _, attribute = VERBS[name].partition(":")
    found = getattr(import_module(f"harness.commands.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        verb, found = found, typer.Typer(add_completion=False, rich_markup_mode=None)
        found.command(name)(verb)
    made = get_command(found)
    made.name = name
    return made


class Verbs(TyperGroup):
    """The verbs; an interrupt of one of them is told like an error."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # What is mistyped is answered from these names.
        self.commands: dict[str, Any] = dict.fromkeys(VERBS)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _made(cmd_name) if cmd_name in VERBS else None

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            # Typer would end without a word, or with another code, as its version has it.
            raise Interrupted("interrupted") from interrupt


app = typer.Typer(
    name="repro",
    cls=Verbs,
    help="Does this paper's table hold, on my machine, at my scale?",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    result_callback=fail_if_broken,
    callback=lambda: None,
)

command = get_command(app)
"""The verbs with their options, put together once for a process that calls many."""
