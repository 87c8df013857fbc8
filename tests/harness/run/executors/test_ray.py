"""Runs on a real cluster of three nodes of Ray, all on this machine."""

from __future__ import annotations

import json
import os
import platform
import random
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from harness.errors import RunError
from tests.harness.processes import assert_gone, is_alive
from tests.harness.staged_folder import make_folder
from tests.harness.toy_paper import ToyPaper, make_toy_paper
from tests.waiting import wait_for

pytestmark = pytest.mark.cluster

NUM_NODES = 3
NUM_KILLS = int(os.environ.get("KILLS", "6"))
LARGE_TRIAL = """
import torch

def run(point, ctx):
    if point.mode == "ok":
        ctx.save("large.safetensors", {"w": torch.full((25_000_000,), float(point.x))})
    return [{"square": float(point.x)}]
"""


@dataclass(frozen=True, slots=True)
class Nodes:
    """A cluster, and what its nodes have in their environment from their start."""

    cluster: Any
    folder: Path
    """Short: sockets lie below it."""

    @property
    def log(self) -> Path:
        return self.folder / "toy.log"

    @property
    def gate(self) -> Path:
        """Trials go on as long as it is there."""
        return self.folder / "gate"

    def add(self) -> None:
        """Start a node with one core, and with files of its own, as one on another machine has."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TOY_LOG", str(self.log))
            patch.setenv("TOY_GATE", str(self.gate))
            patch.delenv("REPRO_DATA", raising=False)
            self.cluster.add_node(num_cpus=1, temp_dir=tempfile.mkdtemp(dir=self.folder))


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """Return a head without cores of its own, and three nodes with one each."""
    from ray.cluster_utils import Cluster

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        nodes = Nodes(cluster, Path(folder))
        try:
            for _ in range(NUM_NODES):
                nodes.add()
            yield nodes
        finally:
            cluster.shutdown()


@pytest.fixture
def cluster(nodes: Nodes) -> Any:
    nodes.log.unlink(missing_ok=True)
    nodes.gate.touch()
    return nodes.cluster


@pytest.fixture
def toy(tmp_path: Path, nodes: Nodes) -> ToyPaper:
    toy = make_toy_paper(tmp_path)
    toy.log.symlink_to(nodes.log)
    return toy


def on(cluster: Any, *more: str) -> tuple[str, ...]:
    return ("run", "toylab", "--executor", "ray", "--address", cluster.address, *more)


def test_tables_are_those_of_local_processes(toy: ToyPaper, cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "local").mkdir()
    local = make_toy_paper(tmp_path / "local")
    assert local.repro("run", "toylab").returncode == 0
    done = toy.repro(*on(cluster))
    assert done.returncode == 0, done.stderr
    assert toy.csv().read_bytes() == local.csv().read_bytes()
    assert len({event["pid"] for event in toy.events()}) == NUM_NODES
    again = toy.repro(*on(cluster)).stderr
    assert "0 run, 12 reused" in again and "Warning" not in again


def test_a_node_that_dies_costs_its_trial_one_more_start(
    toy: ToyPaper, cluster: Any, nodes: Nodes
) -> None:
    nodes.gate.unlink()
    driver = toy.start(*on(cluster))
    wait_for(lambda: len(toy.events()) == NUM_NODES)
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    nodes.add()
    # Its worker may end a little later than the node.
    wait_for(lambda: not all(is_alive(event["pid"]) for event in toy.events()))
    nodes.gate.touch()
    _, err = driver.communicate(timeout=120)
    assert driver.returncode == 0, err
    assert "12 run" in err and "runs again: its node or worker was lost" in err
    assert sorted(Counter(toy.starts()).values()) == [1] * 11 + [2]


@pytest.mark.slow
def test_where_no_node_is_left_it_ends_and_names_those_that_were_lost(toy: ToyPaper) -> None:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        node = cluster.add_node(num_cpus=1)
        driver = toy.start(*on(cluster), TOY_MS="600000")
        wait_for(lambda: "about" in driver.stderr.readline())
        name = f"{node.node_ip_address}:{node.node_manager_port}"
        cluster.remove_node(node, allow_graceful=False)
        _, err = driver.communicate(timeout=120)
    finally:
        cluster.shutdown()
    assert driver.returncode == 3
    assert f"no node of the Ray cluster is left for what is to run, for it lost {name}" in err
    assert not toy.records()


@pytest.mark.slow
def test_where_the_cluster_dies_beside_the_driver_no_trial_is_blamed(toy: ToyPaper) -> None:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        cluster.add_node(num_cpus=2)
        driver = toy.start(*on(cluster), TOY_MS="5000")
        wait_for(lambda: "about" in driver.stderr.readline())
        cluster.head_node.kill_raylet()
        _, err = driver.communicate(timeout=120)
    finally:
        cluster.shutdown()
    assert driver.returncode == 3 and "the Ray cluster is gone" in err, err
    assert not toy.records(), err


def test_a_driver_that_is_killed_leaves_no_trial_running(toy: ToyPaper, cluster: Any) -> None:
    driver = toy.start(*on(cluster), TOY_MS="600000")
    wait_for(lambda: len(toy.events()) >= NUM_NODES or driver.poll() is not None)
    assert driver.poll() is None, driver.communicate()
    driver.kill()
    assert_gone([event["pid"] for event in toy.events()])
    driver.communicate()


@pytest.mark.parametrize("gap_s", [0.0, 0.3, 1.0])
def test_two_interrupts_end_it_at_once(toy: ToyPaper, cluster: Any, gap_s: float) -> None:
    driver = toy.start(*on(cluster), TOY_MS="600000")
    wait_for(lambda: len(toy.events()) == NUM_NODES)
    driver.send_signal(signal.SIGINT)
    time.sleep(gap_s)
    driver.send_signal(signal.SIGINT)
    _, err = driver.communicate(timeout=60)
    assert driver.returncode == 130 and "Traceback" not in err, err
    assert_gone([event["pid"] for event in toy.events()])


@pytest.mark.parametrize("after_s", [1.0, 1.5, 2.0, 3.0])
def test_two_interrupts_while_it_connects_end_with_one_sentence(
    toy: ToyPaper, cluster: Any, after_s: float
) -> None:
    driver = toy.start(*on(cluster), TOY_MS="600000")
    time.sleep(after_s)
    for _ in range(2):
        driver.send_signal(signal.SIGINT)
        time.sleep(0.1)
    _, err = driver.communicate(timeout=60)
    # On a fast machine it may run already; either way nothing comes after that it was interrupted.
    last = err.splitlines()[-1]
    assert driver.returncode == 130 and last.startswith(("repro: interrupted", "interrupted:")), err


def test_a_trial_that_hangs_ends_at_its_time_limit(toy: ToyPaper, cluster: Any) -> None:
    done = toy.repro(*on(cluster), TOY_MODES="hang", TOY_TIMEOUT="3")
    assert done.returncode == 3
    assert "it ran longer than 3 s" in done.stderr and "1 of 13 failed" in done.stderr


@pytest.mark.slow
def test_a_worker_that_says_nothing_is_given_up_and_its_trial_runs_elsewhere(
    toy: ToyPaper, cluster: Any, nodes: Nodes
) -> None:
    """Ray's worker is stopped, so that nobody there ends the trial at its time limit."""
    nodes.gate.unlink()
    driver = toy.start(*on(cluster), TOY_TIMEOUT="3")
    wait_for(lambda: len(toy.events()) == NUM_NODES)
    stopped = parent(toy.events()[0]["pid"])
    os.kill(stopped, signal.SIGSTOP)
    try:
        nodes.gate.touch()
        _, err = driver.communicate(timeout=120)
    finally:
        with suppress(ProcessLookupError):
            os.kill(stopped, signal.SIGKILL)
    assert driver.returncode == 0, err
    assert "runs again: its worker on the cluster says nothing, long after 3 s" in err
    assert "12 run" in err


def test_a_node_without_the_data_is_sent_them(toy: ToyPaper, cluster: Any, tmp_path: Path) -> None:
    data, catalogue = tmp_path / "staged", tmp_path / "catalogue.toml"
    make_folder(data, catalogue)
    told = toy.experiment.read_text().replace("Needs(", 'Needs(data=("verse",), ')
    toy.experiment.write_text(told)
    read = 'float(point.x ** 2 + len(ctx.dataset("verse").text))'
    toy.trial.write_text(toy.trial.read_text().replace("float(point.x ** 2", f"{read} * (1"))
    done = toy.repro(*on(cluster), REPRO_DATA=str(data), REPRO_CATALOGUE=str(catalogue))
    assert done.returncode == 0, done.stderr


def test_an_artifact_larger_than_the_object_store_comes_back(toy: ToyPaper) -> None:
    from ray.cluster_utils import Cluster

    toy.trial.write_text(LARGE_TRIAL)
    cluster = Cluster(initialize_head=True, head_node_args={"object_store_memory": 80_000_000})
    try:
        done = toy.repro(*on(cluster), TOY_COUNT="1")
    finally:
        cluster.shutdown()
    assert done.returncode == 0, done.stderr
    sizes = [path.stat().st_size for path in (toy.root / "runs" / "artifacts").rglob("*.saf*")]
    assert len(sizes) == 3 and min(sizes) > 100_000_000


def test_a_cluster_of_another_torch_is_refused(
    toy: ToyPaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ray.cluster_utils import Cluster

    (tmp_path / "other" / "torch-1.0.dist-info").mkdir(parents=True)
    metadata = tmp_path / "other" / "torch-1.0.dist-info" / "METADATA"
    metadata.write_text("Metadata-Version: 2.1\nName: torch\nVersion: 1.0\n")
    monkeypatch.setenv("PYTHONPATH", f"{metadata.parents[1]}:{os.environ.get('PYTHONPATH', '')}")
    cluster = Cluster(initialize_head=True)
    monkeypatch.undo()
    try:
        done = toy.repro(*on(cluster))
    finally:
        cluster.shutdown()
    assert done.returncode == 3
    assert "a node of the cluster has torch 1.0, this machine 2." in done.stderr


def test_a_cluster_of_another_python_is_refused(
    toy: ToyPaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray
    from ray.cluster_utils import Cluster

    # What the head says of itself.
    versions = (ray.__version__, "3.9.1")
    monkeypatch.setattr("ray._private.utils.compute_version_info", lambda: versions)
    cluster = Cluster(initialize_head=True)
    monkeypatch.undo()
    try:
        done = toy.repro(*on(cluster))
    finally:
        cluster.shutdown()
    assert done.returncode == 3 and "Traceback" not in done.stderr
    told = done.stderr.splitlines()[-1]
    assert "Version mismatch" in told and "Python: 3.9.1" in told
    assert f"Python: {platform.python_version()}" in told
    assert not toy.records()


def test_a_full_object_store_ends_the_run_in_one_sentence() -> None:
    """Made by hand: as long as there is room on the disk, Ray goes on there, see above."""
    from ray import exceptions

    from harness.run.executors.ray import _told

    for full in (exceptions.ObjectStoreFullError("a"), exceptions.OutOfDiskError("b")):
        told = _told(full)
        assert isinstance(told, RunError)
        assert "the cluster's object store is full: free" in str(told)


def test_a_node_that_lacks_a_package_is_refused_by_name(
    toy: ToyPaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ray.cluster_utils import Cluster

    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "pydantic.py").write_text('raise ImportError("no pydantic here")')
    cluster = Cluster(initialize_head=True)
    try:
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'bare'}:{os.environ.get('PYTHONPATH', '')}")
        bare = cluster.add_node(num_cpus=1)
        monkeypatch.undo()
        done = toy.repro(*on(cluster))
    finally:
        cluster.shutdown()
    assert done.returncode == 3
    name = f"{bare.node_ip_address}:{bare.node_manager_port}"
    assert f"node {name} of the Ray cluster cannot be used" in done.stderr
    assert "no pydantic here" in done.stderr
    assert not toy.records()


@pytest.mark.parametrize(
    ("address", "code", "told"),
    [
        ("127.0.0.1:9", 3, "no Ray cluster answers at 127.0.0.1:9"),
        ("ray://head:10001", 2, "write HOST:PORT of the cluster's head"),
    ],
)
def test_an_address_of_no_use_is_named(toy: ToyPaper, address: str, code: int, told: str) -> None:
    done = toy.repro("run", "toylab", "--executor", "ray", "--address", address)
    assert done.returncode == code and told in done.stderr
    assert "Traceback" not in done.stderr


def test_an_address_where_something_else_answers_is_named(toy: ToyPaper) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"127.0.0.1:{server.server_port}"
        done = toy.repro("run", "toylab", "--executor", "ray", "--address", address)
        server.shutdown()
    assert done.returncode == 3
    told = f"no Ray cluster answers at {address} (what listens there is something else)"
    assert told in done.stderr


def test_a_token_that_is_missing_is_said_in_one_sentence(
    toy: ToyPaper, cluster: Any, tmp_path: Path
) -> None:
    done = toy.repro(*on(cluster), RAY_AUTH_MODE="token", HOME=str(tmp_path))
    assert done.returncode == 3
    assert "but no authentication token was found; one that asks for a token" in done.stderr
    assert done.stderr.endswith("takes that of RAY_AUTH_TOKEN where RAY_AUTH_MODE=token is set\n")


@pytest.mark.timing
def test_a_trial_costs_less_than_50_ms_more_and_the_driver_no_memory(
    toy: ToyPaper, cluster: Any
) -> None:
    """The start of workers is in it; alone, ten thousand trials take a minute and a half."""
    driver = toy.start(*on(cluster), TOY_COUNT="100")
    sizes = []
    for count in (50, 200):
        wait_for(lambda count=count: len(toy.records()) >= count, within_s=120)
        sizes.append(resident_mb(driver.pid))
    _, err = driver.communicate(timeout=120)
    assert driver.returncode == 0, err
    # Some kilobytes each stay with the plan; what a trial brings home does not.
    assert sizes[1] - sizes[0] < 150 * 0.05
    (told,) = re.findall(r"300 run, .* in ([0-9.]+) s", err)
    assert float(told) / 300 < 0.05


def resident_mb(pid: int) -> float:
    (kilobytes,) = re.findall(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return float(kilobytes) / 1024


@pytest.mark.slow
def test_killed_anywhere_at_any_instant_it_ends_with_the_same_table(
    toy: ToyPaper, cluster: Any, nodes: Nodes, tmp_path: Path
) -> None:
    """Kills nodes, workers of Ray, trials and the driver, in turn; `make attack` kills more."""
    (tmp_path / "local").mkdir()
    local = make_toy_paper(tmp_path / "local")
    sizes = {"TOY_COUNT": str(6 * NUM_KILLS), "TOY_MS": "100"}
    assert local.repro("run", "toylab", **sizes, TOY_SLOWNESS="0").returncode == 0
    dice = random.Random(20261129)
    driver = toy.start(*on(cluster), **sizes)
    for number in range(NUM_KILLS):
        at = len(toy.events()) + dice.randrange(1, 10)
        wait_for(lambda driver=driver, at=at: len(toy.events()) >= at or driver.poll() is not None)
        assert driver.poll() is None, f"kill {number + 1} meets no run: {driver.communicate()}"
        last = toy.events()[-1]["pid"]
        match number % 4:
            case 0:
                cluster.remove_node(dice.choice([*cluster.worker_nodes]), allow_graceful=False)
                nodes.add()
            case 1:
                with suppress(OSError):
                    os.kill(parent(last), signal.SIGKILL)
            case 2:
                with suppress(OSError):
                    os.kill(last, signal.SIGKILL)
            case 3:
                driver.kill()
                driver.communicate()
                driver = toy.start(*on(cluster), **sizes)
    driver.communicate(timeout=300)
    stored, before = results(toy), len(toy.events())
    done = toy.repro(*on(cluster), **sizes)
    assert done.returncode == 0, done.stderr
    again = {(line["x"], line["mode"], line["seed"]) for line in toy.events()[before:]}
    assert not again & stored.keys(), "what was stored ran again"
    stored = results(toy)
    late = [
        line for line in toy.events() if line["t"] > stored[line["x"], line["mode"], line["seed"]]
    ]
    assert not late, "a trial started when its result was stored"
    assert toy.csv().read_bytes() == local.csv().read_bytes()
    assert not list(toy.root.rglob("*.rejected-*"))
    # A kill costs at most the trials of all nodes one more start each.
    assert len(toy.starts()) - len(set(toy.starts())) <= NUM_KILLS * NUM_NODES
    assert_gone([event["pid"] for event in toy.events()])


def results(toy: ToyPaper) -> dict[tuple[int, str, int], float]:
    """Return by x, mode and seed of every trial that has a result when it was stored."""
    found = {}
    for path in toy.records():
        record = json.loads(path.read_text())["record"]
        if record["status"] == "done":
            params = record["params"]
            found[params["x"], params["mode"], params["seed"]] = path.stat().st_mtime
    return found


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
