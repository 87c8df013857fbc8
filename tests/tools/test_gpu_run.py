"""`make gpu` where there is no GPU: a stand-in answers the query of devices, nothing else does.

Trials ask for CUDA and compute on the CPU. Their records say what the stand-in calls itself.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.harness.toy_paper import ToyPaper, make_toy_paper
from tests.waiting import wait_for
from tools import gpu_pack, gpu_run

STAND_IN = "A stand-in for a GPU"
NO_NETWORK = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
needs_unshare = pytest.mark.skipif(
    shutil.which("unshare") is None
    or subprocess.run([*NO_NETWORK, "true"], capture_output=True, check=False).returncode != 0,
    reason="a namespace without network needs root, or leave to make one",
)


@pytest.fixture
def at_gpu(tmp_path: Path) -> ToyPaper:
    """Return a toy paper whose trials at `gpu` need CUDA, and a stand-in for nvidia-smi."""
    toy = make_toy_paper(tmp_path)
    text = toy.experiment.read_text()
    text = text.replace('("smoke", "cpu")', '("smoke", "cpu", "gpu")')
    toy.experiment.write_text(text.replace("Needs(packages", 'Needs(device="cuda", packages'))
    tools = tmp_path / "bin"
    tools.mkdir()
    smi = tools / "nvidia-smi"
    smi.write_text(f"#!/bin/sh\necho '{STAND_IN}, 0.0, 81920'\n")
    smi.chmod(0o755)
    toy.env = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "TOY_MS": "20"}
    return toy


def command(out: Path, *more: str) -> list[str]:
    return [
        *NO_NETWORK, sys.executable, "-m", "tools.gpu_run", "--out", str(out), "--budget", "2m",
        "--order", "toylab", *more,
    ]  # fmt: skip


def environment(toy: ToyPaper, **more: str) -> dict[str, str]:
    env = toy.environment(**more)
    return {**env, "PYTHONPATH": f"{ROOT}{os.pathsep}{env['PYTHONPATH']}"}


def records_in(archive: Path) -> list[dict[str, object]]:
    with tarfile.open(archive) as tar:
        (name,) = [name for name in tar.getnames() if name.endswith("records.jsonl.gz")]
        stream = tar.extractfile(name)
        assert stream is not None
        lines = gzip.decompress(stream.read()).decode().splitlines()
    return [json.loads(line) for line in lines]


@needs_unshare
def test_what_is_due_is_run_without_a_network_and_comes_back(
    at_gpu: ToyPaper, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = subprocess.run(
        command(out), env=environment(at_gpu), cwd=ROOT, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(at_gpu.starts()) == 12
    records = records_in(out / gpu_run.ARCHIVE)
    assert len(records) == 12
    assert all(STAND_IN in json.dumps(record) for record in records)
    # Back where there is no GPU: nothing is run, and the table is there.
    for folder in (at_gpu.root / "runs", at_gpu.root / "results"):
        shutil.rmtree(folder)
    (at_gpu.root / "results").mkdir()
    at_gpu.env.pop("PATH")
    assert at_gpu.repro("records", "import", str(out / gpu_run.ARCHIVE)).returncode == 0
    assert at_gpu.repro("run", "toylab", "--profile", "gpu").returncode == 0
    assert len(at_gpu.starts()) == 12
    assert at_gpu.csv("gpu").is_file()


@needs_unshare
def test_an_interrupted_run_exports_what_it_has_and_goes_on_from_there(
    at_gpu: ToyPaper, tmp_path: Path
) -> None:
    out, carried = tmp_path / "out", tmp_path / "carried"
    process = subprocess.Popen(
        command(out), env=environment(at_gpu, TOY_SLOWNESS="40"), cwd=ROOT,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    wait_for(lambda: len(at_gpu.events("end")) >= 2)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 130, process.stderr and process.stderr.read()
    first = records_in(out / gpu_run.ARCHIVE)
    assert 2 <= len(first) < 12
    # Another machine, which has but the archive.
    carried.mkdir()
    shutil.move(out / gpu_run.ARCHIVE, carried / gpu_run.ARCHIVE)
    shutil.rmtree(at_gpu.root / "runs")
    shutil.rmtree(at_gpu.root / "results")
    (at_gpu.root / "results").mkdir()
    before = len(at_gpu.starts())
    done = subprocess.run(
        command(out, "--from", str(carried)), env=environment(at_gpu), cwd=ROOT,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(at_gpu.starts()) - before == 12 - len(first)
    assert len(records_in(out / gpu_run.ARCHIVE)) == 12


def test_wheels_that_are_missing_go_beside_what_is_installed(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    make_wheel(wheels / "carried_along-1.0-py3-none-any.whl", "carried_along", "VALUE = 7")
    # One that is there in another version stays as it is.
    make_wheel(wheels / "torch-0.0-py3-none-any.whl", "torch", "VALUE = 7")
    python = gpu_run.environment(wheels, tmp_path / "venv")
    code = "import carried_along, torch; print(carried_along.VALUE, torch.__version__)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    value, version = done.stdout.split()
    assert value == "7" and version != "0.0"
    assert gpu_run.environment(tmp_path / "nothing", tmp_path / "venv") == Path(sys.executable)


def make_wheel(path: Path, name: str, code: str) -> None:
    version = path.name.split("-")[1]
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            wheel.writestr(file, text)


def test_what_the_target_has_is_not_packed() -> None:
    whole = gpu_pack.closure({gpu_pack.PROJECT}, without=())
    there = gpu_pack.closure({"torch"}, without=())
    packed = gpu_pack.closure({gpu_pack.PROJECT}, without=there)
    assert "torch" in whole and {"pydantic", "pydantic-core", "pebble"} <= packed
    assert not packed & there
    assert "transformers" in gpu_pack.used_at_gpu()


@pytest.mark.parametrize(("text", "wanted"), [("90s", 90), ("8m", 480), ("1h30m", 5400)])
def test_budgets_are_read(text: str, wanted: int) -> None:
    assert gpu_run.seconds(text) == wanted


@pytest.mark.parametrize("words", [["--budget", "8"], ["--budget", "m8"], ["--from", "/nowhere"]])
def test_bad_options_are_told(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        gpu_run.main(["--out", "x", *words])
    told = capsys.readouterr().err
    assert "write 90s, 8m or 1h30m" in told or "make it with `make gpu-pack`" in told


def test_a_python_that_lacks_what_is_needed_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_run, "NEEDED", ("torch", "not_installed_anywhere"))
    with pytest.raises(SystemExit):
        gpu_run.parsed(["--out", "x"])
    assert "has no not_installed_anywhere: name a Python that has" in capsys.readouterr().err
