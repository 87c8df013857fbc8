"""The `repro` command: mounts the verbs, and turns errors into one sentence and an exit code."""

from __future__ import annotations

import logging
import sys

import typer

from harness.commands import bench, check, data, output, reading, records, run, verify
from harness.errors import HarnessError
from harness.outgoing import guard_streams, tidy

EPILOG = """
Examples:  repro run supar/fig06 --profile smoke  |  repro check 'supar/*' --json  |
repro plot supar/fig06 --format pdf --width single --out fig06.pdf
"""

app = typer.Typer(
    name="repro",
    help="Does this paper's table hold, on my machine, at my scale?",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
reading.mount(app)
run.mount(app)
check.mount(app)
verify.mount(app)
output.mount(app)
app.add_typer(data.app, name="data")
app.add_typer(records.app, name="records")
bench.mount(app)


def main() -> None:
    """Run the command line. Exit codes: see design section 10, or the README."""
    guard_streams()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        app()
    except HarnessError as error:
        sys.stderr.write(f"repro: {tidy(str(error))}\n")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.stderr.write("repro: interrupted\n")
        sys.exit(130)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; a traceback would only be noise.
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
