"""Connects this process to a cluster of Ray, and says what its nodes offer."""

from __future__ import annotations

import os
import re
import socket
import tempfile
import warnings
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ray
from ray import exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from harness.errors import RunError, UsageError
from harness.outgoing import tidy
from harness.run.executors.ray_node import card_bytes
from harness.untrusted import in_one_line

ANSWER_S = 60.0
"""How long a node may take to say what it is."""
CONNECT_S = 5.0
SETTINGS = b"\4"
"""The kind of frame that both sides of HTTP/2, which Ray speaks, begin with."""
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + SETTINGS + bytes(5)
"""How a client begins there."""
LEFT_OUT = ("**/__pycache__", "**/*.pyc")


def connect(address: str, num_cpus: int, packages: Collection[str]) -> None:
    """Make this process a driver whose tasks have some packages, and a catalogue of one's own."""
    own = {"address": "local", "num_cpus": num_cpus, "include_dashboard": False}
    if address:
        _must_answer(address)
        own = {"address": address}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with tempfile.TemporaryDirectory() as folder:
        for name in {"harness", *packages}:
            (Path(folder) / name).symlink_to(_folder_of(name))
        env = {}
        if catalogue := os.environ.get("REPRO_CATALOGUE"):
            # A node's worker stands in its copy of the folder.
            env["REPRO_CATALOGUE"] = "catalogue.toml"
            (Path(folder) / env["REPRO_CATALOGUE"]).symlink_to(Path(catalogue).resolve())
        sent = {"working_dir": folder, "excludes": list(LEFT_OUT), "env_vars": env}
        try:
            with warnings.catch_warnings():
                # What will be gone in another version no code of ours can change.
                warnings.simplefilter("ignore", FutureWarning)
                ray.init(**own, runtime_env=sent, log_to_driver=False, logging_level="ERROR")
        # What it raises for another version, a wrong token or no answer is of many kinds.
        except Exception as error:
            raise RunError(
                f"the Ray cluster {address or 'here'} cannot be used from this machine:"
                f" {line_of(error)}; one that asks for a token takes that of RAY_AUTH_TOKEN where"
                " RAY_AUTH_MODE=token is set"
            ) from error


def _folder_of(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def _must_answer(address: str) -> None:
    """Raise RunError unless what listens there may be Ray, which itself would try for minutes."""
    if not re.fullmatch(r"[^\s/:]+:\d{1,5}", address):
        raise UsageError(f"--address {address[:40]}: write HOST:PORT of the cluster's head")
    host, _, port = address.partition(":")
    try:
        with socket.create_connection((host, int(port)), CONNECT_S) as connection:
            connection.sendall(GREETING)
            kind = connection.recv(9)[3:4]
        if kind != SETTINGS and os.environ.get("RAY_USE_TLS", "0") == "0":
            raise OSError("what listens there is something else")
    except (OSError, OverflowError) as error:
        raise RunError(
            f"no Ray cluster answers at {address} ({error}): start one by `ray start --head`, or"
            " correct --address"
        ) from error


def living_nodes() -> list[dict[str, Any]]:
    """Return the nodes with cores that Ray calls alive, as it describes them."""
    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]


def name_of(node: dict[str, Any]) -> str:
    return f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}"


def nodes_now() -> list[dict[str, Any]]:
    """Return the resources of each node that has cores and answers, its GPUs' memory and its name.

    Raises RunError where there is none, and for one that cannot do what others can: Ray sends jobs
    there too.
    """
    alive = living_nodes()
    ask = ray.remote(max_retries=0, num_cpus=0)(card_bytes)
    refs = [
        ask.options(
            scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ).remote()
        for node in alive
    ]
    ray.wait(refs, num_returns=len(refs), timeout=ANSWER_S)
    found = []
    for node, ref in zip(alive, refs, strict=True):
        try:
            more = {"card_bytes": ray.get(ref, timeout=0), "name": name_of(node)}
            found.append(node["Resources"] | more)
        # A node that has just died is called alive for some seconds.
        except (exceptions.NodeDiedError, exceptions.TaskUnschedulableError):
            continue
        except exceptions.RayError as error:
            raise RunError(
                f"node {name_of(node)} of the Ray cluster cannot be used: {line_of(error)}"
            ) from error
    if not found:
        raise RunError("no node of the Ray cluster can be used: none that lives has cores")
    return found


def line_of(error: Exception) -> str:
    told = str(error)
    if isinstance(error, exceptions.AuthenticationError):
        # Advice follows, at length.
        told = error.message
    elif isinstance(error, exceptions.RayTaskError):
        # A traceback, whose end names the cause.
        told = told.strip().splitlines()[-1]
    return tidy(in_one_line(told))
