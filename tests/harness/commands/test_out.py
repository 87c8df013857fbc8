"""`--out` and other files that a user names: what is there is neither lost nor replaced unasked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.outgoing import GuardedStream
from harness.store import out
from tests.harness.conftest import Cli
from tests.harness.run.test_faults import CPU, INLINE, assert_one_sentence

LONG = "n" * 300
TABLE = ("table", "toylab/tab01", *CPU, "--out")


@pytest.fixture
def ran(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Return `repro` after a run at cpu, called in a folder of its own."""
    assert cli(*INLINE, *CPU).code == 0
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return cli


@pytest.fixture
def text(ran: Cli) -> str:
    """Return what `repro table` prints."""
    return ran("table", "toylab/tab01", *CPU).out


def export(cli: Cli, *words: str) -> tuple[int, str]:
    done = cli("records", "export", *words, "toylab", *CPU)
    return done.code, done.err


def test_a_device_stays_a_device(ran: Cli, tmp_path: Path) -> None:
    null = tmp_path / "null"
    if os.geteuid() == 0:
        os.mknod(null, 0o20666, os.makedev(1, 3))
    else:
        null.symlink_to("/dev/null")
    before = null.lstat()
    assert ran(*TABLE, str(null)).code == 0
    assert export(ran, str(null))[0] == 0
    after = null.lstat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)


def test_a_pipe_gets_the_bytes_and_stays(ran: Cli, text: str, tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    assert ran(*TABLE, str(pipe)).code == 0
    reader.join()
    assert got == [text]
    assert pipe.is_fifo()


def test_a_link_is_followed_to_its_target_and_stays(ran: Cli, text: str, tmp_path: Path) -> None:
    for name in ("old", "new"):
        link, target = tmp_path / f"to-{name}", tmp_path / f"{name}.txt"
        link.symlink_to(target.name)
        if name == "old":
            target.write_text("old")
        assert ran(*TABLE, str(link)).code == 0
        assert link.is_symlink()
        assert target.read_text() == text


def test_a_place_that_no_file_can_have_is_one_sentence(ran: Cli) -> None:
    Path("loop").symlink_to("loop")
    Path("plain").touch()
    for words in (
        *((*TABLE, path) for path in ("loop", LONG, ".", "/")),
        ("records", "export", LONG, "toylab", *CPU),
        ("records", "import", LONG),
        ("data", "pack", "toylab", "--out", LONG),
        ("data", "pack", "toylab", "--out", "plain"),
    ):
        done = ran(*words)
        assert done.code in (2, 3), done
        assert_one_sentence(done.err)
    assert Path("loop").is_symlink()


def test_a_dash_is_standard_output_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # As a process of ours has it.
    monkeypatch.setattr("sys.stdout", GuardedStream(sys.stdout, is_results=True))
    out.write_out(Path("-"), b"table\n")
    assert capfd.readouterr().out == "table\n" and list(tmp_path.iterdir()) == []


def test_the_mode_of_a_file_is_kept(ran: Cli, tmp_path: Path) -> None:
    for mode in (0o600, 0o640, 0o755):
        path = tmp_path / f"{mode:o}"
        path.touch(mode)
        path.chmod(mode)
        assert ran(*TABLE, str(path)).code == 0
        assert path.stat().st_mode & 0o777 == mode
        assert path.stat().st_size > 0


def test_a_new_file_heeds_the_umask(ran: Cli, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        assert ran(*TABLE, str(tmp_path / "private")).code == 0
    finally:
        os.umask(before)
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600


def repository(folder: Path, *names: str) -> Path:
    """Make a repository that tracks some files."""
    folder.mkdir()
    for name in names:
        (folder / name).write_text("tracked\n")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    return folder


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_tracked_file_is_replaced_on_request_only(ran: Cli, text: str, tmp_path: Path) -> None:
    folder = repository(tmp_path / "repository", "README.md", ":(glob)*")
    for name in ("README.md", ":(glob)*"):
        tracked = folder / name
        done = ran(*TABLE, str(tracked))
        assert (done.code, "git tracks" in done.err, "--force" in done.err) == (2, True, True)
        assert_one_sentence(done.err)
        assert tracked.read_text() == "tracked\n"
        assert ran(*TABLE, str(tracked), "--force").code == 0
        assert tracked.read_text() == text
    archive = folder / "records.tar.gz"
    assert export(ran, str(archive))[0] == 0
    subprocess.run(["git", "-C", str(folder), "add", "."], check=True)
    assert export(ran, str(archive))[0] == 2
    # Beside them nothing is asked.
    for _ in range(2):
        assert ran(*TABLE, str(folder / "mine.txt")).code == 0


def test_a_root_that_is_no_folder_is_refused(cli: Cli) -> None:
    for verb, root in (("plan", "/nonexistent"), ("check", f"/{LONG}"), ("run", __file__)):
        done = cli(verb, "toylab", REPRO_ROOT=root)
        assert (done.code, root in done.err) == (2, True), done
        assert_one_sentence(done.err)
