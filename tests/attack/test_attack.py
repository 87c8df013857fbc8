"""An attack sees what it is made to see: every kind of fault, planted in a paper's task file."""

from __future__ import annotations

import gzip
import io
import os
import random
import signal
import subprocess
import sys
import tarfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.attack import damage
from tests.attack.__main__ import tell
from tests.attack.case import SECRET, Case, Seen, faults
from tests.attack.checkout import Checkout, leaks, snapshot
from tests.attack.hook import ROLES, VARIABLE
from tests.attack.parallel import Found, prepare
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


def sample(name: str, folder: Path) -> Path:
    """Write a small file of a kind."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("records.jsonl.gz"))
    path = folder / name
    path.write_bytes(
        {
            "a.json": b'{"a": [1, {"b": 2}],\n"c": 3}\n',
            "a.jsonl.gz": gzip.compress(b'{"a": 1, "b": 2}\n{"a": 2, "b": 3}\n'),
            "a.csv": b"a,b\n1,2\n3,4\n",
            "a.toml": b'a = "b"\nc = 1\n',
            "a.tar.gz": gzip.compress(plain.getvalue()),
        }[name]
    )
    return path


DAMAGES = [
    *((how, "a.csv") for how in damage.BYTES + damage.KINDS + damage.TABLE),
    *((how, name) for how in damage.JSON for name in ("a.json", "a.jsonl.gz")),
    *((how, "a.toml") for how in damage.TOML),
    *((how, "a.tar.gz") for how in damage.ARCHIVE if how is not damage.bomb),
]


@pytest.mark.parametrize(
    ("how", "name"), DAMAGES, ids=lambda value: getattr(value, "__name__", value)
)
def test_every_damage_changes_its_file(how: damage.Damage, name: str, tmp_path: Path) -> None:
    """One that changes nothing would attack nothing."""
    changed = 0
    for number in range(5):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = sample(name, folder)
        before = path.read_bytes()
        how(path, random.Random(number))
        changed += (
            not path.is_file() or path.stat().st_size != len(before) or path.read_bytes() != before
        )
    assert changed >= 4


def test_a_bomb_is_small_and_unpacks_to_more_than_any_limit(tmp_path: Path) -> None:
    path = sample("a.jsonl.gz", tmp_path)
    damage.bomb(path, random.Random(0))
    assert path.stat().st_size < 10 * 2**20
    with gzip.open(path) as stream:
        stream.seek(3 * 64 * 2**20)
        assert stream.read(4) == bytes(4)


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


DYING = {
    "rename": "os.rename(str(n), f'{n}-moved')",
    "unlink": "os.unlink(str(n))",
    "mkdir": "os.mkdir(f'{n}-made')",
    "write": "s = os.fdopen(os.open(f'{n}-made', os.O_WRONLY | os.O_CREAT), 'wb'); s.write(b'ab');"
    " s.flush()",
}


@pytest.mark.parametrize("name", DYING)
def test_every_call_that_changes_a_folder_is_counted(name: str, tmp_path: Path) -> None:
    left = {
        moment: left_by_three(DYING[name], f"runner {name} 2 {moment}", tmp_path / moment)
        for moment in ("before", "after")
    }
    assert left["before"] != left["after"]
    if name == "write":
        # Half a file: what a crash in the middle leaves.
        assert left["before"]["1-made"] == b"" and left["after"]["1-made"] == b"a"


def test_leaks_are_found_in_files_of_the_checkout(tmp_path: Path) -> None:
    (tmp_path / "root" / "runs").mkdir(parents=True)
    (tmp_path / "root" / "runs" / "note").write_text(f"key {SECRET}")
    assert leaks(Checkout(tmp_path)) == ("root/runs/note",)


def test_the_counts_end_with_1_where_there_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    found = Found()
    found.add("archive", "#1", [])
    assert tell(found, 1.0) == 0
    found.add("archive", "#2 bomb", ["hang"], "exit None")
    assert tell(found, 1.0) == 1
    assert "faults: 1 hang" in capsys.readouterr().out
