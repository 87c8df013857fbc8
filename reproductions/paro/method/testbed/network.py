"""Nodes that reach each other over links of chosen speed, in namespaces of their own.

This process' own namespace is the switch; the machine's interfaces and addresses are never seen
from it. A node is a group (`shared`: its ranks talk over the node's loopback) or a rank (`rail`:
one interface to its group, one to the others, and one address; routes say which way). Interfaces
send at their rate at both ends.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.errors import EnvError, SpecError
from reproductions.paro.method.cluster import Cluster
from reproductions.paro.method.testbed.namespaces import Namespace, leave_network

Kind = Literal["namespaces", "token bucket"]
BETWEEN, WITHIN = "between", "within"
"""Interfaces of a node."""
MOST_RANKS = 64
UNSHAPED_GBIT = 100.0
"""Per second; no machine that a testbed is for gets there: such a link is left as it is."""
LEAST_BURST_BYTES = 2**17
"""Two of the largest segments that are handed to an interface: below one nothing would pass."""
BURST_S = 0.001
QUEUE_BYTES = 2**20
SOCKET_BYTES = 2**18
"""What a rank can have handed to its node at most: what it sends next waits behind, as a word that
it is ready to receive, and the default of 4 MB is a sixth of a second at 200 Mbit/s."""
MTU = 9000


@dataclass(frozen=True, slots=True)
class Network:
    """Where ranks are."""

    cluster: Cluster
    kind: Kind
    why: str = ""
    """Why there are no namespaces, where there are none."""
    nodes: tuple[Namespace, ...] = ()

    def node_of(self, rank: int) -> int:
        """Return the number of a rank's node."""
        return rank // self.cluster.sharing

    def enter(self, rank: int) -> None:
        """Move this process, which has one thread, to a rank's node."""
        if self.nodes:
            self.nodes[self.node_of(rank)].enter()


def lay(cluster: Cluster, *, namespaces: bool = True) -> Network:
    """Return nodes with links, or where there can be none a network that says why.

    To be called in a process of its own with one thread, which moves to a namespace of its own.
    namespaces: False: as on a machine that has none. Raises SpecError for too many ranks, EnvError
    elsewhere than on Linux.
    """
    if sys.platform != "linux":
        raise EnvError(f"a testbed on {sys.platform}: it needs Linux")
    if cluster.num_gpus > MOST_RANKS:
        raise SpecError(f"{cluster.num_gpus} ranks on a testbed: need at most {MOST_RANKS}")
    if not namespaces:
        return Network(cluster, "token bucket", "namespaces were not asked for")
    try:
        for program in ("ip", "tc"):
            if shutil.which(program) is None:
                raise EnvError(f"no program `{program}` in PATH: install iproute2")
        leave_network()
        # Where links cannot be made below, ranks still have this.
        _run("ip", ["link set lo up"])
        nodes = tuple(Namespace.fresh() for _ in range(cluster.num_gpus // cluster.sharing))
        _lay_links(Network(cluster, "namespaces", nodes=nodes))
    except EnvError as error:
        return Network(cluster, "token bucket", str(error))
    return Network(cluster, "namespaces", nodes=nodes)


def address_of(node: int) -> str:
    """Return a node's address."""
    return f"10.77.0.{node + 1}"


def sent_bytes() -> int | None:
    """Return what this process' node has sent to others so far; None without such an interface."""
    # Not in sysfs, which shows the namespace in which it was mounted.
    lines = Path("/proc/self/net/dev").read_text(encoding="utf-8").splitlines()
    counts = {name.strip(): rest.split() for name, _, rest in (s.partition(":") for s in lines)}
    return int(counts[BETWEEN][8]) if BETWEEN in counts else None


def _lay_links(network: Network) -> None:
    cluster = network.cluster
    inter, intra = cluster.inter_gbit_per_s, cluster.intra_gbit_per_s
    alone = cluster.nic == "rail"
    made, shaped = [f"link add {BETWEEN} up type bridge"], []
    if alone:
        made += [f"link add {WITHIN}{k} up type bridge" for k in range(cluster.num_groups)]
    for number, node in enumerate(network.nodes):
        made += _cable(BETWEEN, f"b{number}", node, BETWEEN)
        shaped += _shape(f"b{number}", inter)
        if alone:
            made += _cable(WITHIN, f"w{number}", node, f"{WITHIN}{number // cluster.group_size}")
            shaped += _shape(f"w{number}", intra)
    _run("ip", made)
    _run("tc", shaped)
    for number, node in enumerate(network.nodes):
        with node.inside():
            _limit_sockets()
            _run("ip", _addresses(number, cluster))
            # A node's loopback is what its ranks share.
            rate = intra if alone else intra * cluster.group_size
            _run("tc", [*_shape(BETWEEN, inter), *_shape(WITHIN if alone else "lo", rate)])


def _cable(name: str, plug: str, node: Namespace, bridge: str) -> list[str]:
    """Return what lays a pair of interfaces from a bridge to a node."""
    return [
        f"link add {plug} mtu {MTU} type veth peer name {name} mtu {MTU} netns {node.path}",
        f"link set {plug} up master {bridge}",
    ]


def _addresses(number: int, cluster: Cluster) -> Iterable[str]:
    """Yield what gives a node its address and its ways to others."""
    here = address_of(number)
    yield "link set lo up"
    yield f"addr add {here}/24 dev {BETWEEN}"
    yield f"link set {BETWEEN} up"
    if cluster.nic == "rail":
        yield f"link set {WITHIN} up"
        first = number - number % cluster.group_size
        for other in range(first, first + cluster.group_size):
            if other != number:
                yield f"route add {address_of(other)}/32 dev {WITHIN} src {here}"


def _limit_sockets() -> None:
    """Limit what this process' node keeps of a connection."""
    file = os.open("/proc/sys/net/ipv4/tcp_wmem", os.O_WRONLY)
    try:
        os.write(file, f"4096 {SOCKET_BYTES} {SOCKET_BYTES}".encode())
    finally:
        os.close(file)


def _shape(interface: str, gbit_per_s: float) -> list[str]:
    """Return what makes an interface send no faster than a rate."""
    if gbit_per_s >= UNSHAPED_GBIT:
        return []
    bytes_per_s = gbit_per_s * 1e9 / 8
    burst = max(LEAST_BURST_BYTES, round(bytes_per_s * BURST_S))
    return [
        f"qdisc add dev {interface} root tbf rate {bytes_per_s:.0f}bps burst {burst}"
        f" limit {QUEUE_BYTES}"
    ]


def _run(program: str, commands: Iterable[str]) -> None:
    """Run commands of ip or tc. Raises EnvError with what it says."""
    text = "".join(f"{command}\n" for command in commands)
    if not text:
        return
    done = subprocess.run(
        [program, "-batch", "-"], input=text, capture_output=True, text=True, check=False,
        env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    if done.returncode:
        said = " ".join(done.stderr.split())
        raise EnvError(
            f"`{program}` lays no links here ({said}): load what it names, or do without"
        )
