"""The `repro` command: errors become one sentence and an exit code.

Nothing else is imported before `main` runs, so that an interrupt finds it in charge.
"""

from __future__ import annotations

import gc
import signal
import sys


def main() -> None:
    """Run the command line. Exit codes: see design section 10, or the README."""
    try:
        code = _run()
    except KeyboardInterrupt:
        sys.stderr.write("repro: interrupted\n")
        code = 130
    if code == 130:
        # One more would break in on what libraries do at the end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def _run() -> int:
    """Return the exit code; 0 where a reader of our results (head, less) has seen enough."""
    from harness.errors import HarnessError
    from harness.outgoing import ReaderGone, guard_streams, tidy

    guard_streams()
    code = 0
    try:
        code = _carry_out()
        sys.stdout.flush()
    except ReaderGone:
        return code
    except HarnessError as error:
        sys.stderr.write(f"repro: {tidy(str(error))}\n")
        return error.exit_code
    return code


def _carry_out() -> int:
    # Modules, tables, records and figures are many objects in no circles: passing over them takes
    # long.
    gc.set_threshold(50_000, 10, 10)
    import logging

    from harness.commands.app import command
    from harness.commands.common import broken_said

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    broken_said.clear()
    try:
        command()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


if __name__ == "__main__":
    main()
