"""An attack sees what it is made to see: every kind of fault, planted in a paper's task file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.attack.case import SECRET, Case, Seen, faults
from tests.attack.checkout import Checkout, snapshot
from tests.attack.hook import ROLES, VARIABLE
from tests.attack.parallel import prepare
from tests.attack.process import Stop, observe
from tests.checkout import ROOT
from tests.harness.toy_paper import make_toy_paper

PLANTED = {
    "": [],
    "import os; os._exit(7)": ["exit code"],
    "import os; os.kill(os.getpid(), 9)": ["signal"],
    f"print({SECRET!r})": ["secret"],
    "import subprocess; subprocess.Popen(['sleep', '60'])": ["left process"],
    "import sys; sys.stderr.write('Traceback (most recent call last):')": ["traceback"],
    "import os; open(os.environ['REPRO_ROOT'] + '/new', 'w').close()": ["changed file"],
    "import os; os.write(2, b'x' * 9_000); os._exit(2)": ["essay"],
    "import time; time.sleep(60)": ["hang"],
    "while True: pass": ["hang"],
}
"""By what a task file does as it is imported what an attack must say of `repro list --json`."""


def planted(code: str, folder: Path, stop: Stop | None = None) -> tuple[Seen, list[str]]:
    """Run `list --json` on a paper that does something; in a process that may be forked from."""
    from tests.attack import process

    process.CPU_LIMIT_S, process.TIME_LIMIT_S = 3, 4.5
    folder.mkdir()
    toy = make_toy_paper(folder)
    toy.task.write_text(f"{code}\n{toy.task.read_text()}")
    checkout, env = Checkout(folder), {VARIABLE: stop.spec} if stop and stop.spec else {}
    case = Case(kind="planted", done=code, words=("list", "--json"), env=env)
    before = snapshot(checkout)
    streams = folder.parent / f"{folder.name}-streams"
    streams.mkdir()
    seen = observe(case, root=checkout.root, packages=checkout.packages, scratch=streams, stop=stop)
    changed = tuple(name for name in snapshot(checkout) if name not in before)
    whole = Seen(code=seen.code, out=seen.out, err=seen.err, left=seen.left, changed=changed)
    return whole, list(faults(case, whole))


def test_every_planted_fault_is_seen_and_nothing_else(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(len(PLANTED))]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=prepare) as pool:
        found = [wrong for _, wrong in pool.map(planted, PLANTED, folders)]
        sleep, stop = "import time; time.sleep(60)", Stop(seconds=0.2)
        stopped = pool.submit(planted, sleep, tmp_path / "stopped", stop)
        seen, wrong = stopped.result()
        # The role of a forked command is told, since Python was not started for it.
        make = "import os; os.fsync(os.open('made', os.O_CREAT | os.O_WRONLY))"
        died = {
            role: pool.submit(planted, make, tmp_path / role, Stop(spec=f"{role} fsync 1 before"))
            for role in ROLES
        }
        codes = {role: told.result()[0].code for role, told in died.items()}
    assert dict(zip(PLANTED, found, strict=True)) == PLANTED
    assert (seen.code, wrong) == (-9, ["signal"])
    assert codes == {"runner": -9, "worker": 0}


def left_by_three(call: str, stop: str, folder: Path) -> dict[str, bytes | None]:
    """Return what a process leaves that makes a call three times, and is killed at one of them."""
    program = (
        "import os\nfrom tests.attack.hook import install\ninstall()\n"
        f"for n in range(3):\n    {call}"
    )
    folder.mkdir()
    for number in range(3):
        (folder / str(number)).touch()
    env = {**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: stop}
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


def test_a_process_dies_at_the_call_that_was_drawn(tmp_path: Path) -> None:
    for moment, moved in (("before", 1), ("after", 2)):
        left = left_by_three(
            "os.replace(str(n), f'{n}-moved')", f"runner replace 2 {moment}", tmp_path / moment
        )
        assert sum(name.endswith("-moved") for name in left) == moved
