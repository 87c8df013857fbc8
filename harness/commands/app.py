"""All verbs in one command."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from harness.commands import (
    bench,
    check,
    data,
    diff,
    doctor,
    gpu,
    new,
    output,
    reading,
    records,
    report,
    run,
    show,
    variants,
    verify,
)
from harness.commands.common import fail_if_broken
from harness.errors import Interrupted
from harness.store.workspace import find_workspace

EPILOG = """
Examples:  repro run supar/fig06 --profile smoke  |  repro check 'supar/*' --json  |
repro plot supar/fig06 --format pdf --width single --out fig06.pdf
"""


class Verbs(TyperGroup):
    """The verbs; an interrupt of one of them is told like an error."""

    def invoke(self, ctx: Any) -> Any:
        if "--help" not in sys.argv:
            # A wrong root is told at once, also by verbs that would not come to it.
            find_workspace()
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
)
reading.mount(app)
doctor.mount(app)
run.mount(app)
variants.mount(app)
check.mount(app)
show.mount(app)
diff.mount(app)
verify.mount(app)
output.mount(app)
report.mount(app)
app.add_typer(data.app, name="data")
app.add_typer(records.app, name="records")
app.add_typer(gpu.app, name="gpu")
app.add_typer(new.app, name="new")
bench.mount(app)

command = get_command(app)
"""The verbs with their options, put together once for a process that calls many."""
