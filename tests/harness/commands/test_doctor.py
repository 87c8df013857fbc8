"""`repro doctor`: what this machine has."""

from __future__ import annotations

import re
from importlib.metadata import version

from tests.harness.commands.varied import told
from tests.harness.conftest import Cli


def test_it_tells_the_machine_its_data_and_what_is_broken(cli: Cli) -> None:
    rows = [row["what"] for row in told(cli("doctor", "--json"))]
    assert {"cpu", "memory_bytes", "writable", "data digits"} <= {*rows}
    out = cli("doctor").out.splitlines()
    lines = dict(re.split(" {2,}", line) for line in out if not line.startswith(" "))
    assert lines["writable"] == "yes"
    assert lines["versions"].startswith(f"torch {version('torch')}, numpy ")
    assert re.fullmatch(r"[0-9.]+ GiB", lines["memory_bytes"])
